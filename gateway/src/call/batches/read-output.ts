/**
 * Reads the output of a batch line by line and adds up what its answers used. OpenAI writes answers and errors to two
 * files, Anthropic to one.
 */

import { type Usage, type UsageFlag, ZERO_USAGE } from '../../generation/usage.ts';
import { Pace } from '../../lib/turns.ts';
import type { AnswerFacts, UpstreamProtocol } from '../../protocols/upstream-protocol.ts';
import type { JsonLine } from '../../wire/json-lines.ts';
import { type JsonNode, member, numberValue, stringValue } from '../../wire/json-node.ts';
import { scanJson } from '../../wire/json-scan.ts';
import { readAnswerBody } from '../attempt/collect-answer.ts';
import { estimateTokens } from '../money/usage-checks.ts';
import type { BatchSum } from './batch-cost.ts';

/** What was read of the output so far. */
export interface OutputTally {
  readonly sum: BatchSum;
  lines: number;
  /** Those with an answer that used something. */
  answers: number;
  /** Of them, those that state no usage: it is estimated. */
  counted: number;
  readonly flags: Set<UsageFlag>;
}

export function startTally(sum: BatchSum): OutputTally {
  return { sum, lines: 0, answers: 0, counted: 0, flags: new Set() };
}

/** `protocol`: the format of the answers. `inputTokens`: the estimate for the request of an answer without usage. */
export async function readOutput(
  lines: AsyncIterable<JsonLine>,
  protocol: UpstreamProtocol,
  inputTokens: number,
  tally: OutputTally,
): Promise<void> {
  const pace = new Pace();
  for await (const { bytes } of lines) {
    tally.lines += 1;
    await pace.step(bytes.length);
    const answer = findAnswer(bytes);
    if (answer === 'none') continue;
    const reading = answer === 'unreadable' ? null : await readAnswerBody(bytesOf(answer), protocol);
    const facts = reading?.facts ?? null;
    const reported = facts?.usage ?? null;
    // Providers charge nothing for an error that states no usage.
    if (reading?.kind === 'error' && reported === null) continue;
    tally.answers += 1;
    if (reported === null) tally.counted += 1;
    for (const flag of facts?.usageFlags ?? []) tally.flags.add(flag);
    const usage = reported ?? estimateUsage(facts, bytes.length, inputTokens);
    tally.sum.add({ usage, model: facts?.model ?? null, tier: facts?.tier });
  }
}

/** As deep and as wide as hosts write. */
const LIMITS = { depthMax: 512, keysPerObjectMax: 1_000_000_000 };

/** The answer in a line; `none`: the line reports an error. */
function findAnswer(bytes: Uint8Array): JsonNode | 'none' | 'unreadable' {
  const line = scanJson(bytes, LIMITS);
  if (!line.ok || line.root.kind !== 'object') return 'unreadable';
  const result = member(line.root, 'result');
  if (result?.kind === 'object') {
    const type = member(result, 'type');
    return stringOf(type) === 'succeeded' ? (member(result, 'message') ?? 'unreadable') : 'none';
  }
  const response = member(line.root, 'response');
  if (response?.kind !== 'object') return 'none';
  const status = member(response, 'status_code');
  const isAnswer = status === undefined || numberValue(status) === 200;
  return isAnswer ? (member(response, 'body') ?? 'unreadable') : 'none';
}

function stringOf(node: JsonNode | undefined): string | undefined {
  return node === undefined ? undefined : stringValue(node);
}

function bytesOf({ outline: { bytes }, start, end }: JsonNode): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
}

function estimateUsage(facts: AnswerFacts | null, lineBytes: number, inputTokens: number): Usage {
  const output = facts?.counted?.output ?? estimateTokens(facts?.outputBytes ?? lineBytes);
  return { ...ZERO_USAGE, input: inputTokens, output };
}

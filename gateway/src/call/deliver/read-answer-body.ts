/** Reads the facts of a non-streamed answer from its bytes, without blocking the process for a very large one. */
import type { AnswerReading, Protocol } from '../../protocols/protocol.ts';
import { elements, type JsonNode, jsonText, member } from '../../wire/json-node.ts';
import { startJsonScan } from '../../wire/json-scan.ts';

/**
 * Up to this size a native parse does not block noticeably; larger bodies are scanned in steps and only their facts are
 * parsed.
 */
const PARSED_BYTES_MAX = 1024 * 1024;
const STEP_BYTES = 256 * 1024;
const FACT_BYTES_MAX = 64 * 1024;
const MANY = 1_000_000_000;

/** @returns `nonsense` for bytes that are not JSON */
export function readAnswerBody(bytes: Buffer, protocol: Protocol): AnswerReading | Promise<AnswerReading> {
  if (bytes.length > PARSED_BYTES_MAX) return readInSteps(bytes, protocol);
  try {
    return protocol.readAnswer(JSON.parse(bytes.toString('utf8')), bytes.length);
  } catch {
    return { kind: 'nonsense', message: 'the answer is not JSON' };
  }
}

async function readInSteps(bytes: Buffer, protocol: Protocol): Promise<AnswerReading> {
  const limits = { depthMax: 512, keysPerObjectMax: MANY, outlineDepth: 3, outlineNodesMax: MANY };
  const scan = startJsonScan(bytes, limits);
  for (;;) {
    const outcome = scan.step(STEP_BYTES);
    if (outcome === 'more') await new Promise<void>((resolve) => setImmediate(resolve));
    else if (!outcome.ok) return { kind: 'nonsense', message: outcome.message };
    else return countBytes(protocol.readAnswer(outlineFacts(outcome.root), bytes.length));
  }
}

/** The members that describe the answer, without its content. */
function outlineFacts(root: JsonNode): object {
  const facts: Record<string, unknown> = {};
  for (const name of ['type', 'model', 'stop_reason', 'usage', 'x_groq', 'error']) {
    const node = member(root, name);
    if (node !== undefined && node.end - node.start <= FACT_BYTES_MAX) facts[name] = JSON.parse(jsonText(node));
  }
  if (member(root, 'content')?.kind === 'array') facts.content = [];
  const choices = member(root, 'choices');
  if (choices?.kind === 'array') {
    facts.choices = elements(choices).map((choice) => {
      const reason = member(choice, 'finish_reason');
      return { finish_reason: reason?.kind === 'string' ? JSON.parse(jsonText(reason)) : null };
    });
  }
  return facts;
}

/** If upstream reported no usage or zero output tokens, the size of the whole answer is used as that of its text. */
function countBytes(reading: AnswerReading): AnswerReading {
  if (reading.kind !== 'answer') return reading;
  const { facts } = reading;
  const isCounted = facts.usage !== null && facts.usage.output > 0;
  return isCounted ? reading : { kind: 'answer', facts: { ...facts, outputBytes: facts.outputBytesMax } };
}

/**
 * Tests the usage checks on recorded traffic: no answer of an honest provider is flagged for output far from what
 * arrived.
 */
import { describe, expect, test } from 'bun:test';
import { readAnswerBody } from '../../src/call/attempt/collect-answer.ts';
import { checkUsage, TokenRatio } from '../../src/call/money/usage-checks.ts';
import { routedCall } from '../../src/call/testing/routed-call.ts';
import { startSseDecoder } from '../../src/framing/sse-decoder.ts';
import { chatUpstream } from '../../src/protocols/chat/upstream/upstream-protocol.ts';
import { messagesUpstream } from '../../src/protocols/messages/upstream/upstream-protocol.ts';
import type { AnswerFacts } from '../../src/protocols/upstream-protocol.ts';
import type { SetName } from '../fake-upstream/recordings.ts';
import { exchangeSets, type RecordedExchange } from './translation/rig.ts';
import { object } from './wire-text.ts';

const UPSTREAMS = { chat: chatUpstream, messages: messagesUpstream };

/** Minimum number of answers with usage. */
const JUDGED_MIN: Readonly<Record<SetName, number>> = { corpus: 100, recordings: 567 };

/** The facts of an answer; null if it is not an answer or has no usage. */
async function factsOf({ format, answer, streamed }: RecordedExchange): Promise<AnswerFacts | null> {
  if (!streamed) {
    const reading = await readAnswerBody(answer, UPSTREAMS[format]);
    return reading.kind === 'answer' && reading.facts.usage !== null ? reading.facts : null;
  }
  const observer = UPSTREAMS[format].passThrough.startObserver({ withholdUsage: false, fallbackId: 'chatcmpl-none' });
  const decoder = startSseDecoder();
  for (const output of [...decoder.push(answer), ...decoder.finish()]) {
    if (output.kind === 'event' && observer.observe(output) === 'terminal') break;
  }
  const facts = observer.facts();
  return facts.usage === null ? null : facts;
}

/** Flags by the model's known hidden reasoning and by the maximum of the recorded request. */
function flagsOf(facts: AnswerFacts, request: string | null, reasons: boolean | null) {
  const body = object(JSON.parse(request ?? 'null'));
  const most = body?.max_completion_tokens ?? body?.max_tokens;
  const answers = typeof body?.n === 'number' ? body.n : 1;
  const { facts: requestFacts, target } = routedCall({
    facts: { inputBytes: 0, answers, outputTokensMax: typeof most === 'number' ? most : null },
  });
  const takes = { ...target.traits.takes, reasoning: reasons };
  const judged = { facts: requestFacts, target: { ...target, traits: { ...target.traits, takes } } };
  return checkUsage(judged, facts, new TokenRatio()).filter((flag) => flag === 'far_output');
}

describe.each(exchangeSets())('the output of the answers of $name', ({ name, exchanges }) => {
  test('the estimate is near the reported usage, for models that hide reasoning and others', async () => {
    let judged = 0;
    const flagged: string[] = [];
    for (const exchange of exchanges.filter(({ status }) => status === 200)) {
      const facts = await factsOf(exchange);
      if (facts === null) continue;
      judged += 1;
      for (const reasons of [null, false]) {
        if (flagsOf(facts, exchange.request, reasons).length > 0) flagged.push(`${exchange.id} ${reasons}`);
      }
    }
    expect(flagged).toEqual([]);
    expect(judged).toBeGreaterThanOrEqual(JUDGED_MIN[name]);
  });

  test('the estimate is far from a report of a million more tokens, or of none', async () => {
    let long = 0;
    for (const exchange of exchanges.filter(({ status }) => status === 200)) {
      const facts = await factsOf(exchange);
      if (facts?.usage == null || facts.outputBytesMax === 0) continue;
      const more = { ...facts, usage: { ...facts.usage, output: facts.usage.output + 1_000_000 } };
      expect([exchange.id, flagsOf(more, null, false)]).toEqual([exchange.id, ['far_output']]);
      if (!exchange.streamed || facts.outputBytes - facts.reasoningBytes <= 4_000) continue;
      long += 1;
      expect(flagsOf({ ...facts, usage: { ...facts.usage, output: 0 } }, null, null)).toEqual(['far_output']);
    }
    expect(long).toBeGreaterThan(0);
  });
});

/**
 * Tests render-stream.ts with random answers: any answer keeps the invariants at every step and is read back complete,
 * also by Anthropic's SDK.
 */
import { expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import fc from 'fast-check';
import { runsOf } from '../../../test/harness/exhaustive.ts';
import { foldGeneration } from '../../generation/generation.ts';
import { renderAnswer } from './client/render-answer.ts';
import { CONTEXT, foldedStream, rendered } from './testing/answer-events.ts';
import { anyAnswer } from './testing/any-answer.ts';
import { judgeStream } from './testing/stream-judge.ts';
import { parseAnswer } from './upstream/parse-answer.ts';
import { endsInHalf } from './upstream/parse-answer-block.ts';

test('every prefix of the stream, and the whole, keeps I1–I12 for any open parts', () => {
  fc.assert(
    fc.property(anyAnswer(true), ({ events }) => {
      const { pieces, text, violation } = rendered(events);
      expect(violation).toBeNull();
      let beginning = '';
      for (const piece of pieces) {
        beginning += piece;
        expect(judgeStream(beginning, false)).toEqual([]);
      }
      expect(judgeStream(text, true)).toEqual([]);
    }),
  );
});

test('parsed again, the stream has every part in the order in which they began, and the counters', () => {
  fc.assert(
    fc.property(anyAnswer(true), ({ events, expected, usage }) => {
      const { parts, finish_reason, complete, ...rest } = foldedStream(rendered(events).text);
      expect<unknown>(parts).toEqual(expected);
      const calls = expected.some(({ kind }) => kind === 'tool_call');
      expect({ finish_reason, complete, usage: rest.usage }).toEqual({
        finish_reason: calls ? 'tool_calls' : 'stop',
        complete: true,
        usage,
      });
    }),
  );
});

test('a part that comes alone is shown as it comes: nothing waits but the half of a character', () => {
  fc.assert(
    fc.property(anyAnswer(false), ({ events }) => {
      const { pieces } = rendered(events);
      for (const [index, event] of events.entries()) {
        if (event.kind !== 'arguments_delta' && event.kind !== 'text_delta') continue;
        if (!endsInHalf(event.text)) expect(pieces[index]).toContain('content_block_delta');
      }
    }),
  );
});

test('the answer in one piece has the same parts as its stream', () => {
  fc.assert(
    fc.property(anyAnswer(true), ({ events, expected, usage }) => {
      const { json } = renderAnswer(foldGeneration(events), CONTEXT);
      const again = foldGeneration(parseAnswer(Buffer.from(json)));
      expect<unknown>(again.parts).toEqual(expected);
      expect(again.usage).toEqual(usage);
    }),
  );
});

test('the SDK accumulates the stream to the answer in one piece', async () => {
  await fc.assert(
    fc.asyncProperty(anyAnswer(true), async ({ events }) => {
      const { text } = rendered(events);
      const whole = JSON.parse(renderAnswer(foldGeneration(events), CONTEXT).json);
      // No event after `message_start` reports how cache writes split; `parsed_output` is the SDK's own.
      const usage = { ...whole.usage, cache_creation: null };
      expect<unknown>(await accumulate(text)).toEqual({ ...whole, usage, parsed_output: null });
    }),
    { numRuns: runsOf(25) },
  );
});

/** The SDK stream helper's result for a stream's text. */
async function accumulate(text: string): Promise<unknown> {
  const reply = () => Promise.resolve(new Response(text, { headers: { 'content-type': 'text/event-stream' } }));
  const client = new Anthropic({ apiKey: 'none', baseURL: 'http://upstream.invalid', maxRetries: 0, fetch: reply });
  const ask = { model: 'm', max_tokens: 9, messages: [{ role: 'user' as const, content: 'x' }] };
  const message = await client.messages.stream(ask).finalMessage();
  return JSON.parse(JSON.stringify(message));
}

/** Tests that a stream of another format, cut in the middle, becomes a valid answer in the client's format. */
import { describe, expect, test } from 'bun:test';
import { chainFilters } from '../../generation/event.ts';
import { stopAtTexts } from '../../generation/filters/stop-texts.ts';
import { ZERO_USAGE } from '../../generation/usage.ts';
import { CONTEXT, calls, DONE, delta, finish } from '../../protocols/chat/testing/chat-stream.ts';
import { chatUpstream } from '../../protocols/chat/upstream/upstream-protocol.ts';
import { messagesClient } from '../../protocols/messages/client/client-protocol.ts';
import { recordsOf } from '../../protocols/testing/outline-of.ts';
import { foldTranslated } from './translate.ts';

const CUT = { ...ZERO_USAGE, input: 10, output: 4 };

function fold(records: readonly string[], { stops = [] as readonly string[] } = {}) {
  const filter = chainFilters(stops.length === 0 ? [] : [stopAtTexts(stops)]);
  const emitted: unknown[] = [];
  const folding = foldTranslated(chatUpstream.startStreamParser(), filter, {
    client: messagesClient,
    context: CONTEXT,
    readAnswer: () => [],
    lossesIn: () => [],
    listen: (generation) => emitted.push(generation.finish_reason),
  });
  const verdicts = recordsOf(records.join('')).map((record) => folding.observer.observe(record));
  return { folding, verdicts, emitted };
}

const read = (json: string) => JSON.parse(json);

describe('a stream', () => {
  test('a complete stream is the answer, and the listener gets it', () => {
    const { folding, verdicts, emitted } = fold([delta({ content: 'Hey' }), finish('stop'), DONE]);
    expect(verdicts.at(-1)).toBe('terminal');
    const { json, finish_reason, dropped } = folding.finish(null);
    expect([read(json).content, finish_reason, dropped, emitted]).toEqual([
      [{ type: 'text', text: 'Hey' }],
      'end_turn',
      [],
      ['stop'],
    ]);
  });

  test('a stream cut inside a text ends there, by a token limit, with the charged counters', () => {
    const { folding } = fold([delta({ content: 'He' })]);
    const { json, finish_reason } = folding.finish(CUT);
    expect([read(json).content[0].text, finish_reason]).toEqual(['He', 'max_tokens']);
    expect(read(json).usage).toMatchObject({ input_tokens: 10, output_tokens: 4 });
  });

  test('a stream cut inside a call keeps the complete members of its arguments', () => {
    const text = '{"a":1,"b":"hal';
    const { folding } = fold([
      calls({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: text } }),
    ]);
    const { json, finish_reason } = folding.finish(CUT);
    expect([read(json).content[0].input, finish_reason]).toEqual([{ a: 1 }, 'max_tokens']);
  });

  test('a stream cut before its end finishes by a limit, despite its own finish reason', () => {
    const { folding } = fold([delta({ content: 'Hey' }), finish('stop')]);
    expect(folding.finish(CUT).finish_reason).toBe('max_tokens');
  });

  test('a cut stream releases the text that a filter held back', () => {
    const { folding } = fold([delta({ content: 'He ST' })], { stops: ['STOP'] });
    expect(read(folding.finish(CUT).json).content[0].text).toBe('He ST');
  });

  test('a failed stream names its fault', () => {
    const { folding, verdicts } = fold(['data: {"error":{"message":"no","type":"server_error"}}\n\n']);
    expect([verdicts, folding.observer.failure?.message]).toEqual([['error'], 'no']);
  });
});

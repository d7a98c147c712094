/**
 * Tests fold-stream.ts: the non-streamed answer for events, exact to the byte for provider values, and for truncated
 * streams.
 */
import { describe, expect, test } from 'bun:test';
import { startCpuClock } from '../../../../test/harness/cpu-clock.ts';
import { ZERO_USAGE } from '../../../generation/usage.ts';
import { recordsOf } from '../../testing/outline-of.ts';
import { startFold } from './fold-stream.ts';

const CUT = { ...ZERO_USAGE, input: 10, output: 4 };

const event = (type: string, members: string) => `event: ${type}\ndata: {"type":"${type}"${members}}\n\n`;
const START = event(
  'message_start',
  ',"message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,' +
    '"stop_sequence":null,"container":null,"usage":{"input_tokens":10,"output_tokens":1,"service_tier":"standard"}}',
);
const begin = (index: number, block: string) =>
  event('content_block_start', `,"index":${index},"content_block":${block}`);
const delta = (index: number, type: string, members: string) =>
  event('content_block_delta', `,"index":${index},"delta":{"type":"${type}",${members}}`);
const stop = (index: number) => event('content_block_stop', `,"index":${index}`);
const finish = (reason: string, usage = '{"output_tokens":9,"service_tier":null}') =>
  event(
    'message_delta',
    `,"delta":{"stop_reason":"${reason}","container":{"id":"k"}},"usage":${usage},"context_management":{"a":[]}`,
  ) + event('message_stop', '');

function foldText(records: readonly string[], cut: typeof CUT | null = null): string {
  const folded = startFold();
  for (const record of recordsOf(records.join(''))) folded.push(record);
  return folded.finish(cut);
}

/** The blocks as they were written. */
const blocksOf = (...records: readonly string[]) =>
  /"content":(\[.*\]),"stop_reason"/.exec(foldText([START, ...records]))?.[1];

describe('a message', () => {
  test('has the content of its events, unknown members included', () => {
    const text = [
      begin(0, '{"type":"text","text":""}'),
      delta(0, 'text_delta', '"text":"Hé"'),
      delta(0, 'text_delta', '"text":"y"'),
      stop(0),
    ];
    expect(JSON.parse(foldText([START, event('ping', ''), ...text, finish('end_turn')]))).toEqual({
      id: 'm1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Héy' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      container: { id: 'k' },
      context_management: { a: [] },
      usage: { input_tokens: 10, output_tokens: 9, service_tier: 'standard' },
    });
  });

  test('is malformed if it never began', () => {
    expect(() => foldText([finish('end_turn')])).toThrow('it never began');
  });
});

describe('a block', () => {
  test('a block without deltas stays as written', () => {
    const block = '{"type":"web_search_tool_result", "n":12345678901234567890, "x":1.0}';
    expect(blocksOf(begin(0, block), stop(0))).toBe(`[${block}]`);
  });

  test('the block of a call has its arguments as written', () => {
    const call = (index: number, type: string) => [
      begin(index, `{"type":"${type}","id":"t${index}","name":"f","input":{}}`),
      delta(index, 'input_json_delta', '"partial_json":""'),
      delta(index, 'input_json_delta', '"partial_json":"{\\"n\\": 12345678901234567890"'),
      delta(index, 'input_json_delta', '"partial_json":", \\"n\\":1.0}"'),
      stop(index),
    ];
    const input = '"input":{"n": 12345678901234567890, "n":1.0}';
    expect(blocksOf(...call(0, 'tool_use'), ...call(1, 'server_tool_use'), finish('tool_use'))).toBe(
      `[{"type":"tool_use","id":"t0","name":"f",${input}},{"type":"server_tool_use","id":"t1","name":"f",${input}}]`,
    );
  });

  test('a call without arguments has its initial input', () => {
    const begun = begin(0, '{"type":"tool_use","id":"t","name":"f","input":{"a":1.0}}');
    expect(blocksOf(begun, delta(0, 'input_json_delta', '"partial_json":""'), stop(0))).toContain('"input":{"a":1.0}');
  });

  test('thinking has its signature, text its citations, an unknown block the members of its deltas', () => {
    expect(
      blocksOf(
        begin(0, '{"type":"thinking","thinking":"","signature":""}'),
        delta(0, 'thinking_delta', '"thinking":"hm"'),
        delta(0, 'signature_delta', '"signature":"s"'),
        stop(0),
        begin(1, '{"type":"text","text":"","citations":[{"a":1.0}]}'),
        delta(1, 'citations_delta', '"citation":{"b":2.0}'),
        delta(1, 'text_delta', '"text":"t"'),
        stop(1),
        begin(2, '{"type":"compaction","content":null}'),
        delta(2, 'compaction_delta', '"content":"all"'),
        delta(2, 'compaction_delta', '"content":" of it"'),
        stop(2),
      ),
    ).toBe(
      '[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"t","citations":[{"a":1.0},{"b":2.0}]},' +
        '{"type":"compaction","content":"all of it"}]',
    );
  });

  test.each([
    ['[ ]', '[1]'],
    ['[ 2.0 , 3 ]', '[2.0,3,1]'],
    ['7', '[1]'],
    ['"x"', '[1]'],
    ['{"a":1}', '[1]'],
  ])('a text that begins with the citations %s has %s', (before, citations) => {
    const begun = begin(0, `{"type":"text","text":"a","citations":${before}}`);
    const records = [begun, delta(0, 'citations_delta', '"citation":1'), stop(0)];
    expect(blocksOf(...records, finish('end_turn'))).toBe(`[{"type":"text","text":"a","citations":${citations}}]`);
  });

  test('a stream with arguments that are not JSON is no answer', () => {
    const begun = [
      begin(0, '{"type":"tool_use","id":"t","name":"f","input":{}}'),
      delta(0, 'input_json_delta', '"partial_json":"{"'),
    ];
    expect(() => foldText([START, ...begun, stop(0), finish('tool_use')])).toThrow('not a JSON object');
  });
});

describe('where it is cut', () => {
  const begun = [
    begin(0, '{"type":"tool_use","id":"t","name":"f","input":{}}'),
    delta(0, 'input_json_delta', '"partial_json":"{\\"a\\":1,\\"b\\":\\"hal"'),
  ];

  test('cut by the gateway, it ends by max_tokens, with the complete members of a call and the charged counters', () => {
    expect(JSON.parse(foldText([START, ...begun], CUT))).toMatchObject({
      content: [{ type: 'tool_use', input: { a: 1 } }],
      stop_reason: 'max_tokens',
      usage: { input_tokens: 10, output_tokens: 4, service_tier: 'standard' },
    });
  });

  test('cut by upstream, the complete members of a call are kept too', () => {
    const answer = JSON.parse(foldText([START, ...begun, stop(0), finish('max_tokens')]));
    expect([answer.content[0].input, answer.usage.output_tokens]).toEqual([{ a: 1 }, 9]);
  });
});

test('50,000 changes of different members take time linear in their number', () => {
  const change = (at: number) => event('message_delta', `,"delta":{"a${at}":1},"usage":{"u${at}":1},"b${at}":1`);
  const records = recordsOf([START, ...Array.from({ length: 50_000 }, (_, at) => change(at))].join(''));
  const elapsed = startCpuClock();
  const folded = startFold();
  for (const record of records) folded.push(record);
  const message = JSON.parse(folded.finish(null));
  expect([message.a49999, message.b0, message.usage.u49999, message.usage.input_tokens]).toEqual([1, 1, 1, 10]);
  expect(elapsed()).toBeLessThan(6_000);
}, 60_000);

/** Tests parse-answer.ts: the same parts as from a stream, JSON as it was written, errors with status 200. */
import { describe, expect, test } from 'bun:test';
import { startCpuClock } from '../../../../test/harness/cpu-clock.ts';
import { foldGeneration } from '../../../generation/generation.ts';
import { foldedStream, record } from '../testing/answer-events.ts';
import { parseAnswer } from './parse-answer.ts';

const events = (body: unknown) => parseAnswer(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

const content = [
  { type: 'thinking', thinking: 'hm', signature: 'EqQ=' },
  { type: 'redacted_thinking', data: 'blob' },
  { type: 'text', text: 'Hi', citations: [{ type: 'char_location', cited_text: 'c' }] },
  { type: 'tool_use', id: 't', name: 'get', input: { a: 1 } },
  { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } },
];
const usage = { input_tokens: 5, output_tokens: 6, cache_read_input_tokens: 7 };
const message = {
  id: 'msg_1',
  type: 'message',
  model: 'claude',
  content,
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage,
};

test('folds a non-streamed answer to the same generation as its stream', () => {
  const blocks = content.flatMap((content_block, index) => [
    record('content_block_start', { index, content_block }),
    record('content_block_stop', { index }),
  ]);
  const stream = [
    record('message_start', { message: { ...message, content: [], stop_reason: null } }),
    ...blocks,
    record('message_delta', { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 6 } }),
    record('message_stop'),
  ];
  const whole = foldGeneration(events(message));
  expect(whole).toEqual(foldedStream(stream.join('')));
  expect(whole.parts.map(({ kind }) => kind)).toEqual(['reasoning', 'reasoning', 'text', 'tool_call', 'opaque']);
});

test('vector 49: digits, order and duplicate keys survive in tool calls and opaque blocks', () => {
  const input = '{"n": 12345678901234567890, "z":1,\n"a":{"k":1.0,"k":2e0}, "\\u0061":"\\ud83d"}';
  const body = `{"content":[{"type":"tool_use","id":"t","name":"get","input":${input} },{"n":1.0,"type":"new"}],"stop_reason":"tool_use"}`;
  expect(foldGeneration(events(body)).parts).toMatchObject([
    { arguments: input },
    { native: { json: '{"n":1.0,"type":"new"}' } },
  ]);
});

test('keeps the arguments of a call that are the text of an object, and of no other text', () => {
  const read = (input: unknown) => {
    const block = { type: 'tool_use', id: 't', name: 'get', input };
    const stream = [
      record('message_start', { message: { ...message, content: [], stop_reason: null } }),
      record('content_block_start', { index: 0, content_block: block }),
      record('content_block_stop', { index: 0 }),
      record('message_delta', { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 6 } }),
      record('message_stop'),
    ];
    const whole = foldGeneration(events({ ...message, content: [block] }));
    expect(foldedStream(stream.join(''))).toEqual(whole);
    return whole.parts.map((part) => part.kind === 'tool_call' && part.arguments);
  };
  expect(read('{"n": 1.0}')).toEqual(['{"n": 1.0}']);
  for (const other of ['', '[1]', 'now', 5, null]) expect(read(other)).toEqual(['{}']);
});

test('reports why the model refused, and finish reason other if none was given', () => {
  const details = { type: 'refusal', explanation: 'blocked' };
  expect(foldGeneration(events({ content: [], stop_reason: 'refusal', stop_details: details }))).toMatchObject({
    finish_reason: 'refusal',
    explanation: 'blocked',
    complete: true,
  });
  expect(foldGeneration(events({ content: [] }))).toMatchObject({
    finish_reason: 'other',
    reported: null,
    usage: null,
  });
});

test.each([
  ['overloaded_error', 529],
  ['api_error', null],
])('an error under a 200 is an error: %s', (type, status) => {
  expect(events({ type: 'error', error: { type, message: 'm' } })).toEqual([
    { kind: 'error', type, message: 'm', status },
  ]);
});

describe('malformed', () => {
  test.each([
    ['an answer that is not a JSON object', '<html>'],
    ['an answer that is not a JSON object', '[]'],
    ['an answer that is not a JSON object', '{"content":[]'],
    ['an answer without content', '{"id":"x"}'],
    ['an answer without content', '{"content":"x"}'],
    ['a content block that is not an object', '{"content":[1]}'],
    ['a content block without a type', '{"content":[{}]}'],
    ['a tool_use block without a name', '{"content":[{"type":"tool_use"}]}'],
    ['text without text', '{"content":[{"type":"text","text":7}]}'],
  ])('%s', (what, body) => {
    expect(events(body)).toEqual([{ kind: 'malformed', message: `upstream sent ${what}` }]);
  });
});

test('blocks are read in time that grows with their number', () => {
  const block = '{"type":"tool_use","id":"t","name":"n","input":{}}';
  const msOf = (count: number) => {
    const body = `{"content":[${Array.from({ length: count }, () => block).join(',')}],"stop_reason":"tool_use"}`;
    const cpuMs = startCpuClock();
    expect(events(body)).toHaveLength(3 * count + 3);
    return cpuMs();
  };
  const leastOf = (count: number) => Math.min(...Array.from({ length: 4 }, () => msOf(count)));
  msOf(10_000);
  const few = leastOf(10_000);
  const many = leastOf(40_000);
  // Four times as many; an algorithm that scans all blocks for each block would take sixteen times as long.
  expect(many / few).toBeLessThan(12);
});

/** Tests tool-call-reader.ts: which fragments form which call, in every way that upstreams send them. */
import { describe, expect, test } from 'bun:test';
import { foldGeneration } from '../../../generation/generation.ts';
import { calls, callsOf, chunk, DONE, delta, eventsOf, finish, generationOf } from '../testing/chat-stream.ts';
import { parseAnswer } from './parse-answer.ts';

const start = (index: number | undefined, id: string | undefined, name: string | undefined, text = '') => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: text },
});
const more = (index: number | undefined, text: string) => ({ index, function: { arguments: text } });
const answer = (...records: readonly string[]) => callsOf(generationOf(...records, finish('tool_calls'), DONE));
const refusalOf = (...records: readonly string[]) => eventsOf(...records, finish('tool_calls'), DONE).at(-1);

describe('fragments', () => {
  test('fragments of one call are one part, open until the finish', () => {
    const records = [
      delta({ content: 'So: ' }),
      calls(start(0, 'a', 'f')),
      calls(more(0, '{"x"')),
      calls(more(0, ':1}')),
    ];
    expect(eventsOf(...records, finish('tool_calls'), DONE).slice(3)).toEqual([
      { kind: 'part_end', part: 0 },
      { kind: 'part_start', part: 1, opening: { kind: 'tool_call', id: 'a', name: 'f', tool: 'function' } },
      { kind: 'arguments_delta', part: 1, text: '{"x"' },
      { kind: 'arguments_delta', part: 1, text: ':1}' },
      { kind: 'part_end', part: 1 },
      { kind: 'finish', finish_reason: 'tool_calls', stop_sequence: null, reported: 'tool_calls', explanation: null },
      { kind: 'end' },
    ]);
  });

  test('vector 1: without arguments make a call with an empty text', () => {
    expect(answer(calls(start(0, 'a', 'f')))).toEqual([['a', 'f', '']]);
    expect(answer(calls({ index: 0, id: 'a', function: { name: 'f' } }))).toEqual([['a', 'f', '']]);
  });

  test('vector 3: two consecutive calls are two', () => {
    const records = [
      calls(start(0, 'a', 'f', '{')),
      calls(more(0, '}')),
      calls(start(1, 'b', 'g', '[')),
      calls(more(1, ']')),
    ];
    expect(answer(...records)).toEqual([
      ['a', 'f', '{}'],
      ['b', 'g', '[]'],
    ]);
  });

  test('vector 4: of two calls in turns make two', () => {
    const records = [
      calls(start(0, 'a', 'f'), start(1, 'b', 'g')),
      calls(more(0, '{'), more(1, '[')),
      calls(more(1, ']'), more(0, '}')),
    ];
    expect(answer(...records)).toEqual([
      ['a', 'f', '{}'],
      ['b', 'g', '[]'],
    ]);
  });

  test('vector 6: that repeat id and name make one call', () => {
    expect(answer(calls(start(0, 'a', 'f', '{')), calls(start(0, 'a', 'f', '}')))).toEqual([['a', 'f', '{}']]);
    expect(answer(calls(start(0, 'a', 'f', '{')), calls(start(0, '', 'f', '}')))).toEqual([['a', 'f', '{}']]);
  });

  test('vector 7: with a new id at the same index make two calls, and the first has ended', () => {
    const records = [calls(start(0, 'a', 'f', '{}')), calls(start(0, 'b', 'f', '{')), calls(more(0, '}'))];
    expect(answer(...records)).toEqual([
      ['a', 'f', '{}'],
      ['b', 'f', '{}'],
    ]);
    const kinds = eventsOf(...records).map((event) => ('part' in event ? `${event.kind} ${event.part}` : event.kind));
    expect(kinds.slice(3, 5)).toEqual(['part_start 1', 'part_end 0'].toReversed());
  });

  test('bug: Poolside, another id in each fragment: those without a name go on with the call at their index', () => {
    const records = [
      calls(start(0, 'a', 'f', '{"x"')),
      calls({ index: 0, id: 'b', function: { arguments: ':' } }),
      calls({ index: 0, id: 'c', function: { name: '', arguments: '1}' } }),
      calls(start(1, 'd', 'g')),
      calls({ index: 1, id: 'e', function: { arguments: '{}' } }),
    ];
    expect(answer(...records)).toEqual([
      ['a', 'f', '{"x":1}'],
      ['d', 'g', '{}'],
    ]);
  });

  test('vector 8: separates calls without an index by their ids', () => {
    const records = [
      calls(start(undefined, 'a', 'f', '{'), start(undefined, 'b', 'g', '[')),
      calls(start(undefined, 'b', undefined, ']')),
      calls(start(undefined, 'a', undefined, '}')),
    ];
    expect(answer(...records)).toEqual([
      ['a', 'f', '{}'],
      ['b', 'g', '[]'],
    ]);
  });

  test('separates calls without index and id by position and name', () => {
    const whole = [calls(start(undefined, undefined, 'f', '{}'), start(undefined, undefined, 'f', '[]'))];
    expect(answer(...whole)).toEqual([
      ['call_c1_0', 'f', '{}'],
      ['call_c1_1', 'f', '[]'],
    ]);
    const extras = [calls(start(undefined, undefined, 'f', '{}')), calls(start(undefined, undefined, 'f', '[]'))];
    expect(answer(...extras)).toEqual(answer(...whole));
    const pieces = [
      calls(start(undefined, 'a', 'f', '{')),
      calls(more(undefined, '}')),
      calls(start(undefined, 'b', 'g', '[')),
      calls(more(undefined, ']')),
    ];
    expect(answer(...pieces)).toEqual([
      ['a', 'f', '{}'],
      ['b', 'g', '[]'],
    ]);
    expect(answer(calls(start(0, 'a', 'f', '{')), calls(more(undefined, '}')))).toEqual([['a', 'f', '{}']]);
  });

  test('vector 9: wait for the name', () => {
    const records = [
      calls(start(0, 'a', undefined, '{"x"')),
      calls({ index: 0, function: { name: 'f', arguments: ':1}' } }),
    ];
    expect(eventsOf(...records).slice(1)).toEqual([
      { kind: 'part_start', part: 0, opening: { kind: 'tool_call', id: 'a', name: 'f', tool: 'function' } },
      { kind: 'arguments_delta', part: 0, text: '{"x":1}' },
    ]);
  });

  test('without an id get one that the same stream gives again and another answer does not', () => {
    const records = [calls(start(0, undefined, 'f', '{}')), calls(start(1, '', 'g', '{}'))];
    expect(answer(...records)).toEqual([
      ['call_c1_0', 'f', '{}'],
      ['call_c1_1', 'g', '{}'],
    ]);
    const unnamed = (created: number) =>
      chunk({ id: '', created, choices: [{ delta: { tool_calls: [start(0, '', 'f')] } }] });
    expect(callsOf(generationOf(unnamed(5)))).toEqual([['call_5_0', 'f', '']]);
    expect(callsOf(generationOf(unnamed(6)))).toEqual([['call_6_0', 'f', '']]);
    const late = [calls(start(0, undefined, 'f', '{')), calls(start(0, 'late', undefined, '}'))];
    expect(answer(...late)).toEqual([['call_c1_0', 'f', '{}']]);
  });

  test('fragments with the id of another call get a new id', () => {
    expect(answer(calls(start(0, 'a', 'f', '{}'), start(1, 'a', 'g', '{}')))).toEqual([
      ['a', 'f', '{}'],
      ['call_c1_1', 'g', '{}'],
    ]);
    const taken = [calls(start(0, 'call_c1_1', 'f')), calls(start(1, undefined, 'g'))];
    expect(answer(...taken)).toEqual([
      ['call_c1_1', 'f', ''],
      ['call_c1_2', 'g', ''],
    ]);
  });

  test('of a custom tool carry its free text', () => {
    const records = [
      calls({ index: 0, id: 'a', type: 'custom', custom: { name: 'sh', input: 'ls' } }),
      calls({ index: 0, custom: { input: ' -l' } }),
    ];
    expect(generationOf(...records).parts).toEqual([
      { kind: 'tool_call', id: 'a', name: 'sh', tool: 'custom', arguments: 'ls -l', cache_mark: null },
    ]);
    const both = {
      index: 0,
      id: 'a',
      type: 'function',
      custom: { name: '', input: '' },
      function: { name: 'f', arguments: '{}' },
    };
    expect(generationOf(calls(both)).parts).toMatchObject([{ tool: 'function', name: 'f', arguments: '{}' }]);
  });

  test('of function_call make one call', () => {
    const records = [
      delta({ function_call: { name: 'f', arguments: '' } }),
      delta({ function_call: { arguments: '{"x":1}' } }),
    ];
    expect(answer(...records)).toEqual([['call_c1_0', 'f', '{"x":1}']]);
    expect(answer(delta({ content: 'a', function_call: { name: '', arguments: '' } }))).toEqual([]);
  });

  test('vector 49: keep the digits of their numbers', () => {
    const text = '{"n":90071992547409931234,"n":1.0e2}';
    expect(answer(calls(start(0, 'a', 'f', text)))).toEqual([['a', 'f', text]]);
  });

  test('ignores empty fragments', () => {
    expect(
      answer(calls({}, null, 'x', { index: 3 }, { index: 4, type: 'function', function: { arguments: '' } })),
    ).toEqual([]);
  });

  test('end the text before them; a text after them is another part', () => {
    const { parts } = generationOf(
      delta({ content: 'a' }),
      calls(start(0, 'a', 'f', '{')),
      delta({ content: 'b' }),
      calls(more(0, '}')),
    );
    expect(parts).toMatchObject([{ text: 'a' }, { arguments: '{}' }, { text: 'b' }]);
  });
});

describe('refused', () => {
  const malformed = (message: string) => ({ kind: 'malformed', message }) as const;

  test.each([10_001, 1e9, -1, 0.5])('is the index %p', (index) => {
    expect(refusalOf(calls(start(index, 'a', 'f')))).toEqual(
      malformed(`upstream sent a tool call with the index ${index}`),
    );
  });

  test('are more than 128 calls', () => {
    const records = Array.from({ length: 129 }, (_, index) => calls(start(index, `id${index}`, 'f', '{}')));
    expect(answer(...records.slice(0, 128))).toHaveLength(128);
    expect(refusalOf(...records)).toEqual(malformed('upstream sent more than 128 tool calls'));
  });

  test('is a call without a name, save where the answer was cut', () => {
    const nameless = calls(start(0, 'a', undefined, '{}'));
    expect(refusalOf(nameless)).toEqual(malformed('upstream sent a tool call without a name'));
    expect(generationOf(nameless, finish('length'), DONE)).toMatchObject({ parts: [], finish_reason: 'length' });
  });

  test('is going on with a call that another one replaced at its place', () => {
    const records = [
      calls(start(0, 'a', 'f', '{')),
      calls(start(0, 'b', 'g', '{')),
      calls(start(undefined, 'a', undefined, '}')),
    ];
    expect(refusalOf(...records)).toEqual(malformed('upstream went on with a tool call that another one had replaced'));
  });
});

describe('arguments', () => {
  const readCall = (...pieces: readonly unknown[]) => {
    const [first, ...rest] = pieces;
    const begun = calls({ index: 0, id: 'a', function: { name: 'f', arguments: first } });
    const more = rest.map((piece) => calls({ index: 0, function: { arguments: piece } }));
    return callsOf(generationOf(begun, ...more, finish('tool_calls'), DONE)).map(([, , text]) => text);
  };

  test.each([
    [[{ x: 1 }], '{"x":1}'],
    [['null'], ''],
    [['nu', 'll '], ''],
    [['', ' ', 'null'], ''],
    [[JSON.stringify('{"a": 1}')], '{"a": 1}'],
    [['"{\\"a\\"', ':1}"'], '{"a":1}'],
    [[' {"a"', ':1}'], ' {"a":1}'],
    // The renderer handles arguments that are not an object.
    [['nullify'], 'nullify'],
    [['"x"'], '"x"'],
    [[[1]], '[1]'],
  ] as const)('%j are %j', (pieces, text) => {
    expect(readCall(...pieces)).toEqual([text]);
  });

  test('arguments that are JSON instead of text stay as written, digit by digit', () => {
    const json = '{ "n": 12345678901234567890, "b":1.0}';
    const call = `{"index":0,"id":"a","function":{"name":"f","arguments":${json}}}`;
    const choice = (member: string) => `{"index":1,"${member}":{}},{"index":0,"${member}":{"tool_calls":[${call}]}}`;
    const streamed = generationOf(`data: {"choices":[${choice('delta')}]}\n\n`, finish('tool_calls'), DONE);
    expect(callsOf(streamed)).toEqual([['a', 'f', json]]);
    const plain = foldGeneration(parseAnswer(Buffer.from(`{"choices":[${choice('message')}]}`)));
    expect(callsOf(plain)).toEqual([['a', 'f', json]]);
  });

  test('streams the arguments of a single call without waiting', () => {
    const events = eventsOf(calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{"a' } }));
    expect(events.at(-1)).toEqual({ kind: 'arguments_delta', part: 0, text: '{"a' });
  });
});

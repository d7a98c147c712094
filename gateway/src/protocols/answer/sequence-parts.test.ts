/** Tests sequence-parts.ts: one part at a time, in the order in which they begin, within bounds. */
import { describe, expect, test } from 'bun:test';
import type { GenerationEvent } from '../../generation/event.ts';
import { argues, calls, ended, finish, says, speech, start, thinks } from '../messages/testing/answer-events.ts';
import { PartSequencer } from './sequence-parts.ts';

function sequenced(events: readonly GenerationEvent[]) {
  const sequencer = new PartSequencer();
  return { given: events.map((event) => sequencer.push(event)), violation: sequencer.violation };
}

test('consecutive parts pass unchanged', () => {
  const events = [
    start,
    thinks(0),
    says(0, 'a'),
    ended(0),
    speech(1),
    says(1, 'b'),
    ended(1),
    calls(2, 'c'),
    argues(2, '{}'),
    ended(2),
    finish('tool_calls'),
  ];
  expect(sequenced(events).given).toEqual(events.map((event) => [event]));
});

test('waiting text comes in one piece, followed by its signature and citations', () => {
  const signature: GenerationEvent = { kind: 'signature', part: 1, signature: 's' };
  const events = [calls(0, 'c'), thinks(1), says(1, 'a'), signature, says(1, 'b'), ended(1), argues(0, '{}')];
  expect(sequenced(events).given.at(-1)).toEqual([
    argues(0, '{}'),
    ended(0),
    thinks(1),
    says(1, 'ab'),
    signature,
    ended(1),
  ]);
});

test('a call with complete JSON is closed early, and its later end is ignored', () => {
  const { given, violation } = sequenced([
    calls(0, 'a'),
    argues(0, '{"a":{"}":1}}'),
    speech(1),
    argues(0, '\n'),
    ended(0),
    ended(1),
  ]);
  expect(given).toEqual([[calls(0, 'a')], [argues(0, '{"a":{"}":1}}')], [ended(0), speech(1)], [], [], [ended(1)]]);
  expect(violation).toBeNull();
});

test('a call without arguments holds its place until it ends: they may still come', () => {
  const { given } = sequenced([
    calls(0, 'a'),
    calls(1, 'b'),
    argues(1, '{}'),
    argues(0, '{"a":1}'),
    ended(0),
    ended(1),
  ]);
  expect(given).toEqual([
    [calls(0, 'a')],
    [],
    [],
    [argues(0, '{"a":1}'), ended(0), calls(1, 'b'), argues(1, '{}')],
    [],
    [ended(1)],
  ]);
});

test('the finish ends what its source left open', () => {
  expect(sequenced([calls(0, 'a'), calls(1, 'b'), argues(1, '{}'), finish('stop')]).given.at(-1)).toEqual([
    ended(0),
    calls(1, 'b'),
    argues(1, '{}'),
    ended(1),
    finish('stop'),
  ]);
});

test('text next to open text waits: a block cannot be reopened', () => {
  const { given } = sequenced([speech(0), speech(1), says(1, 'b'), says(0, 'a'), ended(0), ended(1)]);
  expect(given).toEqual([[speech(0)], [], [], [says(0, 'a')], [ended(0), speech(1), says(1, 'b')], [ended(1)]]);
});

describe('violations', () => {
  test.each<[string, GenerationEvent[]]>([
    ['part 0 began twice', [speech(0), speech(0)]],
    ['text_delta of part 7, which is not open', [says(7, 'x')]],
    ['text_delta of part 0, which is not open', [speech(0), ended(0), says(0, 'x')]],
    ['part 0, which is not open, ended', [speech(0), ended(0), ended(0)]],
    ['a tool call went on behind the end of its JSON', [calls(0, 'a'), argues(0, '{}'), speech(1), argues(0, '{}')]],
    [
      'the arguments of a call of "get" are not a JSON object',
      [calls(0, 'a'), argues(0, '{]'), ended(0), calls(1, 'b'), ended(1), finish('stop')],
    ],
  ])('%s', (expected, events) => {
    const { given, violation } = sequenced([...events, speech(9)]);
    expect(violation).toBe(expected);
    expect(given.slice(-2)).toEqual([[], []]);
  });

  test('more than a thousand waiting parts', () => {
    const many = Array.from({ length: 1_002 }, (_, part) => speech(part));
    expect(sequenced(many).violation).toStartWith('more than 1000 parts');
    expect(sequenced(many.slice(1)).violation).toBeNull();
  });

  test('more than 32 MiB of waiting text', () => {
    const mebibyte = says(1, 'x'.repeat(1024 * 1024));
    const events = [speech(0), speech(1), ...Array.from({ length: 32 }, () => mebibyte)];
    expect(sequenced(events).violation).toBeNull();
    expect(sequenced([...events, says(1, 'x')]).violation).toEndWith('33554432 characters beside an open part');
    const again = events.slice(2).map(() => says(2, 'x'.repeat(1024 * 1024)));
    expect(sequenced([...events, ended(0), says(1, 'x'), speech(2), ...again]).violation).toBeNull();
  });
});

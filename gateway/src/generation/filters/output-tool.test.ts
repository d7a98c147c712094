/** Tests the output tool: output requested through a tool becomes the answer, and other calls stay calls. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { foldGeneration } from '../generation.ts';
import {
  callOpening,
  cutsArbitrary,
  finishEvent,
  joinDeltas,
  partEvents,
  pushAll,
  splitDeltas,
} from '../testing/split-deltas.ts';
import { unwrapOutputTool } from './restore-tools.ts';

const answer = (...pieces: string[]) => partEvents(0, callOpening('json_out'), ...pieces);
const through = (events: Parameters<typeof pushAll>[1]) => pushAll(unwrapOutputTool('json_out'), events);

test('the call becomes the text of the answer, which has stopped by itself', () => {
  const out = through([...answer('{"n":', '9007199254740993}'), finishEvent('tool_calls')]);
  expect(out).toEqual([...partEvents(0, { kind: 'text' }, '{"n":', '9007199254740993}'), finishEvent('stop')]);
});

test('a call without arguments is the empty object', () => {
  expect(through(answer())).toEqual(partEvents(0, { kind: 'text' }, '{}'));
});

describe('the reason of the end', () => {
  test('stays where the model called another tool too', () => {
    const other = partEvents(1, callOpening('look'), '{}');
    const out = through([...answer('{}'), ...other, finishEvent('tool_calls')]);
    expect(out).toEqual([...partEvents(0, { kind: 'text' }, '{}'), ...other, finishEvent('tool_calls')]);
  });

  test.each(['length', 'stop', 'refusal', 'pause'] as const)('stays where it is %s', (reason) => {
    expect(through([...answer('{}'), finishEvent(reason)]).at(-1)).toEqual(finishEvent(reason));
  });

  test('stays where no tool was called at all', () => {
    const events = [...partEvents(0, { kind: 'text' }, 'a'), finishEvent('tool_calls')];
    expect(through(events)).toEqual(events);
  });
});

test('other events are the very same', () => {
  const filter = unwrapOutputTool('json_out');
  const events = [
    ...partEvents(0, { kind: 'text' }, 'a'),
    ...partEvents(1, callOpening('look'), '{}'),
    { kind: 'end' } as const,
  ];
  for (const event of events) expect(filter.push(event)[0]).toBe(event);
});

test('the answer is the same however its arguments were cut', () => {
  fc.assert(
    fc.property(fc.json(), cutsArbitrary, (json, cuts) => {
      const events = [...answer(json), finishEvent('tool_calls')];
      const out = through(splitDeltas(events, cuts));
      expect(joinDeltas(out)).toEqual(through(events));
      expect(foldGeneration(out).parts[0]).toMatchObject({ kind: 'text', text: json });
    }),
  );
});

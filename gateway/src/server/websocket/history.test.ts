/** Tests which conversations are kept, within their limits. */
import { expect, test } from 'bun:test';
import { Histories } from './history.ts';

const textOf = (turns: readonly Buffer[] | null) => turns?.map(String) ?? null;

test('only the last response can be continued, until it is forgotten', () => {
  const all = new Histories(() => ({ websocketHistoryBytesMax: 100, websocketHistoriesBytesMax: 100 }));
  const history = all.open();
  expect(history.upTo('resp_1')).toBeNull();
  history.keep('resp_1', [Buffer.from('{"a":1}')]);
  history.keep('resp_2', [...(history.upTo('resp_1') ?? []), Buffer.from('{"b":2}')]);
  expect([history.upTo('resp_1'), textOf(history.upTo('resp_2')), all.byteCount]).toEqual([
    null,
    ['{"a":1}', '{"b":2}'],
    14,
  ]);
  history.forget();
  history.forget();
  expect([history.upTo('resp_2'), all.byteCount]).toEqual([null, 0]);
});

test('an empty conversation can be continued', () => {
  const history = new Histories(() => ({ websocketHistoryBytesMax: 1, websocketHistoriesBytesMax: 1 })).open();
  history.keep('resp_1', []);
  expect(history.upTo('resp_1')).toEqual([]);
});

test('a conversation above its limit is not kept, one at the limit is', () => {
  const all = new Histories(() => ({ websocketHistoryBytesMax: 8, websocketHistoriesBytesMax: 100 }));
  const history = all.open();
  history.keep('resp_1', [Buffer.alloc(8)]);
  expect(history.upTo('resp_1')).not.toBeNull();
  history.keep('resp_2', [Buffer.alloc(9)]);
  expect([history.upTo('resp_1'), history.upTo('resp_2'), all.byteCount]).toEqual([null, null, 0]);
});

test('together they stay within their limit: the least recently used are forgotten', () => {
  const all = new Histories(() => ({ websocketHistoryBytesMax: 100, websocketHistoriesBytesMax: 30 }));
  const [first, second, third] = [all.open(), all.open(), all.open()];
  first.keep('resp_1', [Buffer.alloc(10)]);
  second.keep('resp_2', [Buffer.alloc(10)]);
  first.keep('resp_3', [Buffer.alloc(12)]);
  third.keep('resp_4', [Buffer.alloc(15)]);
  expect(
    [first.upTo('resp_3'), second.upTo('resp_2'), third.upTo('resp_4')].map((turns) => turns?.length ?? null),
  ).toEqual([1, null, 1]);
  expect(all.byteCount).toBe(27);
  third.keep('resp_5', [Buffer.alloc(29)]);
  expect([first.upTo('resp_3'), all.byteCount]).toEqual([null, 29]);
});

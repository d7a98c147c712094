/** Tests the order and the cumulative cost of a session's requests over pages, and the words of its cache breaks. */
import { expect, test } from 'bun:test';
import { causeText, comparisonText, costLineText, inOrder, type TurnsReply } from './turns.ts';

const SESSION = { cost_nano_usd: '1000', requests: 5 } as TurnsReply['session'];
const turn = (id: string, cost: string | null) =>
  ({
    request_id: id,
    cost_nano_usd: cost,
    cache_break: null,
    served_model: 'm',
    provider: 'lab',
  }) as TurnsReply['turns'][number];
const NEWEST: TurnsReply = { session: SESSION, turns: [turn('d', null), turn('e', '300')], next: 'd' };
const OLDER: TurnsReply = { session: SESSION, turns: [turn('b', '150'), turn('c', '50')], next: 'b' };

test('the cost up to each request counts those that are not loaded', () => {
  expect(inOrder([NEWEST]).map(({ number, total }) => [number, total])).toEqual([
    [4, '700'],
    [5, '1000'],
  ]);
  expect(inOrder([NEWEST, OLDER]).map(({ request_id, number, total }) => [request_id, number, total])).toEqual([
    ['b', 2, '650'],
    ['c', 3, '700'],
    ['d', 4, '700'],
    ['e', 5, '1000'],
  ]);
  expect(inOrder([])).toEqual([]);
});

test('the text of the cost line names the requests where the cache broke', () => {
  const broken = {
    cause: 'expired',
    previous: 'd',
    gap_ms: 420_000,
    kept_ms: 300_000,
    expected: 9,
    lost: 9,
    cost_nano_usd: null,
  } as const;
  const turns = inOrder([NEWEST]).map((one) => (one.number === 5 ? { ...one, cache_break: broken } : one));
  const text = costLineText(turns, (nano) => `${nano} nano-USD`);
  expect(text).toBe('Cumulative cost: 1000 nano-USD after 5 requests. The prompt cache broke at request 5.');
  const [before, now] = turns;
  if (before === undefined || now === undefined) throw new Error('both turns are listed');
  expect(causeText(broken, now, before)).toBe(
    '7 min 0 s passed since the request before; the cache keeps a prompt for 5 min.',
  );
  const other = { ...now, served_model: 'n' };
  expect(causeText({ ...broken, cause: 'model' }, other, before)).toStartWith(
    'Another model answered: n instead of m.',
  );
  expect(causeText({ ...broken, cause: 'provider' }, other, undefined)).toStartWith('Another provider answered: lab. ');
});

test('positions of differences count from 1', () => {
  const differs = (block: 'tools' | 'history', index: number) => comparisonText({ outcome: 'differs', block, index });
  expect(differs('tools', 2)).toBe('The tools changed, from tool 3 on.');
  expect(differs('history', 4)).toBe('The history changed, from message 5 on.');
  expect(differs('history', 0)).toStartWith('The first message changed');
});

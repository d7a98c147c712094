/** Tests that a list of calls keeps its order, does not jump, and stays bounded. */
import { describe, expect, test } from 'bun:test';
import { addNewer, addOlder, type CallView, type LogsReply, showWaiting, startList } from './use-call-list.ts';

const call = (id: string): CallView => ({
  request_id: id,
  at: '2026-11-21T14:00:00Z',
  account: 'default',
  workspace: 'default',
  key_id: 'k',
  key_name: 'ci',
  end_user: null,
  session: null,
  protocol: 'chat',
  model: 'm',
  served_model: 'm',
  provider: 'p',
  stream: false,
  status: 200,
  error: null,
  finish_reason: 'stop',
  usage: { input: 1, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 1, reasoning: 0 },
  usage_source: 'upstream',
  price_version: null,
  cost_nano_usd: null,
  ttfb_ms: null,
  duration_ms: 1,
  attempts: [],
});
const page = (
  ids: readonly string[],
  next: string | null = null,
  newest: string | null = ids[0] ?? null,
): LogsReply => ({
  calls: ids.map(call),
  next,
  newest,
  filter_labels: [],
  histogram: null,
});
const ids = (calls: readonly CallView[]) => calls.map(({ request_id }) => request_id);

describe('request list', () => {
  const list = startList(page(['c', 'b'], 'older'));

  test('appends older requests without duplicates', () => {
    const longer = addOlder(list, page(['b', 'a']));
    expect(ids(longer.calls)).toEqual(['c', 'b', 'a']);
    expect(longer.next).toBeNull();
    expect(longer.newest).toBe('c');
  });
  test('prepends newer requests', () => {
    const newer = addNewer(list, page(['e', 'd']), false);
    expect(ids(newer.calls)).toEqual(['e', 'd', 'c', 'b']);
    expect(newer.newest).toBe('e');
    expect(newer.next).toBe('older');
  });
  test('queues newer requests in order while held', () => {
    const held = addNewer(addNewer(list, page(['d']), true), page(['f', 'e']), true);
    expect(ids(held.calls)).toEqual(['c', 'b']);
    expect(ids(held.waiting)).toEqual(['f', 'e', 'd']);
    expect(ids(showWaiting(held).calls)).toEqual(['f', 'e', 'd', 'c', 'b']);
  });
  test('an empty reply keeps the list and its cursor', () => {
    expect(addNewer(list, page([], null, null), false)).toEqual(list);
  });
  test('limits its length and reports that it was cut', () => {
    const many = Array.from({ length: 2_000 }, (_, at) => `n${at}`);
    const cut = addNewer(list, page(many), false);
    expect(cut.calls).toHaveLength(2_000);
    expect([cut.isCut, cut.next]).toEqual([true, null]);
  });
});

/** Tests that the daily sums of keys and workspaces match the usage page, however many are requested. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import type { Reply } from '../contract/contract.ts';
import { dayBounds } from '../kernel/time-range.ts';
import { NOW_MS, openUsageRig } from '../testing/usage-rig.ts';
import { readSpans } from './usage-range.ts';
import { renderAmounts } from './usage-view.ts';

const newFolder = temporaryFolders();
const ZONE = 'Europe/Berlin';
let rig: Awaited<ReturnType<typeof openUsageRig>>;
beforeAll(async () => {
  rig = await openUsageRig(newFolder(), 800);
});
afterAll(() => rig.store.close());

test.each(['key', 'workspace'] as const)('by %s', async (by) => {
  const bounds = dayBounds(ZONE, NOW_MS, 30);
  const [from = 0, to = 0] = [bounds[0], bounds.at(-1)];
  const range = `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;
  const usageReply = await rig.get(`/accounts/default/usage?${range}&step=day&metric=cost&by=${by}`);
  const { groups } = (await usageReply.json()) as Reply<'GET /accounts/{account}/usage'>;
  expect(groups.length).toBeGreaterThan(1);
  const known = groups.map(({ values: [id] }) => id ?? '');
  // The known ids come after the first hundred of one query, with ids of another account among them.
  const ids = [...Array.from({ length: 250 }, (_, nth) => `none_${nth}`), ...known, 'key_acme_1', 'acme-w1'];
  const spans = await readSpans(rig.store.usage, { account: 'default', timeZone: ZONE, by, ids, bounds });
  expect([...spans.keys()].sort()).toEqual(known.sort());
  for (const { values, amounts } of groups) {
    expect(renderAmounts(spans.get(values[0] ?? '') ?? [], 'cost')).toEqual(amounts ?? []);
  }
});

/** Tests any implementation of the store of key uses against its contract. */
import { describe, expect, test } from 'bun:test';
import { requestIdFloor } from '../../lib/request-id.ts';
import type { StoredKey } from '../ports/records.ts';
import { sampleRecord } from '../testing/sample-record.ts';
import { SAMPLE_KEY } from './policy-contract.ts';
import { type StoreRig, startRigs } from './store-rig.ts';

const KEY: StoredKey = { ...SAMPLE_KEY, hash: 'new', previousHash: 'old' };

/** Runs the suite; `openRig` opens new data. */
export function testKeyUse(name: string, openRig: () => Promise<StoreRig<'keyUses' | 'policies' | 'recorder'>>): void {
  describe(`the last use of keys in ${name}`, () => {
    const open = startRigs(openRig);

    test('the last use of each secret is replaced, comes back after a restart, and goes with its secret', async () => {
      const rig = await open();
      await rig.store.policies.save([{ of: 'key', isNew: true, key: KEY }]);
      await rig.store.keyUses.save([]);
      await rig.store.keyUses.save([
        { hash: 'new', atMs: 5, client: null },
        { hash: 'old', atMs: 6, client: 'codex/1' },
      ]);
      await rig.store.keyUses.save([{ hash: 'new', atMs: 7, client: 'curl' }]);
      await rig.restart();
      const read = async () => (await rig.store.keyUses.read()).toSorted((one, two) => one.atMs - two.atMs);
      expect(await read()).toEqual([
        { hash: 'old', atMs: 6, client: 'codex/1' },
        { hash: 'new', atMs: 7, client: 'curl' },
      ]);
      await rig.store.policies.save([{ of: 'key', isNew: false, key: { ...KEY, previousHash: null } }]);
      await rig.store.keyUses.save([{ hash: 'new', atMs: 8, client: null }]);
      expect(await read()).toEqual([{ hash: 'new', atMs: 8, client: null }]);
    });

    test('the newest call of each key since a time', async () => {
      const { recorder, keyUses } = (await open()).store;
      for (const [atMs, key_id] of [
        [10, 'a'],
        [20, 'a'],
        [30, 'b'],
        [5, 'c'],
      ] as const) {
        await recorder.append(sampleRecord(requestIdFloor(atMs), { at_ms: atMs, key_id }));
      }
      expect([...(await keyUses.readNewestCalls(10))].sort()).toEqual([
        ['a', 20],
        ['b', 30],
      ]);
    });
  });
}

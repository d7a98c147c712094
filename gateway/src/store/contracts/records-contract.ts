/** Tests any implementation of the recorder and reader of calls, and of the last use of keys, against its contract. */
import { describe, expect, test } from 'bun:test';
import { ZERO_USAGE } from '../../generation/usage.ts';
import { requestIdFloor } from '../../lib/request-id.ts';
import type { StoredKey } from '../ports/records.ts';
import { sampleRecord } from '../testing/sample-record.ts';
import { SAMPLE_KEY } from './policy-contract.ts';
import { outcomeOf, type StoreRig, startRigs } from './store-rig.ts';

const EVERYTHING = { limit: 1_000, sinceMs: null, requestId: null, keyId: null };

/** Runs the suite; `openRig` opens new data. */
export function testRecords(name: string, openRig: () => Promise<StoreRig<'recorder' | 'calls'>>): void {
  describe(`records of calls in ${name}`, () => {
    const open = startRigs(openRig);

    test('come back as they were given, to the last digit', async () => {
      const { store } = await open();
      const records = [
        sampleRecord('c', { at_ms: 3, trace_id: '0af7651916cd43dd8448eb211c80319c' }),
        sampleRecord('b', {
          at_ms: 2,
          cost_nano_usd: '9223372036854775807',
          usage_flags: ['sum', 'far_input'],
          end_user: '\u0000"\'; DROP TABLE call_record --☂',
        }),
        sampleRecord('a', {
          at_ms: 1,
          cost_nano_usd: null,
          price_version: null,
          model: null,
          served_model: null,
          provider: null,
          stream: false,
          ttfb_ms: null,
          attempts: [],
          usage_source: 'void',
        }),
      ];
      await Promise.all(records.map((record) => store.recorder.append(record)));
      expect(await store.calls.readCalls(EVERYTHING)).toEqual(records);
    });

    test('are found newest first, by time, by key, by request and by trace', async () => {
      const { store } = await open();
      const keys = ['k1', 'k2', 'k1', 'k2'];
      await Promise.all(
        keys.map((key_id, at_ms) => {
          const trace_id = at_ms === 0 ? null : key_id;
          return store.recorder.append(sampleRecord(requestIdFloor(at_ms), { at_ms, key_id, trace_id }));
        }),
      );
      const ids = async (filter: object) =>
        (await store.calls.readCalls({ ...EVERYTHING, ...filter })).map(({ request_id }) =>
          request_id.replace(/^req_0*(?=\d)/, 'r'),
        );
      expect(await ids({})).toEqual(['r3', 'r2', 'r1', 'r0']);
      expect(await ids({ limit: 2 })).toEqual(['r3', 'r2']);
      expect(await ids({ sinceMs: 2 })).toEqual(['r3', 'r2']);
      expect(await ids({ keyId: 'k1' })).toEqual(['r2', 'r0']);
      expect(await ids({ requestId: requestIdFloor(1) })).toEqual(['r1']);
      expect(await ids({ traceId: 'k1' })).toEqual(['r2']);
      expect(await ids({ traceId: 'k2' })).toEqual(['r3', 'r1']);
      expect(await ids({ requestId: "' OR 1=1 --" })).toEqual([]);
    });

    test('one that cannot be stored is rejected alone', async () => {
      const { store } = await open();
      const outcomes = await Promise.all(
        [
          store.recorder.append(sampleRecord('a')),
          store.recorder.append(sampleRecord('b', { cost_nano_usd: '9223372036854775808' })),
          store.recorder.append(sampleRecord('c', { cost_nano_usd: '1.5' })),
          store.recorder.append(sampleRecord('f', { usage: { ...ZERO_USAGE, output: 1.5 } })),
          store.recorder.append(sampleRecord('d', { at_ms: Number.NaN })),
          store.recorder.append(sampleRecord('e')),
        ].map(outcomeOf),
      );
      expect(outcomes).toEqual(['kept', 'invalid', 'invalid', 'invalid', 'invalid', 'kept']);
      expect(store.recorder.writable()).toBe(true);
      expect((await store.calls.readCalls(EVERYTHING)).map(({ request_id }) => request_id)).toEqual(['e', 'a']);
    });
  });
}

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

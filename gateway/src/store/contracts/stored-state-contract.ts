/** Tests any implementation of the rows of stored state against its contract. */
import { describe, expect, test } from 'bun:test';
import { NEVER_MS, type StoredByCall, type StoredPage, type StoredRow } from '../ports/stored-state.ts';
import { heldCall } from '../testing/sample-call.ts';
import { sampleRecord } from '../testing/sample-record.ts';
import { type StoreRig, startRigs } from './store-rig.ts';

type Rig = StoreRig<'ledger' | 'storedState' | 'policies'>;

const NOW = 1_790_000_000_000;
const LATER = NOW + 1_000;
const HERE = { account: 'default', workspace: 'default' };

const left = (changes: Partial<StoredByCall> = {}): StoredByCall => ({
  provider: 'openai',
  model: 'gpt-5',
  credential: 'eu',
  tokens: 900,
  output_tokens: 40,
  expires_at_ms: LATER,
  things: [
    { kind: 'response', id: 'resp_1' },
    { kind: 'item', id: 'msg_1' },
  ],
  ...changes,
});

/** Ends a call of a workspace that left something at its provider. */
async function end({ store }: Rig, callId: string, stored: StoredByCall, workspace = 'default'): Promise<void> {
  const { draft } = heldCall(callId, 5n);
  await store.ledger.hold({ draft: { ...draft, workspace }, amount: 5n });
  const record = sampleRecord(callId, { workspace, cost_nano_usd: '0' });
  await store.ledger.settle({ record, posted: 0n, released: 5n, writtenOff: 0n, stored });
}

export function testStoredState(name: string, openRig: () => Promise<Rig>): void {
  const open = startRigs<'ledger' | 'storedState' | 'policies'>(openRig);

  describe(`${name}: what calls left at their providers`, () => {
    test('is found at once, with its owner and its place, and after a restart', async () => {
      const rig = await open();
      await end(rig, 'req_1', left());
      const rows = [
        { ...HERE, id: 'msg_1', kind: 'item', provider: 'openai', model: 'gpt-5', credential: 'eu', tokens: 40 },
        { ...HERE, id: 'resp_1', kind: 'response', provider: 'openai', model: 'gpt-5', credential: 'eu', tokens: 900 },
      ].map((row) => ({ ...row, request_id: 'req_1', expires_at_ms: LATER, object: null }));
      const find = async () => {
        const found = await rig.store.storedState.find(HERE, ['resp_1', 'msg_1', 'resp_2'], NOW);
        return [...found].sort((one, other) => (one.id < other.id ? -1 : 1));
      };
      expect(await find()).toEqual(rows);
      await rig.restart();
      expect(await find()).toEqual(rows);
    });

    test('is of its workspace and its account only, also under an equal id', async () => {
      const rig = await open();
      await end(rig, 'req_1', left());
      await end(rig, 'req_2', left({ provider: 'lab' }), 'team');
      const providerOf = async (owner: typeof HERE) =>
        (await rig.store.storedState.find(owner, ['resp_1'], NOW)).map(({ provider }) => provider);
      expect(await providerOf(HERE)).toEqual(['openai']);
      expect(await providerOf({ ...HERE, workspace: 'team' })).toEqual(['lab']);
      expect(await providerOf({ ...HERE, workspace: 'other' })).toEqual([]);
      expect(await providerOf({ ...HERE, account: 'other' })).toEqual([]);
    });

    test('is replaced where a later call of the workspace names it', async () => {
      const rig = await open();
      await end(rig, 'req_1', left());
      await end(rig, 'req_2', left({ credential: 'us', tokens: 1_000 }));
      expect(await rig.store.storedState.find(HERE, ['resp_1'], NOW)).toMatchObject([
        { credential: 'us', tokens: 1_000, request_id: 'req_2' },
      ]);
    });

    test('is not found once it has expired, and then swept', async () => {
      const rig = await open();
      await end(rig, 'req_1', left());
      await end(rig, 'req_2', left({ things: [{ kind: 'response', id: 'resp_2' }], expires_at_ms: LATER + 1 }));
      expect(await rig.store.storedState.find(HERE, ['resp_1', 'resp_2'], LATER)).toMatchObject([{ id: 'resp_2' }]);
      expect(await rig.store.storedState.sweep(LATER)).toBe(2);
      expect(await rig.store.storedState.sweep(LATER)).toBe(0);
      expect(await rig.store.storedState.find(HERE, ['resp_1', 'msg_1', 'resp_2'], NOW)).toMatchObject([
        { id: 'resp_2' },
      ]);
    });

    test('is forgotten with all that its call left, in its workspace only', async () => {
      const rig = await open();
      await end(rig, 'req_1', left());
      await rig.store.storedState.forget({ ...HERE, workspace: 'other' }, 'req_1');
      await rig.store.storedState.forget({ ...HERE, account: 'other' }, 'req_1');
      expect(await rig.store.storedState.find(HERE, ['resp_1', 'msg_1'], NOW)).toHaveLength(2);
      await rig.store.storedState.forget(HERE, 'req_1');
      await rig.store.storedState.forget(HERE, 'req_1');
      expect(await rig.store.storedState.find(HERE, ['resp_1', 'msg_1'], NOW)).toEqual([]);
    });

    test('things that outlive a response stay when it is forgotten', async () => {
      const rig = await open();
      const things = ['response', 'item', 'conversation', 'container', 'file'].map((kind) => ({
        kind,
        id: `a_${kind}`,
      }));
      await end(rig, 'req_1', left({ things }));
      const kinds = async () => {
        const found = await rig.store.storedState.find(
          HERE,
          things.map(({ id }) => id),
          NOW,
        );
        return found.map(({ kind }) => kind).sort();
      };
      expect(await kinds()).toHaveLength(5);
      await rig.store.storedState.forget(HERE, 'req_1');
      expect(await kinds()).toEqual(['container', 'conversation', 'file']);
    });

    const created = (id: string, requestId: string, changes: Partial<StoredRow> = {}): StoredRow => ({
      ...HERE,
      id,
      kind: 'file',
      provider: 'openai',
      model: 'gpt-5',
      credential: 'eu',
      tokens: 0,
      request_id: requestId,
      expires_at_ms: NEVER_MS,
      object: JSON.stringify({ id, purpose: id.startsWith('b') ? 'batch' : 'vision' }),
      ...changes,
    });
    const page = (changes: Partial<StoredPage> = {}): StoredPage => ({
      kind: 'file',
      providers: ['openai', 'lab'],
      purpose: null,
      first: 'newest',
      after: null,
      limit: 10,
      ...changes,
    });

    test('an object of a client is found and listed at once, for its workspace only, until it is removed', async () => {
      const rig = await open();
      const { storedState } = rig.store;
      await storedState.add(created('a1', 'req_1'));
      expect(await storedState.find(HERE, ['a1'], NOW)).toEqual([created('a1', 'req_1')]);
      for (const other of [
        { ...HERE, workspace: 'team' },
        { ...HERE, account: 'acme' },
      ]) {
        expect(await storedState.find(other, ['a1'], NOW)).toEqual([]);
        expect(await storedState.list(other, page(), NOW)).toEqual([]);
        await storedState.remove(other, 'a1');
      }
      await rig.restart();
      const after = rig.store.storedState;
      expect(await after.list(HERE, page(), NOW)).toEqual([created('a1', 'req_1')]);
      await after.remove(HERE, 'a1');
      expect(await after.find(HERE, ['a1'], NOW)).toEqual([]);
    });

    test('tokens are added to a row of the workspace only', async () => {
      const rig = await open();
      await end(rig, 'req_1', left({ things: [{ kind: 'conversation', id: 'conv_1' }] }));
      const { storedState } = rig.store;
      expect(await storedState.find(HERE, ['conv_1'], NOW)).toMatchObject([{ tokens: 900 }]);
      await storedState.addTokens(HERE, 'conv_1', 20);
      await storedState.addTokens({ ...HERE, workspace: 'team' }, 'conv_1', 1_000);
      await storedState.addTokens({ ...HERE, account: 'acme' }, 'conv_1', 1_000);
      await storedState.addTokens(HERE, 'conv_none', 1_000);
      expect(await storedState.find(HERE, ['conv_1', 'conv_none'], NOW)).toMatchObject([
        { tokens: 920, request_id: 'req_1' },
      ]);
    });

    test('a list is in the order of creation, by pages, and has what was asked for', async () => {
      const { storedState } = (await open()).store;
      for (const [id, requestId] of [
        ['a1', 'req_1'],
        ['b2', 'req_2'],
        ['a3', 'req_3'],
      ] as const)
        await storedState.add(created(id, requestId));
      await storedState.add(created('c4', 'req_4', { provider: 'other' }));
      await storedState.add(created('v5', 'req_5', { kind: 'conversation' }));
      await storedState.add(created('n6', 'req_6', { object: null }));
      await storedState.add(created('x7', 'req_7', { expires_at_ms: NOW }));
      const ids = async (changes: Partial<StoredPage> = {}) =>
        (await storedState.list(HERE, page(changes), NOW)).map(({ id }) => id);
      expect(await ids()).toEqual(['a3', 'b2', 'a1']);
      expect(await ids({ first: 'oldest' })).toEqual(['a1', 'b2', 'a3']);
      expect(await ids({ limit: 2 })).toEqual(['a3', 'b2']);
      expect(await ids({ after: 'req_2' })).toEqual(['a1']);
      expect(await ids({ first: 'oldest', after: 'req_2' })).toEqual(['a3']);
      expect(await ids({ purpose: 'batch' })).toEqual(['b2']);
      expect(await ids({ providers: ['other'] })).toEqual(['c4']);
      expect(await ids({ kind: 'conversation' })).toEqual(['v5']);
    });

    test('an object of a client does not expire earlier because a later call names it', async () => {
      const rig = await open();
      await rig.store.storedState.add(created('conv_1', 'req_1', { kind: 'conversation' }));
      await end(rig, 'req_2', left({ things: [{ kind: 'conversation', id: 'conv_1' }] }));
      expect(await rig.store.storedState.find(HERE, ['conv_1'], NOW)).toMatchObject([
        { expires_at_ms: NEVER_MS, tokens: 900 },
      ]);
    });

    test('conversations are kept for their workspace, until they are forgotten or expire', async () => {
      const { store } = await open();
      const { storedState } = store;
      const sealed = Buffer.from([1, 2, 3]);
      expect(await storedState.keep(HERE, 'req_1', sealed, LATER)).toBe('kept');
      expect(await storedState.keep(HERE, 'req_2', sealed, LATER + 1)).toBe('kept');
      expect(Buffer.from((await storedState.readKept(HERE, 'req_1')) ?? [])).toEqual(sealed);
      for (const other of [
        { ...HERE, workspace: 'team' },
        { ...HERE, account: 'acme' },
      ]) {
        expect(await storedState.readKept(other, 'req_1')).toBeNull();
        await storedState.forget(other, 'req_1');
      }
      await storedState.sweep(LATER);
      expect(await storedState.readKept(HERE, 'req_1')).toBeNull();
      expect(await storedState.readKept(HERE, 'req_2')).not.toBeNull();
      await storedState.forget(HERE, 'req_2');
      expect(await storedState.readKept(HERE, 'req_2')).toBeNull();
    });

    test('is found among thousands of ids', async () => {
      const rig = await open();
      const things = Array.from({ length: 2_000 }, (_, at) => ({ kind: 'item', id: `msg_${at}` }));
      await end(rig, 'req_1', left({ things }));
      const ids = Array.from({ length: 20_000 }, (_, at) => `msg_${at}`);
      expect(await rig.store.storedState.find(HERE, ids, NOW)).toHaveLength(2_000);
    });
  });
}

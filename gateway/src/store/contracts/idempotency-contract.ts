/** Tests any implementation of the idempotency store against its contract. */
import { afterEach, describe, expect, test } from 'bun:test';
import { IDEMPOTENCY_KEPT_MS, type IdempotencyStore, NOT_STORED_REASONS, type RunName } from '../ports/idempotency.ts';

/** A store under test. */
export interface OpenedIdempotencyStore {
  readonly store: IdempotencyStore;
  /** Discards in-memory state, as a crash does, and reopens what is durable. */
  reopen(): Promise<OpenedIdempotencyStore>;
  close(): Promise<void>;
}

const NOW = 1_790_000_000_000;
const AFTER = NOW + IDEMPOTENCY_KEPT_MS;
const SHARE_BYTES_MAX = 1_000;
let calls = 0;

function runOf(changes: Partial<RunName> = {}): RunName {
  calls += 1;
  return { keyId: 'key_1', nameHash: 'aa', bodyHash: 'bb', callId: `req_${calls}`, ...changes };
}

const isRefused = (asked: Promise<unknown>) =>
  asked.then(
    () => false,
    () => true,
  );

const answerOf = (length: number) => Buffer.from(Array.from({ length }, (_, at) => at % 256));

/** Runs the suite; `open` receives the size limit on the answers of one key, and opens an empty store. */
export function idempotencyContract(
  name: string,
  open: (shareBytesMax: number) => Promise<OpenedIdempotencyStore>,
): void {
  let opened: OpenedIdempotencyStore;
  const start = async () => {
    opened = await open(SHARE_BYTES_MAX);
    return opened.store;
  };
  const restart = async () => {
    opened = await opened.reopen();
    return opened.store;
  };
  afterEach(() => opened.close());

  describe(`${name}: a run`, () => {
    test('begins once, however many begin at the same time', async () => {
      const store = await start();
      const met = await Promise.all(Array.from({ length: 40 }, () => store.begin(runOf(), NOW)));
      expect(met.filter(({ kind }) => kind === 'began')).toHaveLength(1);
      expect(met.filter(({ kind }) => kind === 'running')).toHaveLength(39);
    });

    test('is met by its name under its key only', async () => {
      const store = await start();
      for (const other of [{}, { nameHash: 'ac' }, { keyId: 'key_2' }]) {
        expect(await store.begin(runOf(other), NOW)).toEqual({ kind: 'began' });
      }
    });

    test('gives its answer, byte for byte, also after a restart', async () => {
      const store = await start();
      const run = runOf();
      await store.begin(run, NOW);
      const sealed = answerOf(700);
      expect(await store.keep(run, sealed)).toBe('kept');
      for (const reach of [async () => store, restart]) {
        const met = await (await reach()).begin(runOf(), AFTER - 1);
        if (met.kind !== 'replay') throw new Error(`met ${met.kind}`);
        expect(met.run).toEqual(run);
        expect(Buffer.from(met.sealed).equals(sealed)).toBe(true);
      }
    });

    test('refuses another body at each of its stages', async () => {
      const store = await start();
      const run = runOf();
      const other = () => runOf({ bodyHash: 'cc' });
      await store.begin(run, NOW);
      expect(await store.begin(other(), NOW)).toEqual({ kind: 'other_body' });
      await store.keep(run, answerOf(1));
      expect(await store.begin(other(), NOW)).toEqual({ kind: 'other_body' });
      expect(await (await restart()).begin(other(), NOW)).toEqual({ kind: 'other_body' });
    });

    test('was cut where its process died, and stays so', async () => {
      await (await start()).begin(runOf(), NOW);
      for (let restarts = 0; restarts < 2; restarts++) {
        expect(await (await restart()).begin(runOf(), NOW + 1)).toEqual({ kind: 'cut' });
      }
    });

    test.each(NOT_STORED_REASONS)(
      'that ended without an answer says why (%s), also after a restart',
      async (reason) => {
        const store = await start();
        const run = runOf();
        await store.begin(run, NOW);
        await store.end(run, reason);
        expect(await store.begin(runOf(), NOW)).toEqual({ kind: 'not_stored', reason });
        expect(await (await restart()).begin(runOf(), NOW)).toEqual({ kind: 'not_stored', reason });
      },
    );

    test('that was forgotten never was', async () => {
      const store = await start();
      const run = runOf();
      await store.begin(run, NOW);
      await store.forget(run);
      expect(await store.begin(runOf({ bodyHash: 'cc' }), NOW)).toEqual({ kind: 'began' });
    });

    test('has one end: a second is refused and changes nothing', async () => {
      const store = await start();
      const run = runOf();
      await store.begin(run, NOW);
      await store.keep(run, answerOf(3));
      expect(await isRefused(store.end(run, 'incomplete'))).toBe(true);
      expect(await isRefused(store.forget(run))).toBe(true);
      expect(await isRefused(store.keep(run, answerOf(4)))).toBe(true);
      expect(await store.begin(runOf(), NOW)).toMatchObject({ kind: 'replay', sealed: new Uint8Array(answerOf(3)) });
    });

    test('whose end could not be kept is cut, not running for ever', async () => {
      const store = await start();
      const run = runOf();
      await store.begin(run, NOW);
      // A call that did not begin the run cannot end it.
      expect(await isRefused(store.end(runOf(), 'incomplete'))).toBe(true);
      expect(await store.begin(runOf(), NOW)).toEqual({ kind: 'running' });
      await opened.close();
      expect(await isRefused(store.end(run, 'incomplete'))).toBe(true);
      expect(await (await restart()).begin(runOf(), NOW)).toEqual({ kind: 'cut' });
    });
  });

  describe(`${name}: the time that a run is remembered`, () => {
    test('ends to the millisecond; then its name is free for any body', async () => {
      const store = await start();
      const run = runOf();
      await store.begin(run, NOW);
      await store.keep(run, answerOf(5));
      expect(await store.begin(runOf(), AFTER - 1)).toMatchObject({ kind: 'replay' });
      expect(await store.begin(runOf({ bodyHash: 'cc' }), AFTER)).toEqual({ kind: 'began' });
    });

    test('of many that begin again at the same time one begins', async () => {
      const store = await start();
      const run = runOf();
      await store.begin(run, NOW);
      await store.keep(run, answerOf(5));
      const met = await Promise.all(Array.from({ length: 20 }, () => store.begin(runOf(), AFTER)));
      expect(met.filter(({ kind }) => kind === 'began')).toHaveLength(1);
      expect(met.filter(({ kind }) => kind === 'running')).toHaveLength(19);
    });

    test('is kept by the sweep, whatever the end of the run', async () => {
      const store = await start();
      const begin = async (nameHash: string, atMs: number) => {
        const run = runOf({ nameHash });
        await store.begin(run, atMs);
        return run;
      };
      await store.keep(await begin('kept', NOW), answerOf(10));
      await store.end(await begin('ended', NOW - 5), 'too_large');
      await begin('cut', NOW - 9);
      const many = Array.from({ length: 70 }, (_, more) => begin(`many ${more}`, NOW - 10));
      await Promise.all(many.map(async (run) => store.end(await run, 'incomplete')));
      await store.keep(await begin('young', NOW + 1), answerOf(10));
      expect(await store.sweep(AFTER)).toBe(73);
      expect(await store.sweep(AFTER)).toBe(0);
      expect(await store.begin(runOf({ nameHash: 'young' }), AFTER)).toMatchObject({ kind: 'replay' });
      expect(await store.begin(runOf({ nameHash: 'kept' }), AFTER)).toEqual({ kind: 'began' });
    });
  });

  describe(`${name}: the answers of one key`, () => {
    test('have a bound together; what is over it is remembered without its answer, and no other key suffers', async () => {
      const store = await start();
      const keep = async (bytes: number, keyId = 'key_1') => {
        const run = runOf({ keyId, nameHash: `name ${++calls}` });
        await store.begin(run, NOW);
        return { run, outcome: await store.keep(run, answerOf(bytes)) };
      };
      expect((await keep(SHARE_BYTES_MAX + 1)).outcome).toBe('no_room');
      expect((await keep(SHARE_BYTES_MAX - 1)).outcome).toBe('kept');
      const over = await keep(2);
      expect(over.outcome).toBe('no_room');
      expect(await store.begin({ ...over.run, callId: 'req_again' }, NOW)).toEqual({
        kind: 'not_stored',
        reason: 'no_room',
      });
      expect((await keep(1)).outcome).toBe('kept');
      expect((await keep(SHARE_BYTES_MAX, 'key_2')).outcome).toBe('kept');
    });

    test('make room when they go: by the sweep, and where a name is used again', async () => {
      const store = await start();
      const keep = async (nameHash: string, atMs: number) => {
        const run = runOf({ nameHash });
        await store.begin(run, atMs);
        return store.keep(run, answerOf(SHARE_BYTES_MAX));
      };
      expect(await keep('one', NOW)).toBe('kept');
      expect(await keep('two', NOW + 1)).toBe('no_room');
      await store.sweep(AFTER);
      expect(await keep('three', AFTER)).toBe('kept');
      expect(await keep('three', AFTER + IDEMPOTENCY_KEPT_MS)).toBe('kept');
    });
  });
}

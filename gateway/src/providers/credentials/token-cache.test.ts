/** Tests token-cache.ts: one exchange for parallel requests, renewal before the end, and failures while a token is valid. */
import { describe, expect, test } from 'bun:test';
import { Secret } from '../../lib/secret.ts';
import type { RequestCredential } from '../provider.ts';
import { FakeSurroundings } from './testing/fake-surroundings.ts';
import { perCredential, type Token, TokenCache } from './token-cache.ts';

const MINUTE_MS = 60_000;

/** A cache whose exchanges the test answers; each token is valid for an hour. */
function openCache(marginMs?: number) {
  const machine = new FakeSurroundings();
  const open: Array<PromiseWithResolvers<Token>> = [];
  let exchanges = 0;
  const exchange = () => {
    const next = Promise.withResolvers<Token>();
    open.push(next);
    exchanges += 1;
    return next.promise;
  };
  const answer = (text: string, minutes = 60) =>
    open.shift()?.resolve({ secret: new Secret(text), expiresMs: machine.now + minutes * MINUTE_MS });
  const cache = new TokenCache('the token', exchange, machine, marginMs);
  return {
    cache,
    machine,
    answer,
    refuse: (why: string) => open.shift()?.reject(new Error(why)),
    count: () => exchanges,
  };
}

const textOf = async (token: Token | Promise<Token>) => (await token).secret.reveal();

describe('a token', () => {
  test('is exchanged once for 200 parallel requests, and then given at once', async () => {
    const { cache, answer, count } = openCache();
    const asked = Array.from({ length: 200 }, () => textOf(cache.get()));
    answer('t1');
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['t1']));
    expect(count()).toBe(1);
    expect(cache.get()).not.toBeInstanceOf(Promise);
  });

  test('is renewed once in the background 3 min 45 s before its end, while it is used', async () => {
    const { cache, machine, answer, count } = openCache();
    const first = textOf(cache.get());
    answer('t1');
    await first;
    machine.now += 56 * MINUTE_MS;
    expect([await textOf(cache.get()), count()]).toEqual(['t1', 1]);
    machine.now += 15_000;
    const during = Array.from({ length: 200 }, () => cache.get());
    expect(during.every((token) => !(token instanceof Promise))).toBe(true);
    expect(count()).toBe(2);
    answer('t2');
    await Bun.sleep(0);
    expect(await textOf(cache.get())).toBe('t2');
  });

  test('stays in use with a warning where its renewal fails, which is tried again after a pause', async () => {
    const { cache, machine, answer, refuse, count } = openCache();
    const first = textOf(cache.get());
    answer('t1');
    await first;
    machine.now += 57 * MINUTE_MS;
    cache.get();
    refuse('HTTP 503');
    await Bun.sleep(0);
    expect(machine.warnings).toEqual(['the token could not be renewed, and is still valid: HTTP 503']);
    machine.now += 29_000;
    expect([await textOf(cache.get()), count()]).toEqual(['t1', 2]);
    machine.now += 1_000;
    expect([await textOf(cache.get()), count()]).toEqual(['t1', 3]);
  });

  test('that is over is waited for, and a failure reaches each request that waits', async () => {
    const { cache, machine, answer, refuse, count } = openCache();
    const first = textOf(cache.get());
    answer('t1');
    await first;
    machine.now += 60 * MINUTE_MS;
    const asked = [cache.get(), cache.get()];
    refuse('HTTP 400');
    for (const one of asked) await expect(Promise.resolve(one)).rejects.toThrow('HTTP 400');
    const again = textOf(cache.get());
    answer('t2');
    expect([await again, count()]).toEqual(['t2', 3]);
  });

  test('that the provider refuses is exchanged again, unless it is new', async () => {
    const { cache, machine, answer, count } = openCache();
    const asked = cache.get();
    answer('t1');
    const first = await asked;
    machine.now += MINUTE_MS - 1;
    expect([cache.discard(first), await textOf(cache.get())]).toEqual([false, 't1']);
    machine.now += 1;
    expect(cache.discard(first)).toBe(true);
    const next = textOf(cache.get());
    answer('t2');
    expect([await next, count()]).toEqual(['t2', 2]);
  });

  test('that the provider refuses to 200 concurrent requests is exchanged again once, for all of them', async () => {
    const { cache, machine, answer, count } = openCache();
    const asked = cache.get();
    answer('t1');
    const first = await asked;
    machine.now += MINUTE_MS;
    const early = Array.from({ length: 100 }, () => [cache.discard(first), textOf(cache.get())] as const);
    answer('t2');
    await Bun.sleep(0);
    const late = Array.from({ length: 100 }, () => [cache.discard(first), textOf(cache.get())] as const);
    for (const [isOther, next] of [...early, ...late]) expect([isOther, await next]).toEqual([true, 't2']);
    expect(count()).toBe(2);
    expect(cache.discard(await cache.get())).toBe(false);
  });

  test('keeps its age when the clock is set back', async () => {
    const { cache, machine, answer } = openCache();
    const asked = cache.get();
    answer('t1');
    const first = await asked;
    machine.now -= 30 * MINUTE_MS;
    expect(cache.discard(first)).toBe(true);
  });

  test('may never expire, and may be renewed earlier', async () => {
    const { cache, machine, answer, count } = openCache(15 * MINUTE_MS);
    const first = textOf(cache.get());
    answer('t1');
    await first;
    machine.now += 45 * MINUTE_MS - 1;
    expect([await textOf(cache.get()), count()]).toEqual(['t1', 1]);
    machine.now += 1;
    expect([await textOf(cache.get()), count()]).toEqual(['t1', 2]);
    answer('t2', Number.POSITIVE_INFINITY);
    await Bun.sleep(0);
    machine.now += 365 * 24 * 60 * MINUTE_MS;
    expect([await textOf(cache.get()), count()]).toEqual(['t2', 2]);
  });

  test('that comes expired is refused', async () => {
    const { cache, answer } = openCache();
    const asked = Promise.resolve(cache.get());
    answer('t1', 0);
    await expect(asked).rejects.toThrow('the token came expired');
  });
});

test('a value belongs to one credential, whatever objects carry it', () => {
  let made = 0;
  const create = perCredential((_, key) => `${key}${made++}`);
  const credential = (secrets: RequestCredential['secrets']): RequestCredential => ({
    secrets,
    source: null,
    settings: {},
    hide: () => undefined,
  });
  const [one, other] = [{}, {}];
  expect([one, one, other].map((secrets) => create(credential(secrets), 'a'))).toEqual(['a0', 'a0', 'a1']);
  expect(create(credential(one), 'b')).toBe('b2');
});

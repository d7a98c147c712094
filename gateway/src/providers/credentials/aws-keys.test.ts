/** Tests aws-keys.ts: keys are found once for all requests, renewed before they expire, and used while they are valid. */
import { describe, expect, test } from 'bun:test';
import { Secret } from '../../lib/secret.ts';
import { AwsKeyCache } from './aws-keys.ts';
import type { FoundKeys } from './aws-sts.ts';
import { FakeSurroundings } from './testing/fake-surroundings.ts';

const MINUTE_MS = 60_000;

/** A source whose searches the test ends. */
function rig() {
  const machine = new FakeSurroundings();
  const searches: Array<PromiseWithResolvers<FoundKeys>> = [];
  const cache = new AwsKeyCache(() => {
    const search = Promise.withResolvers<FoundKeys>();
    searches.push(search);
    return search.promise;
  }, machine);
  const give = (name: string, minutes: number | null) => {
    searches.at(-1)?.resolve({
      accessKeyId: name,
      secretAccessKey: new Secret('s'),
      sessionToken: null,
      expiresMs: minutes === null ? null : machine.now + minutes * MINUTE_MS,
      from: 'a test',
    });
  };
  const get = async () => (await cache.get()).accessKeyId;
  return { machine, searches, cache, give, get };
}

describe('keys', () => {
  test('are found once for 200 requests at a time', async () => {
    const { searches, give, get } = rig();
    const all = Array.from({ length: 200 }, get);
    give('one', 60);
    expect(new Set(await Promise.all(all))).toEqual(new Set(['one']));
    expect([searches.length, await get(), searches.length]).toEqual([1, 'one', 1]);
  });

  test('without an expiry are kept', async () => {
    const { machine, searches, give, get } = rig();
    const first = get();
    give('static', null);
    await first;
    machine.now += 365 * 24 * 60 * MINUTE_MS;
    expect([await get(), searches.length]).toEqual(['static', 1]);
  });

  test('are renewed in the background from 15 minutes before they expire', async () => {
    const { machine, searches, give, get } = rig();
    const first = get();
    give('one', 60);
    await first;
    machine.now += 45 * MINUTE_MS - 1;
    expect([await get(), searches.length]).toEqual(['one', 1]);
    machine.now += 1;
    expect([await get(), await get(), searches.length]).toEqual(['one', 'one', 2]);
    give('two', 60);
    await Bun.sleep(0);
    expect([await get(), searches.length]).toEqual(['two', 2]);
  });

  test('are waited for from 10 minutes before they expire', async () => {
    const { machine, searches, give, get } = rig();
    const first = get();
    give('one', 60);
    await first;
    machine.now += 50 * MINUTE_MS;
    const all = Array.from({ length: 200 }, get);
    give('two', 60);
    expect([new Set(await Promise.all(all)), searches.length]).toEqual([new Set(['two']), 2]);
  });

  test('that cannot be renewed are used while they are valid, with one warning a time', async () => {
    const { machine, searches, give, get } = rig();
    const first = get();
    give('one', 60);
    await first;
    machine.now += 55 * MINUTE_MS;
    const all = [get(), get(), get()];
    searches.at(-1)?.reject(new Error('STS is down'));
    expect(await Promise.all(all)).toEqual(['one', 'one', 'one']);
    expect(machine.warnings).toEqual([
      'AWS credentials from a test could not be renewed, and are still valid: STS is down',
    ]);
    expect([await get(), searches.length]).toEqual(['one', 2]);
    machine.now += MINUTE_MS;
    const again = get();
    expect(searches.length).toBe(3);
    searches.at(-1)?.reject(new Error('still down'));
    expect([await again, machine.warnings.length]).toEqual(['one', 2]);
    machine.now += 5 * MINUTE_MS;
    const expired = get();
    searches.at(-1)?.reject(new Error('down for good'));
    await expect(expired).rejects.toThrow('down for good');
  });

  test('that expire soon are not renewed at each request', async () => {
    const { machine, searches, give, get } = rig();
    const first = get();
    give('short', 5);
    await first;
    machine.now += 10_000;
    expect([await get(), searches.length]).toEqual(['short', 1]);
  });

  test('that have expired already are refused', async () => {
    const { give, get } = rig();
    const first = get();
    give('old', 0);
    await expect(first).rejects.toThrow('gave expired credentials');
  });

  test('that AWS refused are replaced, once', async () => {
    const { searches, cache, give, get } = rig();
    const first = get();
    give('one', null);
    await first;
    cache.discard('another');
    expect([await get(), searches.length]).toEqual(['one', 1]);
    cache.discard('one');
    const second = get();
    give('two', null);
    expect([await second, searches.length]).toEqual(['two', 2]);
    cache.discard('one');
    expect(await get()).toBe('two');
  });
});

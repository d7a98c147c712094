/** Tests any implementation of the provider store against its contract. */
import { describe, expect, test } from 'bun:test';
import type { StoredPrice, StoredProvider, StoredProviderTest } from '../ports/providers.ts';
import { outcomeOf, type StoreRig, startRigs } from './store-rig.ts';

const PROVIDER: StoredProvider = {
  name: 'lab',
  kind: 'openai-compatible',
  baseUrl: 'https://api.example.com/v1',
  models: [{ name: 'a', upstream: 'b' }],
  sealed: 'AAAA',
  last4: 'wxyz',
  createdAtMs: 5,
  updatedAtMs: 5,
};
const TESTED: StoredProviderTest = {
  provider: 'lab',
  origin: 'https://api.example.com',
  atMs: 7,
  ok: false,
  message: 'no',
  durationMs: 1.5,
};
const PRICE: StoredPrice = {
  model: 'a',
  fromMs: 9,
  rates: { input: '1', output: '2' },
  createdBy: 'person:1',
  createdAtMs: 8,
};

/** Runs the suite; `openRig` opens new data. */
export function testProviders(name: string, openRig: () => Promise<StoreRig<'providers'>>): void {
  describe(`${name} as a provider store`, () => {
    const open = startRigs(openRig);

    test('providers, tests and prices come back after a restart, in order of creation', async () => {
      const rig = await open();
      const first = rig.store.providers;
      const unsealed = { ...PROVIDER, name: 'open', sealed: null, last4: null, models: [], createdAtMs: 4 };
      await first.saveProvider(PROVIDER, true);
      await first.saveProvider(unsealed, true);
      await first.saveTest(TESTED);
      await first.saveTest({ ...TESTED, ok: true });
      await first.addPrice(PRICE);
      await first.addPrice({ ...PRICE, rates: null });
      await rig.restart();
      const { providers } = rig.store;
      expect(await providers.readProviders()).toEqual([unsealed, PROVIDER]);
      expect(await providers.readTests()).toEqual([{ ...TESTED, ok: true }]);
      expect(await providers.readPrices()).toEqual([PRICE, { ...PRICE, rates: null }]);
      await providers.saveProvider({ ...PROVIDER, sealed: 'BBBB', updatedAtMs: 6, createdAtMs: 99 }, false);
      await providers.removeProvider('open');
      expect(await providers.readProviders()).toEqual([{ ...PROVIDER, sealed: 'BBBB', updatedAtMs: 6 }]);
    });

    test('rejects a name that is taken, and one that does not exist', async () => {
      const { providers } = (await open()).store;
      await providers.saveProvider(PROVIDER, true);
      expect(await outcomeOf(providers.saveProvider(PROVIDER, true))).toBe('conflict');
      expect(await outcomeOf(providers.saveProvider({ ...PROVIDER, name: 'x' }, false))).toBe('conflict');
      expect(await outcomeOf(providers.removeProvider('x'))).toBe('conflict');
    });
  });
}

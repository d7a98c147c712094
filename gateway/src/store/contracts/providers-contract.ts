/** Tests any implementation of the provider store against its contract. */
import { describe, expect, test } from 'bun:test';
import { BY_COMMAND_LINE, type NewAuditEntry } from '../ports/audit.ts';
import type {
  StoredCredential,
  StoredPrice,
  StoredProvider,
  StoredProviderTest,
  StoredRoute,
} from '../ports/providers.ts';
import { outcomeOf, type StoreRig, startRigs } from './store-rig.ts';

const PROVIDER: StoredProvider = {
  name: 'lab',
  kind: 'openai-compatible',
  baseUrl: 'https://api.example.com/v1',
  settings: { region: 'eu-central-1' },
  models: [{ name: 'a', upstream: 'b' }],
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

const CREDENTIAL: StoredCredential = {
  provider: 'lab',
  name: 'default',
  sealed: 'AAAA',
  last4: 'wxyz',
  weight: 1,
  organisation: null,
  models: null,
  createdAtMs: 5,
  updatedAtMs: 5,
};
const ROUTE: StoredRoute = {
  model: 'a',
  definition: { targets: [{ provider: 'lab', model: 'b', tags: ['eu'] }], routing: { strategy: 'weight' } },
  createdAtMs: 5,
  updatedAtMs: 5,
};
const OUT = { kind: 'target', owner: 'a', name: 'lab/b', sinceMs: 7 } as const;
const AUDIT = { account: 'default', workspaces: null, beforeSeq: null, actor: null, act: null, subject: null } as const;

function entryOf(act: string): NewAuditEntry {
  const subject = { kind: 'provider', id: 'lab' };
  return { atMs: 1, account: 'default', workspace: null, by: BY_COMMAND_LINE, act, subject, before: null, after: {} };
}

/** Runs the suite; `openRig` opens new data. */
export function testProviders(name: string, openRig: () => Promise<StoreRig<'providers' | 'audit'>>): void {
  describe(`${name} as a provider store`, () => {
    const open = startRigs(openRig);

    test('providers, tests and prices come back after a restart, in order of creation', async () => {
      const rig = await open();
      const later = { ...PROVIDER, name: 'open', models: [], createdAtMs: 4 };
      await rig.store.providers.save([
        { of: 'provider', isNew: true, provider: PROVIDER },
        { of: 'provider', isNew: true, provider: later },
        { of: 'test', test: TESTED },
        { of: 'test', test: { ...TESTED, ok: true } },
        { of: 'price', price: PRICE },
        { of: 'price', price: { ...PRICE, rates: null } },
      ]);
      await rig.restart();
      const { providers } = rig.store;
      expect(await providers.readProviders()).toEqual([later, PROVIDER]);
      expect(await providers.readTests()).toEqual([{ ...TESTED, ok: true }]);
      expect(await providers.readPrices()).toEqual([PRICE, { ...PRICE, rates: null }]);
      const changed = { ...PROVIDER, models: [], updatedAtMs: 6 };
      await providers.save([
        { of: 'provider', isNew: false, provider: { ...changed, createdAtMs: 99 } },
        { of: 'provider', removed: 'open' },
      ]);
      expect(await providers.readProviders()).toEqual([changed]);
    });

    test('credentials and routes come back after a restart; a provider goes with its credentials', async () => {
      const rig = await open();
      const spare = { ...CREDENTIAL, name: 'spare', weight: 3, organisation: 'acme', models: ['b'], createdAtMs: 6 };
      await rig.store.providers.save([
        { of: 'provider', isNew: true, provider: PROVIDER },
        { of: 'credential', isNew: true, credential: spare },
        { of: 'credential', isNew: true, credential: CREDENTIAL },
        { of: 'route', isNew: true, route: ROUTE },
        { of: 'route', isNew: true, route: { ...ROUTE, model: 'z', createdAtMs: 1 } },
      ]);
      await rig.restart();
      const { providers } = rig.store;
      expect(await providers.readCredentials()).toEqual([CREDENTIAL, spare]);
      expect(await providers.readRoutes()).toEqual([{ ...ROUTE, model: 'z', createdAtMs: 1 }, ROUTE]);
      await providers.save([
        { of: 'credential', isNew: false, credential: { ...spare, sealed: 'BBBB', createdAtMs: 99 } },
        { of: 'credential', removed: CREDENTIAL },
        { of: 'route', isNew: false, route: { ...ROUTE, definition: { targets: [] }, createdAtMs: 99 } },
        { of: 'route', removed: 'z' },
      ]);
      expect(await providers.readCredentials()).toEqual([{ ...spare, sealed: 'BBBB' }]);
      expect(await providers.readRoutes()).toEqual([{ ...ROUTE, definition: { targets: [] } }]);
      await providers.save([{ of: 'provider', removed: 'lab' }]);
      expect(await providers.readCredentials()).toEqual([]);
    });

    test('a target out of rotation stays so over a restart, since its first time, until it is put back', async () => {
      const rig = await open();
      const credential = { kind: 'credential', owner: 'lab', name: 'spare', sinceMs: 8 } as const;
      await rig.store.providers.save([
        { of: 'out_of_rotation', out: OUT },
        { of: 'out_of_rotation', out: credential },
        { of: 'out_of_rotation', out: { ...OUT, sinceMs: 99 } },
      ]);
      await rig.restart();
      expect(await rig.store.providers.readOutOfRotation()).toEqual([credential, OUT]);
      const back = { of: 'out_of_rotation', back: OUT } as const;
      await rig.store.providers.save([back, back]);
      expect(await rig.store.providers.readOutOfRotation()).toEqual([credential]);
    });

    test('rejects a name that is taken, and one that does not exist', async () => {
      const { providers } = (await open()).store;
      await providers.save([
        { of: 'provider', isNew: true, provider: PROVIDER },
        { of: 'credential', isNew: true, credential: CREDENTIAL },
        { of: 'route', isNew: true, route: ROUTE },
      ]);
      for (const change of [
        { of: 'provider', isNew: true, provider: PROVIDER },
        { of: 'provider', isNew: false, provider: { ...PROVIDER, name: 'x' } },
        { of: 'provider', removed: 'x' },
        { of: 'credential', isNew: true, credential: CREDENTIAL },
        { of: 'credential', isNew: false, credential: { ...CREDENTIAL, name: 'x' } },
        { of: 'credential', removed: { provider: 'lab', name: 'x' } },
        { of: 'route', isNew: true, route: ROUTE },
        { of: 'route', isNew: false, route: { ...ROUTE, model: 'x' } },
        { of: 'route', removed: 'x' },
      ] as const) {
        expect(await outcomeOf(providers.save([change]))).toBe('conflict');
      }
      const ofNone = { ...CREDENTIAL, provider: 'x' };
      expect(await outcomeOf(providers.save([{ of: 'credential', isNew: true, credential: ofNone }]))).not.toBe('kept');
    });

    test('stores a change together with its audit entry, or neither', async () => {
      const { providers, audit } = (await open()).store;
      await providers.save([{ of: 'provider', isNew: true, provider: PROVIDER }], [entryOf('providers.create')]);
      const refused = providers.save([{ of: 'route', removed: 'x' }], [entryOf('routes.remove')]);
      expect(await outcomeOf(refused)).toBe('conflict');
      const entries = await audit.read({ ...AUDIT, fromMs: null, toMs: null, limit: 10 });
      expect(entries.map(({ act }) => act)).toEqual(['providers.create']);
    });
  });
}

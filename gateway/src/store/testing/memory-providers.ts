/** Implements the provider store in memory, for tests. */
import type { NewAuditEntry } from '../ports/audit.ts';
import type {
  ProviderChange,
  ProviderStore,
  RotationSubject,
  StoredCredential,
  StoredOutOfRotation,
  StoredPrice,
  StoredProvider,
  StoredProviderTest,
  StoredRoute,
} from '../ports/providers.ts';
import { ConstraintViolation } from '../ports/store-errors.ts';

interface Tables {
  readonly providers: Map<string, StoredProvider>;
  readonly credentials: Map<string, StoredCredential>;
  readonly routes: Map<string, StoredRoute>;
  readonly out: Map<string, StoredOutOfRotation>;
  readonly tests: Map<string, StoredProviderTest>;
  readonly prices: StoredPrice[];
}

/** New data. `onKept` gets the audit entries of each change. */
export function createMemoryProviders(
  onKept: (entries: readonly NewAuditEntry[]) => void = () => undefined,
): ProviderStore {
  let tables: Tables = {
    providers: new Map(),
    credentials: new Map(),
    routes: new Map(),
    out: new Map(),
    tests: new Map(),
    prices: [],
  };
  return {
    readProviders: async () => byCreation(tables.providers),
    readCredentials: async () => byCreation(tables.credentials).sort((one, two) => compare(one.provider, two.provider)),
    readRoutes: async () => byCreation(tables.routes),
    readOutOfRotation: async () => [...tables.out].sort(([one], [two]) => compare(one, two)).map(([, out]) => out),
    readTests: async () => [...tables.tests.values()].sort((one, two) => compare(one.provider, two.provider)),
    readPrices: async () => tables.prices,
    async save(changes, entries = []) {
      const next: Tables = {
        providers: new Map(tables.providers),
        credentials: new Map(tables.credentials),
        routes: new Map(tables.routes),
        out: new Map(tables.out),
        tests: new Map(tables.tests),
        prices: [...tables.prices],
      };
      for (const change of changes) apply(next, change);
      tables = next;
      onKept(entries);
    },
  };
}

function apply(tables: Tables, change: ProviderChange): void {
  const { providers, credentials, routes, out } = tables;
  switch (change.of) {
    case 'provider':
      if (!('removed' in change)) return void put(providers, change.provider.name, change.provider, change.isNew);
      remove(providers, change.removed);
      for (const [place, one] of credentials) if (one.provider === change.removed) credentials.delete(place);
      return;
    case 'credential':
      if ('removed' in change) return void remove(credentials, placeOf(change.removed));
      if (!providers.has(change.credential.provider)) throw new ConstraintViolation('invalid', 'an unknown provider');
      return void put(credentials, placeOf(change.credential), change.credential, change.isNew);
    case 'route':
      if ('removed' in change) return void remove(routes, change.removed);
      return void put(routes, change.route.model, change.route, change.isNew);
    case 'out_of_rotation':
      if ('back' in change) return void out.delete(rotationPlace(change.back));
      if (!out.has(rotationPlace(change.out))) out.set(rotationPlace(change.out), change.out);
      return;
    case 'price':
      return void tables.prices.push(change.price);
    case 'test':
      return void tables.tests.set(change.test.provider, change.test);
  }
}

/** Creates the item, or replaces all of it but its creation time. */
function put<Item extends { readonly createdAtMs: number }>(
  items: Map<string, Item>,
  place: string,
  item: Item,
  isNew: boolean,
): void {
  const before = items.get(place);
  if (isNew !== (before === undefined)) throw conflict(`${place} ${isNew ? 'exists already' : 'does not exist'}`);
  items.set(place, before === undefined ? item : { ...item, createdAtMs: before.createdAtMs });
}

function remove(items: Map<string, unknown>, place: string): void {
  if (!items.delete(place)) throw conflict(`${place} does not exist`);
}

function conflict(message: string): ConstraintViolation {
  return new ConstraintViolation('conflict', message);
}

function placeOf({ provider, name }: Pick<StoredCredential, 'provider' | 'name'>): string {
  return JSON.stringify([provider, name]);
}

function rotationPlace({ kind, owner, name }: RotationSubject): string {
  return JSON.stringify([kind, owner, name]);
}

function byCreation<Item extends { readonly createdAtMs: number }>(items: ReadonlyMap<string, Item>): Item[] {
  return [...items]
    .sort(([one, { createdAtMs: first }], [two, { createdAtMs: second }]) => first - second || compare(one, two))
    .map(([, item]) => item);
}

function compare(one: string, two: string): number {
  return one < two ? -1 : Number(one > two);
}

/**
 * Tests which models are served once entries of the console join the configuration, and which entries are not used,
 * with the reason.
 */
import { describe, expect, setSystemTime, test } from 'bun:test';
import { priceAt } from '../billing/price-book.ts';
import { listModels } from '../catalog/catalog.ts';
import { loadConfig } from '../config/load-config.ts';
import { createKeyDirectory } from '../identity/key-directory.ts';
import { Secret } from '../lib/secret.ts';
import { createTurns } from '../lib/turns.ts';
import { createCredentialSeal } from '../providers/credentials/credential-seal.ts';
import { NEVER_CALLED } from '../routing/health/provider-health.ts';
import { createChangeFeed } from '../store/memory/change-feed.ts';
import type { ChangeFeed } from '../store/ports/change-feed.ts';
import type { ProviderStore, StoredCredential, StoredPrice, StoredProvider } from '../store/ports/providers.ts';
import { openModels } from './open-models.ts';

const MASTER_KEY = new Secret('5'.repeat(64));
const seal = createCredentialSeal(MASTER_KEY);

const DAY_MS = 86_400_000;
const ORIGIN = 'https://api.example.com';

function entryOf(name: string, changes: Partial<StoredProvider> = {}): StoredProvider {
  return {
    name,
    kind: 'openai-compatible',
    baseUrl: `${ORIGIN}/v1`,
    settings: {},
    models: [{ name: 'shared', upstream: `of-${name}` }],
    createdAtMs: 1,
    updatedAtMs: 1,
    ...changes,
  };
}

/** The first credential of a provider, sealed for an origin. */
function credentialOf(provider: string, origin = ORIGIN): StoredCredential {
  const secrets = { api_key: new Secret(`secret of ${provider}`) };
  const sealed = seal.seal({ tenant: 'default', provider, origin }, secrets);
  const settings = { weight: 1, organisation: null, models: null };
  return { provider, name: 'default', sealed, last4: 'xxxx', ...settings, createdAtMs: 1, updatedAtMs: 1 };
}

interface Plan {
  readonly entries: readonly StoredProvider[];
  /** Default: one for each entry. */
  readonly credentials?: readonly StoredCredential[];
  readonly prices?: readonly StoredPrice[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly masterKey?: Secret;
  readonly changes?: ChangeFeed;
  readonly warn?: (text: string) => void;
}

async function open({
  entries,
  credentials,
  prices = [],
  environment = {},
  masterKey = MASTER_KEY,
  changes = createChangeFeed(),
  warn = () => undefined,
}: Plan) {
  const { config } = loadConfig({ environment, cwd: '/nowhere' });
  if (config === null) throw new Error('expected a configuration');
  const never = () => {
    throw new Error('not asked');
  };
  const book: ProviderStore = {
    readProviders: async () => entries,
    readCredentials: async () => credentials ?? entries.map(({ name }) => credentialOf(name)),
    readRoutes: async () => [],
    readOutOfRotation: async () => [],
    readTests: async () => [],
    readPrices: async () => prices,
    save: never,
  };
  return openModels({
    config,
    listed: new Map(),
    book,
    masterKey,
    directory: createKeyDirectory((text) => text, { accounts: [], workspaces: [], keys: [] }),
    readHealth: () => NEVER_CALLED,
    inTurn: createTurns(),
    log: { warn },
    changes,
    takeOver: () => undefined,
    auditEntry: never,
  });
}

const routed = ({ settings }: Awaited<ReturnType<typeof open>>, model: string) => {
  const upstream = settings.routes.get(model)?.targets[0].upstream;
  return upstream === undefined
    ? undefined
    : [upstream.provider, upstream.model, ...upstream.secrets.map((secret) => secret.reveal())];
};

describe('entries next to the configuration', () => {
  test('serve their models with their credentials; the demo stays', async () => {
    const models = await open({ entries: [entryOf('lab')] });
    expect(routed(models, 'shared')).toEqual(['lab', 'of-lab', 'secret of lab']);
    expect(routed(models, 'demo')).toEqual(['demo', 'demo']);
    expect(models.notices).toEqual([]);
  });

  test('with the same model name: the earlier entry is the first target, and the other one the next', async () => {
    const models = await open({ entries: [entryOf('one'), entryOf('two')] });
    expect(routed(models, 'shared')).toEqual(['one', 'of-one', 'secret of one']);
    expect(models.settings.routes.get('shared')?.targets.map(({ name }) => name)).toEqual(['one/of-one', 'two/of-two']);
  });

  test('without models serve the catalog’s models of the provider that the configuration does not serve', async () => {
    const entry = entryOf('anthropic-too', { kind: 'anthropic', models: [], baseUrl: 'https://api.anthropic.com/v1' });
    const credentials = [credentialOf(entry.name, 'https://api.anthropic.com')];
    const alone = await open({ entries: [entry], credentials });
    expect(routed(alone, 'claude-sonnet-4-5')).toEqual([
      'anthropic-too',
      'claude-sonnet-4-5',
      'secret of anthropic-too',
    ]);
    expect(alone.settings.routes.get('claude-sonnet-4-5')?.targets[0].prices[0].price).not.toBeNull();
    const beside = await open({ entries: [entry], credentials, environment: { ANTHROPIC_API_KEY: 'from-outside' } });
    expect(routed(beside, 'claude-sonnet-4-5')).toEqual(['anthropic', 'claude-sonnet-4-5', 'from-outside']);
    expect(beside.notices).toEqual([expect.stringContaining('Found ANTHROPIC_API_KEY')]);
  });
});

test('a model that shuts down soon is logged once, also when the server was started long before', async () => {
  const dated = listModels('anthropic').find(({ shutdown }) => shutdown !== null);
  const dateMs = Date.parse(dated?.shutdown ?? '');
  const warned: string[] = [];
  try {
    setSystemTime(dateMs - 90 * DAY_MS);
    const entry = entryOf('claude', {
      kind: 'anthropic',
      models: [{ name: 'mine', upstream: dated?.id ?? '' }],
      baseUrl: 'https://api.anthropic.com/v1',
    });
    const models = await open({
      entries: [entry],
      credentials: [credentialOf('claude', 'https://api.anthropic.com')],
      warn: (text) => void warned.push(text),
    });
    models.remind();
    expect([models.notices, warned]).toEqual([[], []]);
    setSystemTime(dateMs - 59 * DAY_MS);
    models.remind();
    models.remind();
    const place = `${dated?.id} at claude shuts down on ${dated?.shutdown} (catalogue)`;
    expect(warned).toEqual([`${place}: choose another model for mine.`]);
  } finally {
    setSystemTime();
  }
});

describe('the credentials of an entry', () => {
  const limited = (name: string, models: readonly string[] | null) => ({
    ...credentialOf('lab'),
    name,
    sealed: seal.seal(
      { tenant: 'default', provider: name === 'default' ? 'lab' : `lab/${name}`, origin: 'https://api.example.com' },
      { api_key: new Secret(`secret ${name}`) },
    ),
    models,
  });
  const models = ['a', 'b', 'c'].map((name) => ({ name, upstream: `of-${name}` }));

  test('serve the models that they may be used for, and the notice names the others', async () => {
    const credentials = [limited('default', ['of-a']), limited('spare', ['of-a', 'of-b'])];
    const opened = await open({ entries: [entryOf('lab', { models })], credentials });
    const names = (model: string) =>
      opened.settings.routes.get(model)?.targets[0].upstream.credentials.map(({ name }) => name);
    expect([names('a'), names('b'), names('c')]).toEqual([['default', 'spare'], ['spare'], undefined]);
    expect(opened.notices).toEqual([
      "The provider lab, entered in the console: None of its credentials may be used for 'c': add the models to a credential.",
    ]);
  });

  test('that stay at a rotation are the same in all that is learned about them', async () => {
    const changes = createChangeFeed();
    const credentials = [limited('default', null), limited('old', null)];
    const opened = await open({ entries: [entryOf('lab')], credentials, changes });
    const upstreamNow = () => opened.deps.running().settings.routes.get('shared')?.targets[0].upstream;
    const before = upstreamNow();
    credentials.splice(1, 1, limited('new', null));
    await changes.publish(Promise.resolve([{ of: 'provider', name: 'lab' }]));
    const after = upstreamNow();
    expect(after?.credentials.map(({ name }) => name)).toEqual(['default', 'new']);
    expect(after?.key).toBe(before?.key ?? '');
    expect(after?.credentials[0].key).toBe(before?.credentials[0].key ?? '');
    expect(after?.credentials[1]?.key).not.toBe(before?.credentials[1]?.key ?? '');
  });
});

describe('an entry is not used, and says why', () => {
  const problemOf = async (plan: Plan) => {
    const models = await open(plan);
    expect(models.settings.routes.has('shared')).toBe(false);
    const problems = models.notices.filter((notice) => notice.includes('entered in the console'));
    expect(problems).toHaveLength(plan.entries.length);
    return problems.join('\n');
  };

  test('with another master key', async () => {
    expect(await problemOf({ entries: [entryOf('lab')], masterKey: new Secret('6'.repeat(64)) })).toContain(
      'cannot be opened',
    );
  });

  test('with the sealed credential of another row', async () => {
    const [one, two] = [credentialOf('one'), credentialOf('two')];
    const credentials = [
      { ...one, sealed: two.sealed },
      { ...two, sealed: one.sealed },
    ];
    expect(await problemOf({ entries: [entryOf('one'), entryOf('two')], credentials })).toContain('cannot be opened');
  });

  test('without any credential, where its kind needs one', async () => {
    const entries = [entryOf('lab', { kind: 'openai' })];
    expect(await problemOf({ entries, credentials: [] })).toContain('It has no credential, and openai needs one');
  });

  test('with an address that was changed in the database', async () => {
    expect(await problemOf({ entries: [entryOf('lab', { baseUrl: 'https://evil.example/v1' })] })).toContain(
      'cannot be opened',
    );
    expect(await problemOf({ entries: [entryOf('lab', { baseUrl: 'https://127.0.0.1/v1' })] })).toContain(
      'private_origins',
    );
    expect(await problemOf({ entries: [entryOf('lab', { baseUrl: 'nonsense' })] })).toContain(
      'Its address is not used',
    );
  });

  test('with a name that the environment took', async () => {
    const plan = { entries: [entryOf('openai')], environment: { OPENAI_API_KEY: 'from-outside' } };
    expect(await problemOf(plan)).toContain('has a provider of this name');
  });

  test('with a kind of a newer version', async () => {
    expect(await problemOf({ entries: [entryOf('lab', { kind: 'later' })] })).toContain("'later'");
  });
});

describe('models that follow changes', () => {
  const namesOf = (models: Awaited<ReturnType<typeof open>>) => [...models.deps.running().models.keys()];
  const configOf = (environment: Readonly<Record<string, string>>) => {
    const { config } = loadConfig({ environment, cwd: '/nowhere' });
    if (config === null) throw new Error('expected a configuration');
    return config;
  };

  test('have a provider that was entered, and lose it', async () => {
    const [entries, changes] = [[] as StoredProvider[], createChangeFeed()];
    const models = await open({ entries, changes });
    entries.push(entryOf('lab'));
    await changes.publish(Promise.resolve([{ of: 'provider', name: 'lab' }]));
    expect(namesOf(models)).toContain('shared');
    entries.pop();
    await changes.publish(Promise.resolve([{ of: 'member', person: 'ada' }]));
    expect(namesOf(models)).toContain('shared');
    await changes.publish(Promise.resolve([{ of: 'provider', name: 'lab' }]));
    expect(namesOf(models)).not.toContain('shared');
  });

  test('keep a new configuration, whichever change of a provider is under way', async () => {
    const [entries, changes] = [[] as StoredProvider[], createChangeFeed()];
    const models = await open({ entries, changes });
    const next = configOf({ ANTHROPIC_API_KEY: 'key' });
    entries.push(entryOf('lab'));
    const entered = changes.publish(Promise.resolve([{ of: 'provider', name: 'lab' }]));
    await Promise.all([entered, models.reconfigure(next, new Map())]);
    expect(models.deps.running().settings.config).toBe(next);
    expect(namesOf(models)).toContain('shared');
  });

  test('keep the running configuration where the new one cannot be built', async () => {
    const changes = createChangeFeed();
    const models = await open({ entries: [entryOf('lab')], changes });
    const { config } = models.deps.running().settings;
    await expect(models.reconfigure({ ...config, providers: null as never }, new Map())).rejects.toThrow();
    await changes.publish(Promise.resolve([{ of: 'provider', name: 'lab' }]));
    expect(models.deps.running().settings.config).toBe(config);
  });

  test('that cannot be built do not fail a change of the console at the same time, which does not hide the failure', async () => {
    const changes = createChangeFeed();
    const entries = [entryOf('lab')];
    const models = await open({ entries, changes });
    const { config } = models.deps.running().settings;
    entries.push(entryOf('second', { models: [{ name: 'more', upstream: 'more' }] }));
    const entered = changes.publish(Promise.resolve([{ of: 'provider', name: 'second' }]));
    const reconfigured = models.reconfigure({ ...config, providers: null as never }, new Map());
    const outcomes = await Promise.allSettled([entered, reconfigured]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(namesOf(models)).toContain('more');
  });
});

test('a price that was set goes between the configuration and the catalogue', async () => {
  const price = { model: 'shared', fromMs: 1_000, rates: { input: '1', output: '2' }, createdBy: 'x', createdAtMs: 0 };
  const { settings } = await open({ entries: [entryOf('lab')], prices: [price] });
  const book = settings.routes.get('shared')?.targets[0].prices;
  if (book === undefined) throw new Error('expected a route');
  expect([priceAt(book, 999), priceAt(book, 1_000)?.output]).toEqual([null, 2_000_000n]);
});

test('a console host must be public at each connection, save where the file names it', async () => {
  const { deps } = await open({ entries: [entryOf('lab')] });
  expect(deps.running().providers[0]?.provider?.publicOnly).toBe(true);
});

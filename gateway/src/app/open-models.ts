/**
 * Combines the configuration, the entries of the console and the catalog into the served models. Rebuilt at each change
 * of either, as the change feed tells; running calls keep the settings they started with.
 */
import { groupSetPrices } from '../billing/price-book.ts';
import type { Settings } from '../call/deps.ts';
import { findModel, listModelNames } from '../catalog/catalog.ts';
import { warnOfRetirements } from '../catalog/retirements.ts';
import type { Config } from '../config/config.ts';
import { inRotation, readEntered, serveEntered } from '../config/console-entries.ts';
import { bindingOf } from '../config/console-providers.ts';
import type { ListedModels } from '../config/served-models.ts';
import type { ModelDeps, ModelEvent, Running } from '../console-api/models/model-deps.ts';
import type { KeyDirectory } from '../identity/key-directory.ts';
import type { Secret } from '../lib/secret.ts';
import type { InTurn } from '../lib/turns.ts';
import { type CredentialSeal, createCredentialSeal } from '../providers/credentials/credential-seal.ts';
import type { Secrets } from '../providers/provider.ts';
import type { ReadHealth } from '../routing/health/provider-health.ts';
import { buildRouteTable } from '../routing/route.ts';
import type { NewAuditEntry } from '../store/ports/audit.ts';
import type { Change, ChangeFeed } from '../store/ports/change-feed.ts';
import type { ProviderStore, StoredCredential } from '../store/ports/providers.ts';
import type { Log } from '../telemetry/log.ts';

export interface Models {
  /** The settings that calls use now. */
  readonly settings: Settings;
  /** What the console's model routes use. */
  readonly deps: ModelDeps;
  /** What the operator should know of the configuration and the console entries, as sentences. */
  readonly notices: readonly string[];
  /** Logs the notices that time has added since the last ones: models that shut down soon. */
  remind(): void;
  /** Applies a new configuration. Throws if it cannot be built; then nothing changes. */
  reconfigure(config: Config, listed: ListedModels): Promise<void>;
}

export interface ModelParts {
  readonly config: Config;
  /** Models that the providers themselves listed. */
  readonly listed: ListedModels;
  readonly book: ProviderStore;
  readonly masterKey: Secret;
  readonly directory: KeyDirectory;
  readonly readHealth: ReadHealth;
  /** Runs changes one at a time. */
  readonly inTurn: InTurn;
  readonly log: Pick<Log, 'warn'>;
  readonly changes: ChangeFeed;
  /** Receives each later change; calls use these settings from then on. */
  takeOver(settings: Settings): void;
  /** The audit entry of a change. */
  auditEntry(event: ModelEvent): NewAuditEntry;
}

/** Reads the console's entries and follows their changes; rejects if they cannot be read. */
export async function openModels(parts: ModelParts): Promise<Models> {
  const { book, directory, readHealth, inTurn, log, changes, takeOver, auditEntry } = parts;
  const seal = createCredentialSeal(parts.masterKey);
  let configured: Configured = parts;
  /** A new configuration that can be built, until it is in force. */
  let offered: Configured | null = null;
  let running = await build(configured, book, seal);
  let notices = noticesOf(running);
  const logNew = () => {
    const before = new Set(notices);
    notices = noticesOf(running);
    for (const notice of notices) if (!before.has(notice)) log.warn(notice);
  };

  async function reload(): Promise<void> {
    const config = offered ?? configured;
    offered = null;
    const next = await build(config, book, seal);
    [configured, running] = [config, next];
    takeOver(next.settings);
    logNew();
  }

  changes.subscribe({ reload, follow: (commit) => (commit.some(isOfModels) ? reload() : undefined) });

  return {
    settings: running.settings,
    notices,
    remind: logNew,
    async reconfigure(config, listed) {
      // Before it is offered: a change of the console that comes first must not meet its failure, nor hide it.
      await build({ config, listed }, book, seal);
      offered = { config, listed };
      return changes.publish(Promise.resolve([{ of: 'config' }]));
    },
    deps: {
      running: () => running,
      book,
      seal,
      directory,
      readHealth,
      describe: ({ provider, model }) => findModel(provider, model),
      inTurn,
      auditEntry,
      nowMs: Date.now,
    },
  };
}

const OF_MODELS: ReadonlySet<Change['of']> = new Set(['config', 'provider', 'route', 'rotation', 'price']);

function isOfModels({ of }: Change): boolean {
  return OF_MODELS.has(of);
}

interface Configured {
  readonly config: Config;
  readonly listed: ListedModels;
}

async function build({ config, listed }: Configured, book: ProviderStore, seal: CredentialSeal): Promise<Running> {
  const [entered, prices] = await Promise.all([readEntered(book), book.readPrices()]);
  const served = serveEntered(config, entered, {
    listCatalogNames: listModelNames,
    listed,
    openCredential: (credential, origin) => seal.open(bindingOf(credential, origin), credential.sealed),
  });
  const periods = groupSetPrices(prices);
  const routes = buildRouteTable(inRotation(served), findModel, (model) => periods.get(model) ?? []);
  return { ...served, settings: { config, routes } };
}

/** Seals the secrets of a credential for the origin of its provider. */
export function sealCredential(
  seal: CredentialSeal,
  credential: Pick<StoredCredential, 'provider' | 'name'>,
  origin: string,
  secrets: Secrets,
): string {
  return seal.seal(bindingOf(credential, origin), secrets);
}

const DAY_MS = 86_400_000;

/** Logs each day the notices that time has added. Returns the function that ends it. */
export function remindDaily({ remind }: Models): () => void {
  const timer = setInterval(remind, DAY_MS);
  return () => clearInterval(timer);
}

function noticesOf({ config, models, providers, routes }: Running): string[] {
  const entered = [
    ...routes.map(({ entry }) => entry.model),
    ...providers.flatMap(({ entry }) => entry.models.map(({ name }) => name)),
  ];
  const names = new Set([...(config.models?.keys() ?? []), ...entered]);
  const named = new Set([...models.values()].filter(({ name }) => names.has(name)));
  return [
    ...config.notes,
    ...warnOfRetirements(named, Date.now()),
    ...providers.flatMap(({ entry, problem }) =>
      problem === null ? [] : [`The provider ${entry.name}, entered in the console: ${problem}`],
    ),
    ...routes.flatMap(({ entry, problem }) =>
      problem === null ? [] : [`The route ${entry.model}, entered in the console: ${problem}`],
    ),
  ];
}

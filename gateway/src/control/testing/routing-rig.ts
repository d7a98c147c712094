/** Provides routing over a configuration file and a store in memory, for tests of commands on routes and credentials. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEntered, type Served, serveEntered } from '../../config/console-entries.ts';
import { bindingOf } from '../../config/console-providers.ts';
import { loadConfig } from '../../config/load-config.ts';
import { Secret } from '../../lib/secret.ts';
import { createCredentialSeal } from '../../providers/credentials/credential-seal.ts';
import type { NewAuditEntry } from '../../store/ports/audit.ts';
import type { ProviderStore, StoredProvider } from '../../store/ports/providers.ts';
import { createMemoryProviders } from '../../store/testing/memory-providers.ts';
import type { RoutePreview } from '../command.ts';
import type { ExplanationView } from '../routing/routing-shapes.ts';
import { type ControlRig, createControlRig } from './control-rig.ts';

/** Two providers and a model in the file; the provider `entered` in the console, with one credential and two models. */
const FILED = `
providers:
  filed: { kind: openai-compatible, base_url: https://filed.example/v1, api_key: secret-of-the-file }
  other: { kind: openai-compatible, base_url: https://other.example/v1, api_key: none }
models:
  from-file: { targets: [ { provider: filed }, { provider: other, name: second } ], alias: [file-alias] }
`;

const ENTERED: StoredProvider = {
  name: 'entered',
  kind: 'openai-compatible',
  baseUrl: 'https://entered.example/v1',
  settings: {},
  models: [
    { name: 'own', upstream: 'theirs' },
    { name: 'own-too', upstream: 'theirs-too' },
  ],
  createdAtMs: 1,
  updatedAtMs: 1,
};

export interface RoutingRig extends ControlRig {
  readonly book: ProviderStore;
  readonly audited: NewAuditEntry[];
  /** The targets whose breakers were closed by hand. */
  readonly closed: string[];
  /** The requests that were explained. */
  readonly explained: readonly RoutePreview[];
  /** Probes of providers wait for it. */
  readonly probing: { until: Promise<void> };
  served(): Promise<Served>;
}

const NO_EXPLANATION: Omit<ExplanationView, 'model'> = {
  protocol: 'chat',
  strategy: null,
  pin: null,
  needs: [],
  required_tags: [],
  input_tokens: null,
  refusal: null,
  targets: [],
};

const OFFERED = [
  { model: 'theirs', retires: null },
  { model: 'free', retires: { on: '2026-12-31', by: 'provider' } },
] as const;

/** `folder`: for the file. */
export async function createRoutingRig(folder: string, text = FILED): Promise<RoutingRig> {
  const file = join(folder, 'tollgate.yaml');
  writeFileSync(file, text);
  const { config, problems } = loadConfig({ cwd: folder, environment: {}, file });
  if (config === null) throw new Error(JSON.stringify(problems));
  const seal = createCredentialSeal(new Secret('5a'.repeat(32)));
  const audited: NewAuditEntry[] = [];
  const book = createMemoryProviders((entries) => void audited.push(...entries));
  const secrets = { api_key: new Secret('the-first-secret') };
  const first = { provider: 'entered', name: 'default', weight: 1, organisation: null, models: null };
  const sealed = seal.seal(bindingOf(first, 'https://entered.example'), secrets);
  await book.save([
    { of: 'provider', isNew: true, provider: ENTERED },
    { of: 'credential', isNew: true, credential: { ...first, sealed, last4: 'cret', createdAtMs: 1, updatedAtMs: 1 } },
  ]);
  const served = async () =>
    serveEntered(config, await readEntered(book), {
      listCatalogNames: () => [],
      openCredential: (credential, origin) => seal.open(bindingOf(credential, origin), credential.sealed),
    });
  const closed: string[] = [];
  const probing = { until: Promise.resolve() };
  const explained: RoutePreview[] = [];
  const rig = createControlRig({
    book,
    served,
    seal: (credential, origin, given) => seal.seal(bindingOf(credential, origin), given),
    probe: async ({ name }) => {
      await probing.until;
      return name === 'other'
        ? { ok: false, message: 'It answered 401. Enter its credential again.', models: [], isCut: false }
        : { ok: true, message: 'It has 2 models.', models: OFFERED, isCut: false };
    },
    live: {
      close: (model, target) => closed.push(`${model} ${target}`) > 0,
      states: () => ({ at: new Date(0).toISOString(), providers: [], targets: [], credentials: [], limping: [] }),
      explain: async (query) => {
        explained.push(query);
        return { ...NO_EXPLANATION, model: query.model };
      },
    },
  });
  return Object.assign(rig, { book, audited, served, closed, explained, probing });
}

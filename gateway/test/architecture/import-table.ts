/**
 * Defines the allowed imports inside gateway/src and the parts that may use each third-party package. This table is the
 * document; the tests read it.
 */

/** The lowest layer: imports nothing else of the gateway. */
const GROUND = ['lib', 'wire', 'framing', 'generation'] as const;
/** What every domain folder may import. */
const FLOOR = [
  ...GROUND,
  'tokens',
  'errors',
  'billing/money.ts',
  'config/limits.ts',
  'protocols',
  'store/ports',
] as const;
/** The domain folders. They do not import one another, except as their own row says. */
const DOMAIN = ['providers', 'upstream', 'identity', 'admission', 'billing', 'routing', 'catalog', 'config'] as const;

/**
 * Folders and files of gateway/src (a file belongs to the longest match), each with the parts it may import besides
 * itself. The implementations of ports (store/sqlite, store/memory, telemetry) are only in the rows of the parts that
 * assemble the program.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  wire: [],
  framing: [],
  generation: [],
  // The estimator reads canonical requests.
  tokens: ['generation'],
  errors: ['lib'],
  'billing/money.ts': ['lib'],
  // A table of numbers without imports, so that a format can apply the limits of a request.
  'config/limits.ts': [],
  // Records, configuration and tools name a format without knowing it.
  'protocols/names.ts': [],
  'store/ports': ['lib', 'generation', 'errors', 'protocols/names.ts'],
  protocols: [...GROUND, 'tokens', 'errors', 'billing/money.ts', 'config/limits.ts', 'protocols/names.ts'],

  // A kind opens exchanges: over HTTP, or with the demo model inside the gateway.
  providers: [...FLOOR, 'upstream', 'demo'],
  upstream: [...FLOOR],
  identity: [...FLOOR],
  admission: [...FLOOR],
  billing: [...FLOOR],
  // A route is the upstreams of a configured model, each with its price.
  routing: [
    ...FLOOR,
    'providers',
    'config/config.ts',
    'config/served-models.ts',
    'billing/price.ts',
    'billing/price-book.ts',
  ],
  // A catalog entry carries a price.
  catalog: [...FLOOR, 'billing/price.ts', 'billing/unit-prices.ts'],
  // A configuration holds providers of the registered kinds and the proxy that leads to them, and carries prices and
  // catalog entries.
  config: [...FLOOR, 'providers', 'upstream/egress-proxy.ts', 'billing/price.ts', 'catalog'],

  // The file of blocks; nothing of it knows the database.
  'store/journal': ['lib', 'generation', 'errors', 'store/ports', 'protocols/names.ts'],
  // Balances and open calls in memory, over the journal's port.
  'store/ledger': ['lib', 'generation', 'errors', 'store/ports'],
  // Implements ports; rollups need the price that each record names and the days of each account's time zone.
  'store/sqlite': [
    ...GROUND,
    'errors',
    'store/ports',
    'store/ledger',
    'store/journal',
    'protocols/names.ts',
    'billing/money.ts',
    'billing/price.ts',
    'billing/price-book.ts',
    'admission/window.ts',
  ],
  // Test suites, which may import anything: they only need a row.
  'store/contracts': [],
  'store/testing': [],
  // Limits per minute use the same arithmetic in every store.
  'store/memory': [...GROUND, 'errors', 'store/ports', 'store/journal', 'admission/gcra.ts'],
  // The log of a call and what follows its end are also ports.
  telemetry: [
    ...GROUND,
    'errors',
    'store/ports',
    'protocols/names.ts',
    'billing/who-pays.ts',
    'config/telemetry-config.ts',
    'call/call-log.ts',
    'call/call-observer.ts',
    'call/reason/explain-reason.ts',
  ],

  // The demo model parses and renders with the formats' codecs and implements an upstream's exchange.
  demo: [...FLOOR, 'upstream/exchange.ts'],
  // Rules for the texts of calls; their hooks are reached like other services of users.
  guardrails: [...FLOOR, 'upstream/guarded-fetch.ts', 'upstream/signed-post.ts'],
  call: [...FLOOR, ...DOMAIN, 'guardrails'],
  // Roles, sign-in and membership; a port says who is signed in.
  people: ['lib', 'errors', 'store/ports', 'identity/key-format.ts'],
  'console-api': [...FLOOR, ...DOMAIN, 'people', 'control', 'call', 'mail', 'guardrails/detectors.ts'],
  // Commands on users run the operator's tools.
  control: [
    'lib',
    'errors',
    'billing/money.ts',
    'admission/window.ts',
    'store/ports',
    'identity',
    'config',
    'protocols/names.ts',
    'people/members/operator-tools.ts',
    'guardrails/detectors.ts',
  ],

  // Metrics are of the operator's account.
  server: [...FLOOR, ...DOMAIN, 'call', 'console-api', 'people/roles.ts'],
  // Without a server a command creates the console's links itself.
  cli: [
    ...FLOOR,
    ...DOMAIN,
    'call/attempt/probe-provider.ts',
    'control',
    'connect',
    'migrate',
    'reconcile',
    'people/members/operator-tools.ts',
    'store/sqlite',
  ],
  // Edits configuration files of other programs; independent of this one.
  connect: ['lib', 'protocols/names.ts'],
  // Reads files of other gateways, and plans what becomes of them.
  migrate: ['lib', 'billing/money.ts'],
  // Sends email through the configured server.
  mail: ['lib', 'config/config.ts'],
  // Finds and sends alerts.
  alerts: [
    'lib',
    'store/ports',
    'billing/money.ts',
    'upstream/guarded-fetch.ts',
    'upstream/signed-post.ts',
    'call/reason/explain-reason.ts',
    'mail',
  ],
  // Compares exports of providers with records.
  reconcile: ['lib', 'generation', 'store/ports', 'billing/money.ts', 'billing/price.ts', 'billing/price-book.ts'],

  app: ['*'],
  // The one command that starts a server assembles the parts.
  'cli/commands/serve.ts': ['app', 'cli', 'config', 'telemetry', 'lib/package/distribution.ts', 'lib/turns.ts'],
  'main.ts': ['*'],
};

/**
 * Each third-party package and the parts that may import it. `tests`: only test files. Node's own modules are allowed
 * everywhere.
 */
export const PACKAGE_HOMES: Readonly<Record<string, readonly string[] | 'tests'>> = {
  kysely: ['store/sqlite'],
  'bun:sqlite': ['store/sqlite'],
  yaml: ['config', 'migrate'],
  zod: ['config', 'control', 'cli', 'console-api'],
  pino: ['telemetry'],
  '@opentelemetry/api': ['telemetry/otlp'],
  '@opentelemetry/otlp-transformer': ['telemetry/otlp'],
  '@opentelemetry/resources': ['telemetry/otlp'],
  '@opentelemetry/sdk-metrics': ['telemetry/otlp'],
  commander: ['cli', 'main.ts'],
  hono: ['console-api'],
  'ipaddr.js': ['lib'],
  'jsonc-parser': ['connect'],
  'better-auth': ['people'],
  '@simplewebauthn/server': ['people'],
  'reflect-metadata': ['people'],
  nodemailer: ['mail'],
  bun: ['upstream', 'server', 'app', 'store/sqlite', 'control'],
  'bun:test': 'tests',
  'fast-check': 'tests',
  openai: 'tests',
  '@anthropic-ai/sdk': 'tests',
};

/** The only files that may be an index or re-export: the registries, and what each wire format registers. */
export const REGISTRIES = /^(protocols|providers)\/(registry|[a-z-]+\/index)\.ts$/;

/** The folder of one wire format; the others in protocols/ are shared: by all formats, or by OpenAI’s two. */
export const FORMAT_FOLDER = /^protocols\/(?!request\/|answer\/|openai\/|stored\/)([^/]+)\//;

/** Returns the part of a file of gateway/src: the longest row that matches. Null: no row. */
export function partOf(file: string): string | null {
  const rows = Object.keys(MAY_IMPORT).filter(
    (row) => file === row || file.startsWith(`${row}/`) || file === `${row}.ts`,
  );
  return rows.sort((one, other) => other.length - one.length)[0] ?? null;
}

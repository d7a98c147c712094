/** Owns the direction of imports inside gateway/src and the home of each third-party package. This table is the document; the tests read it. */

/** Below everything: they import nothing of the gateway. */
const GROUND = ['lib', 'wire', 'framing', 'generation'] as const;
/** What every domain folder stands on. */
const FLOOR = [
  ...GROUND,
  'tokens',
  'errors',
  'billing/money.ts',
  'config/limits.ts',
  'protocols',
  'store/ports',
] as const;
/** The domain folders. They do not import one another, save what their own row names. */
const DOMAIN = ['providers', 'upstream', 'identity', 'admission', 'billing', 'routing', 'catalog', 'config'] as const;

/**
 * Folders and files of gateway/src (the longest that fits a file is its part), each with the parts it may import besides
 * itself. The implementations of ports (store/sqlite, store/memory, telemetry) are only in the rows of those that join the parts.
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
  'store/ports': ['lib', 'generation', 'errors'],
  protocols: [...GROUND, 'tokens', 'errors', 'billing/money.ts', 'config/limits.ts'],

  // A request to a provider is made from its configuration and goes to a parsed origin.
  providers: [...FLOOR, 'config/config.ts', 'upstream/origin.ts'],
  upstream: [...FLOOR],
  identity: [...FLOOR],
  admission: [...FLOOR],
  billing: [...FLOOR],
  // A route is the upstreams of a configured model, each with its price.
  routing: [
    ...FLOOR,
    'providers/upstream.ts',
    'providers/chat-traits.ts',
    'config/config.ts',
    'config/served-models.ts',
    'billing/price.ts',
    'billing/price-book.ts',
  ],
  // A catalogue entry carries a price.
  catalog: [...FLOOR, 'billing/price.ts'],
  // A configuration names presets and carries prices and catalogue entries.
  config: [...FLOOR, 'providers/presets.ts', 'billing/price.ts', 'catalog'],

  // Ports are implemented here; rollups need the price that each record names and the days of each account's zone.
  'store/sqlite': [
    ...GROUND,
    'errors',
    'store/ports',
    'billing/money.ts',
    'billing/price.ts',
    'billing/cost.ts',
    'admission/window.ts',
  ],
  // Test suites, which may import what they like: they only need a row.
  'store/contracts': [],
  // Limits per minute are the same arithmetic wherever they are kept.
  'store/memory': [...GROUND, 'errors', 'store/ports', 'admission/gcra.ts'],
  // The log of a call is a port too.
  telemetry: [...GROUND, 'errors', 'store/ports', 'call/call-log.ts'],

  // The demo model reads and writes by the formats' codecs and plays an upstream's exchange.
  demo: [...FLOOR, 'upstream/exchange.ts'],
  call: [...FLOOR, ...DOMAIN, 'demo'],
  // Roles, sign-in and membership; who is signed in is asked of a port.
  people: ['lib', 'errors', 'store/ports', 'identity/key-format.ts'],
  'console-api': [...FLOOR, ...DOMAIN, 'people', 'control', 'call'],
  control: ['lib', 'errors', 'billing/money.ts', 'admission/window-zones.ts', 'store/ports', 'identity', 'config'],

  server: [...FLOOR, ...DOMAIN, 'call', 'console-api'],
  // Without a server a command creates the console's links itself.
  cli: [
    ...FLOOR,
    ...DOMAIN,
    'control',
    'connect',
    'people/link-makers.ts',
    'people/members/verify-email.ts',
    'store/sqlite',
  ],
  // Configuration files of other programs; it knows nothing of this one.
  connect: ['lib'],

  app: ['*'],
  // The one command that starts a server joins the parts.
  'cli/commands/serve.ts': ['app', 'cli', 'config', 'telemetry'],
  'main.ts': ['*'],
};

/** Each third-party package and the parts that may import it. `tests`: only test files. Node's own modules are free. */
export const PACKAGE_HOMES: Readonly<Record<string, readonly string[] | 'tests'>> = {
  kysely: ['store/sqlite'],
  'bun:sqlite': ['store/sqlite'],
  yaml: ['config'],
  zod: ['config', 'control', 'cli', 'console-api'],
  pino: ['telemetry'],
  commander: ['cli', 'main.ts'],
  hono: ['console-api'],
  'ipaddr.js': ['lib'],
  'jsonc-parser': ['connect'],
  'better-auth': ['people'],
  '@simplewebauthn/server': ['people'],
  bun: ['upstream', 'server', 'app', 'store/sqlite', 'control'],
  'bun:test': 'tests',
  'fast-check': 'tests',
  openai: 'tests',
  '@anthropic-ai/sdk': 'tests',
};

/** The only files that may be an index or hand on what others export: the registries, and what each wire format registers. */
export const REGISTRIES = /^(protocols|providers)\/(registry|[a-z-]+\/index)\.ts$/;

/** The folder of one wire format; the others in protocols/ are shared by all formats. */
export const FORMAT_FOLDER = /^protocols\/(?!request\/|answer\/)([^/]+)\//;

/** The part a file of gateway/src belongs to: the longest row that it is or is in. Null: no row. */
export function partOf(file: string): string | null {
  const rows = Object.keys(MAY_IMPORT).filter(
    (row) => file === row || file.startsWith(`${row}/`) || file === `${row}.ts`,
  );
  return rows.sort((one, other) => other.length - one.length)[0] ?? null;
}

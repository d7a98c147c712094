/** Owns the direction of imports inside gateway/src and the home of each third-party package. This table is the document; the tests read it. */

/** Below everything: they import nothing of the gateway. */
const GROUND = ['lib', 'wire', 'generation'] as const;
/** What the domain asks of those who keep things for it. */
const PORTS = [
  'store/ports.ts',
  'store/ledger-port.ts',
  'store/limits-port.ts',
  'store/policy-port.ts',
  'store/audit-port.ts',
  'store/key-use-port.ts',
  'store/budget-spends-port.ts',
  'store/statement-port.ts',
  'store/people-port.ts',
  'store/idempotency-port.ts',
  'store/usage-port.ts',
  'store/provider-port.ts',
  'store/content-port.ts',
] as const;
/** What every domain folder stands on. */
const FLOOR = [...GROUND, 'errors', 'billing/money.ts', 'config/limits.ts', 'protocols', ...PORTS] as const;
/** The domain folders. They do not import one another, save what their own row names. */
const DOMAIN = ['providers', 'upstream', 'identity', 'admission', 'billing', 'routing', 'catalog', 'config'] as const;

/**
 * Folders and files of gateway/src (the longest that fits a file is its part), each with the parts it may import beside
 * itself. What implements a port (store/sql, store/limits, telemetry) is in no row but those that join the parts.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  wire: [],
  generation: [],
  errors: ['lib'],
  'billing/money.ts': ['lib'],
  // A table of numbers that stands on nothing, so that a format can hold a request to its limits.
  'config/limits.ts': [],
  // A record says why its call failed.
  'store/ports.ts': ['lib', 'generation', 'errors'],
  'store/ledger-port.ts': ['lib', 'generation', 'store/ports.ts', 'store/audit-port.ts'],
  'store/limits-port.ts': ['lib'],
  'store/idempotency-port.ts': [],
  'store/content-port.ts': [],
  'store/audit-port.ts': [],
  'store/key-use-port.ts': [],
  'store/budget-spends-port.ts': ['store/limits-port.ts'],
  'store/statement-port.ts': ['store/ledger-port.ts'],
  'store/people-port.ts': [],
  'store/usage-port.ts': ['store/ports.ts', 'store/ledger-port.ts'],
  'store/provider-port.ts': [],
  'store/policy-port.ts': ['store/audit-port.ts', 'store/ports.ts', 'store/ledger-port.ts', 'store/limits-port.ts'],
  protocols: [...GROUND, 'errors', 'billing/money.ts', 'config/limits.ts'],

  // A provider's call is made from its configuration and goes to a parsed origin.
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
  catalog: [...FLOOR, 'billing/price.ts', 'billing/rates.ts', 'billing/fees.ts'],
  // A configuration names presets and carries prices and catalogue entries.
  config: [...FLOOR, 'providers/presets.ts', 'billing/price.ts', 'catalog'],

  // Ports are implemented here; what they keep is the domain's.
  'store/sql': [...GROUND, 'errors', ...PORTS, 'store/sql/usage'],
  // Sums keep what caches saved, by the price that each record names, and the days of each account's zone.
  'store/sql/usage': [
    ...GROUND,
    'errors',
    ...PORTS,
    'store/sql',
    'billing/money.ts',
    'billing/price.ts',
    'billing/cost.ts',
    'admission/day-at.ts',
    'admission/window.ts',
  ],
  // Limits per minute are the same arithmetic wherever they are kept.
  // Test suites, which may import what they like: they only need a row.
  'store/testing': [],
  'store/limits': [...GROUND, 'errors', ...PORTS, 'admission/gcra.ts'],
  // What the line of a call tells the operator is a port too.
  telemetry: [...GROUND, 'errors', 'store/ports.ts', 'gateway/call-log.ts'],

  // The built-in model: a provider that answers in this process, told to a listener as an HTTP exchange would be.
  demo: [...FLOOR, 'upstream/exchange.ts'],
  gateway: [...FLOOR, ...DOMAIN, 'demo'],
  // What people may do; who they are is asked of a port.
  people: ['lib', 'errors', ...PORTS, 'identity/key-format.ts'],
  'console-api': [...FLOOR, ...DOMAIN, 'people', 'control', 'gateway'],
  control: ['lib', 'errors', 'billing/money.ts', 'admission/window-zones.ts', ...PORTS, 'identity', 'config'],

  http: [...FLOOR, ...DOMAIN, 'gateway', 'console-api'],
  // Without a server a command makes the console's links itself.
  cli: [...FLOOR, ...DOMAIN, 'control', 'connect', 'people/link-makers.ts', 'people/verify-email.ts', 'store/sql'],
  // Files of other programs; of this one it knows nothing.
  connect: ['lib'],

  app: ['*'],
  drain: ['app', 'errors', 'gateway', 'upstream'],
  // The one command that starts a server, with what it says then, stands above what it starts.
  'cli/serve.ts': ['app', 'drain', 'cli', 'config', 'telemetry'],
  'cli/first-words.ts': ['app'],
  'main.ts': ['*'],
};

/** Each third-party package and the parts that may import it. `tests`: only test files. Node's own modules are free. */
export const PACKAGE_HOMES: Readonly<Record<string, readonly string[] | 'tests'>> = {
  kysely: ['store/sql'],
  'bun:sqlite': ['store/sql'],
  yaml: ['config'],
  zod: ['config', 'control', 'cli', 'console-api'],
  pino: ['telemetry'],
  commander: ['cli', 'main.ts'],
  hono: ['console-api'],
  'ipaddr.js': ['lib'],
  'jsonc-parser': ['connect'],
  'better-auth': ['people'],
  '@simplewebauthn/server': ['people'],
  bun: ['upstream', 'http', 'app', 'store/sql', 'control'],
  'bun:test': 'tests',
  'fast-check': 'tests',
  openai: 'tests',
  '@anthropic-ai/sdk': 'tests',
};

/** The only files that may be an index or hand on what others export: the registries, and what each wire format registers. */
export const REGISTRIES = /^(protocols|providers)\/(registry|[a-z-]+\/index)\.ts$/;

/** The part a file of gateway/src belongs to: the longest row that it is or lies in; `app.ts` and `app/` are one. Null: no row. */
export function partOf(file: string): string | null {
  const rows = Object.keys(MAY_IMPORT).filter(
    (row) => file === row || file.startsWith(`${row}/`) || file === `${row}.ts`,
  );
  return rows.sort((one, other) => other.length - one.length)[0] ?? null;
}

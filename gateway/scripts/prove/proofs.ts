/** Lists the long proofs of `npm run prove`: what each shows, its commands at full length, and its sample for CI. */

/** A script with its arguments, run by this same Bun, and the environment that it needs beyond the present one. */
export interface Command {
  readonly script: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Proof {
  readonly name: string;
  /** One line: what the proof shows. */
  readonly shows: string;
  /** Commands at full length. `folder` is a new empty folder, removed afterwards. */
  full(seed: number, folder: string): readonly Command[];
  /** Commands of at most a minute each on an idle machine, by a fixed seed and by `seed`. Absent: not run in CI. */
  sample?(seed: number): readonly Command[];
}

const FIXED_SEED = 1;
const CRASH = 'gateway/test/crash/main.ts';
const BILLS = 'gateway/scripts/bill-a-million.ts';
const ATTEMPTS = 'gateway/test/attempts/main.ts';
const OUTAGE = 'gateway/test/outage/main.ts';
const ALERTS = 'gateway/test/alerts/main.ts';
const SCANNER = 'gateway/scripts/fuzz-scanner.ts';

const QUERY_SUITES = seededSuites('query', '', ['store/sqlite/query', 'store/sqlite/chunks']);

export const PROOFS: readonly Proof[] = [
  {
    name: 'crash',
    shows: 'a killed gateway loses no request and charges none twice: 1,000 kills under load, then every failpoint',
    full: (seed) => [{ script: CRASH, args: ['--rounds', '1000', '--failpoints', 'all', '--seed', `${seed}`] }],
    sample: (seed) => [
      { script: CRASH, args: ['--rounds', '8', '--failpoints', '0', '--seed', `${FIXED_SEED}`] },
      { script: CRASH, args: ['--rounds', '5', '--failpoints', '3', '--seed', `${seed}`] },
    ],
  },
  {
    name: 'attempts',
    shows: 'over 10,000 random failures all usage that upstreams report is booked to the nano-dollar, also after kills',
    full: (seed) => [{ script: ATTEMPTS, args: ['--failures', '10000', '--kills', '10', '--seed', `${seed}`] }],
    sample: (seed) =>
      [FIXED_SEED, seed].map((one) => ({
        script: ATTEMPTS,
        args: ['--failures', '800', '--kills', '1', '--seed', `${one}`],
      })),
  },
  {
    name: 'outage',
    shows:
      'no client notices a provider that dies in any way; two dead ones meet no storm of retries and are back at once',
    full: () => [{ script: OUTAGE, args: [] }],
    sample: () => [{ script: OUTAGE, args: ['--rate', '80', '--dead', '13'] }],
  },
  {
    name: 'alerts',
    shows:
      'of 1,000 budgets that are crossed between 50 kills each is reported, under one id, beside a receiver that is dead',
    full: (seed) => [{ script: ALERTS, args: ['--crossings', '1000', '--kills', '50', '--seed', `${seed}`] }],
    sample: (seed) =>
      [FIXED_SEED, seed].map((one) => ({
        script: ALERTS,
        args: ['--crossings', '40', '--kills', '3', '--seed', `${one}`],
      })),
  },
  {
    name: 'bills',
    shows: 'a million random requests are charged exactly, each and in sum',
    full: (seed) => [{ script: BILLS, args: ['1000000', `${seed}`] }],
    sample: (seed) => [FIXED_SEED, seed].map((one) => ({ script: BILLS, args: ['100000', `${one}`] })),
  },
  {
    name: 'scanner',
    shows: 'the scan at once of JSON texts gives the verdict, tape and problem of the scan by steps: an hour of texts',
    full: (seed) => [{ script: SCANNER, args: ['3600', `${seed}`] }],
    sample: (seed) => [FIXED_SEED, seed].map((one) => ({ script: SCANNER, args: ['10', `${one}`] })),
  },
  seededSuites('balance', 'of 500 simultaneous requests exactly those pass that a balance, budget or limit covers', [
    'money/last-cent',
  ]),
  seededSuites('bodies', '20,000 random hostile bodies each get an answer of the contract', [
    'http-contract/hostile-bodies',
  ]),
  seededSuites('conversations', '10,000 random conversations survive the translation there and back', [
    'conformance/translation/conversations',
  ]),
  seededSuites('journal', 'the journal loses nothing confirmed and accepts nothing wrong, whatever the disk does', [
    'store/journal',
  ]),
  suites('attacks', 'targets that ignore output limits give no free service; prepaid accounts are never overdrawn', [
    'money/output-limits',
    'money/overdraft',
    'money/changes-under-load',
  ]),
  suites('cuts', 'a stream that is cut at any byte ends in an error and is charged for the received part', [
    'fault/upstream-cut',
    'fault/translated-cut',
    'conformance/truncations',
    'conformance/splits',
  ]),
  suites('exits', 'every way in which a request can end leaves one record and one charge', ['fault/exit-matrix']),
  endurance('idle-closes', 'requests to an upstream that closes idle connections at random are all answered: 100,000'),
  endurance('silence', 'six minutes of silence within a stream end no stream'),
  endurance('drain', 'SIGTERM under 200 streams of 10 s to 3 min cuts none'),
  endurance('restarts', 'ten restarts under load cut no stream; each is ready within 2 s of the end of the one before'),
  endurance('overload', 'at five times its capacity the gateway completes nine tenths of its peak'),
  endurance('slope', 'four million mixed requests: the memory grows by less than 1 MiB per 100,000'),
  endurance('crowd', '10,000 idle streams add at most 20 ms at the 99th percentile of 300 requests a second'),
  suites('connections', 'thousands of streams, slow and stalled clients leave the gateway within its limits', [
    'fault/descriptors',
    'fault/open-streams',
    'fault/stalled-readers',
  ]),
  {
    name: 'books',
    shows: 'a ledger of a million requests is verified and backed up while it is written to; prints the times',
    full: (_, folder) => [{ script: 'gateway/scripts/measure-books.ts', args: [folder] }],
  },
  {
    name: 'query',
    shows: 'every filter and order lists exactly its requests, over a million of them in 300 ms',
    full: (seed, folder) => [
      ...QUERY_SUITES.full(seed, folder),
      { script: 'gateway/scripts/measure-usage.ts', args: [folder, '1000000', '--queries'] },
    ],
    ...(QUERY_SUITES.sample && { sample: QUERY_SUITES.sample }),
  },
  {
    name: 'usage',
    shows: 'the console answers over a million requests, also under load; prints the times',
    full: (_, folder) => [
      { script: 'gateway/scripts/measure-usage.ts', args: [folder] },
      { script: 'gateway/scripts/measure-console.ts', args: [folder] },
    ],
  },
];

function endurance(name: string, shows: string): Proof {
  const command = (seed: number, ...flags: readonly string[]): Command => ({
    script: 'gateway/test/endurance/main.ts',
    args: [name, '--seed', `${seed}`, ...flags],
    // Read once at the start of the process that offers the load.
    env: { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' },
  });
  return { name, shows, full: (seed) => [command(seed)], sample: (seed) => [command(seed, '--sample')] };
}

/** Test files at full length. CI runs them so among all tests; they have no seed. */
function suites(name: string, shows: string, files: readonly string[]): Proof {
  return { name, shows, full: () => [testRun(files, { TOLLGATE_EXHAUSTIVE: '1' })] };
}

/** Test files that draw their cases. CI runs all cases of the fixed seed among all tests, and a sample of a new one. */
function seededSuites(name: string, shows: string, files: readonly string[]): Proof {
  return {
    name,
    shows,
    full: (seed) => [testRun(files, { TOLLGATE_EXHAUSTIVE: '1', TOLLGATE_SEED: `${seed}` })],
    sample: (seed) => [testRun(files, { TOLLGATE_SEED: `${seed}` })],
  };
}

function testRun(files: readonly string[], env: Readonly<Record<string, string>>): Command {
  return { script: 'gateway/scripts/test-runner/main.ts', args: files, env };
}

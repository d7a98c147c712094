/**
 * Starts a gateway with two weeks of data: people, keys, limits, money, a few hundred calls and a run of an agent. For tests of pages with
 * content.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEndOfRun } from '../../scripts/test-runner/end-of-run.ts';
import type { AttemptRecord, CallRecord } from '../../src/store/ports/records.ts';
import { openStore } from '../../src/store/sqlite/open-store.ts';
import { randomCall, seededRandom, type Variety } from '../../src/store/testing/random-calls.ts';
import {
  type ApiVisitor,
  addProvider,
  inviteMember,
  must,
  type Person,
  setUpOwner,
} from '../console-api/api-visitor.ts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { pointAt } from '../harness/point-at.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { createKey, type MadeKey } from '../http-contract/make-key.ts';
import type { PageNames } from './console-pages.ts';
import { seedAlerts } from './seed-alerts.ts';
import { seedGuardrails } from './seed-guardrails.ts';
import { seedReconciliation } from './seed-reconciliation.ts';
import { agentRun } from './seed-session.ts';

export interface SeededGateway {
  readonly gateway: RunningGateway;
  readonly fake: FakeUpstream;
  readonly owner: Person;
  /** The last call, the one before it, a key, and unused links. */
  readonly names: Required<Omit<PageNames, 'session'>>;
  stop(): Promise<void>;
}

const DAY_MS = 86_400_000;
const DAYS = 14;
const CALLS = 600;
/** The hold exceeds the settled cost by this; no test depends on it. */
const HELD_MORE_NANO_USD = 7n;
const VARIETY: Variety = {
  accounts: ['default'],
  keysPerAccount: 4,
  models: 6,
  endUsersPerAccount: 9,
  sessionMs: 3_600_000,
};
const NO_CAPS = { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null };
/** From the catalog, so that they have capabilities and prices. */
const MODELS = ['ok', 'gpt-5-mini', 'gpt-5', 'gpt-4.1', 'o4-mini', 'gpt-4o'];

/**
 * Starts twice and writes the calls in between, when no server runs. Budgets count calls since their subject was
 * created, which is now: their bars show the last hour only.
 */
export async function startSeededGateway(): Promise<SeededGateway> {
  const fake = await startFakeUpstream();
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-seeded-'));
  const plan = { config: pointAt(fake.url, { chat: MODELS }), dataDir: join(folder, 'data') };
  const first = await startGateway(plan);
  const keys: (MadeKey & { readonly name: string })[] = [];
  for (const name of ['billing-api', 'ada’s laptop', 'nightly evaluation', 'support bot']) {
    keys.push({ ...(await createKey(first, { name })), name });
  }
  const owner = await setUpOwner(first);
  const key = keys[0]?.id ?? '';
  const links = await furnish(first, owner, key);
  await first.stop(true);
  const written = await writeCalls(plan.dataDir, keys);
  const gateway = await startGateway({ ...plan, port: Number(new URL(first.url).port) });
  await seedReconciliation(gateway, written.request);
  return {
    gateway,
    fake,
    owner,
    names: { key, ...written, ...links },
    async stop() {
      await gateway.stop();
      await fake.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let shared: Promise<SeededGateway> | null = null;

/** Starts one for all suites of the process, which may add to the data but leave the owner signed in. */
export function shareSeededGateway(): Promise<Omit<SeededGateway, 'stop'>> {
  if (shared === null) {
    const started = startSeededGateway();
    shared = started;
    atEndOfRun(async () => (await started).stop());
  }
  return shared;
}

const TARGET = { provider: 'lab', model: 'gpt-5-mini-2026-01-01' };

/** The times of a call, and why it failed; every tenth record is from before either was stored. */
function describeEnd(
  { error, status, ttfb_ms, duration_ms }: CallRecord,
  key: (MadeKey & { readonly name: string }) | undefined,
  nth: number,
): Pick<CallRecord, 'attempts' | 'reason' | 'ttfb_ms' | 'duration_ms'> {
  const times = { ttfb_ms: ttfb_ms === null ? null : Math.min(ttfb_ms, duration_ms), duration_ms };
  const isSent = error !== 'rate_limited' && error !== 'invalid_request';
  const attempt = {
    ...TARGET,
    status: status === 200 ? 200 : error === 'upstream_failed' ? 503 : null,
    error: isSent && error !== 'client_left' ? error : null,
  };
  if (nth % 10 === 9) {
    return { ...times, reason: null, attempts: isSent ? [{ ...attempt, duration_ms: times.ttfb_ms ?? 80 }] : [] };
  }
  const sent = Math.min(8, duration_ms);
  const head = Math.max(sent, (times.ttfb_ms ?? 90) - 4);
  const marks = { start_ms: 4, connect_ms: sent, ttfb_ms: head, ttft_ms: attempt.status === 200 ? head + 40 : null };
  const attempts = isSent ? [{ ...attempt, ...marks, duration_ms: Math.max(head + 40, duration_ms - 11) }] : [];
  return { ...times, duration_ms: Math.max(duration_ms, head + 55), attempts, reason: reasonOf(error, key) };
}

function reasonOf(error: string | null, key: (MadeKey & { readonly name: string }) | undefined): CallRecord['reason'] {
  const id = key?.id ?? '';
  switch (error) {
    case 'rate_limited':
      return {
        kind: 'rate_limited',
        subject: { type: 'key', id, name: key?.name ?? '' },
        rule: { id: `key:${id}`, cap: 'requests_per_minute' },
        used: 60,
        limit: 60,
        needed: 1,
        at_step: 'limits',
      };
    case 'invalid_request':
      return {
        kind: 'invalid_request',
        param: 'temperature',
        message: 'temperature: found 3; expected a number from 0 to 2',
        at_step: 'read',
      };
    case 'upstream_failed':
      return {
        kind: 'provider_error',
        target: TARGET,
        upstream: {
          status: 503,
          type: 'overloaded',
          message: 'The engine is currently overloaded, please try again later',
        },
        at_step: 'provider',
      };
    case 'upstream_truncated':
      return {
        kind: 'cut',
        target: TARGET,
        upstream: { status: null, type: 'truncated', message: 'the connection closed before the end of the response' },
        at_step: 'answer',
      };
    case 'client_left':
      return { kind: 'client_closed', target: TARGET, at_step: 'provider' };
    default:
      return null;
  }
}

/** The attempts of the last call but one: two fail, the third answers. */
const RETRIED: readonly AttemptRecord[] = [
  {
    ...TARGET,
    status: 503,
    error: 'upstream_failed',
    start_ms: 4,
    connect_ms: 6,
    ttfb_ms: 240,
    ttft_ms: null,
    duration_ms: 251,
    class: 'overloaded',
    phase: 'head',
    why: 'probe',
    upstream_request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
  },
  {
    ...TARGET,
    status: 200,
    error: 'upstream_failed',
    start_ms: 930,
    connect_ms: 5,
    ttfb_ms: 310,
    ttft_ms: null,
    duration_ms: 780,
    class: 'fault',
    phase: 'head',
    why: 'retry',
    wait_ms: 670,
    billed: 'maybe',
    usage: { input: 1_204, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 0, reasoning: 0 },
    price_version: 'catalogue',
    cost_nano_usd: '301000',
  },
  {
    provider: 'backup-lab',
    model: 'small',
    status: 200,
    error: null,
    start_ms: 1_712,
    connect_ms: 22,
    ttfb_ms: 410,
    ttft_ms: 480,
    duration_ms: 1_900,
    target: 'second',
    credential: 'spare',
    format: 'messages',
    why: 'fallback',
    upstream_request_id: 'chatcmpl-9f2c1d',
  },
];

const ANSWERED_AT_LAST = {
  status: 200,
  error: null,
  reason: null,
  stream: true,
  ttfb_ms: 2_196,
  duration_ms: 3_618,
  served_model: 'small',
  attempts: RETRIED,
} as const;

/** Returns the ids of the last call, and of one with several attempts. */
async function writeCalls(
  dataDir: string,
  keys: readonly (MadeKey & { readonly name: string })[],
): Promise<Required<Pick<PageNames, 'request' | 'retried'>>> {
  const store = await openStore({ dataDir });
  const random = seededRandom(11);
  const endMs = Date.now() - 60_000;
  const records = Array.from({ length: CALLS }, (_, nth): CallRecord => {
    const call = randomCall(random, VARIETY, endMs - Math.floor(((CALLS - 1 - nth) * DAYS * DAY_MS) / CALLS), nth);
    const key = keys[nth % keys.length];
    return {
      ...call,
      ...describeEnd(call, key, nth),
      ...(nth === CALLS - 2 ? ANSWERED_AT_LAST : {}),
      workspace: 'default',
      key_id: key?.id ?? '',
      key_name: key?.name ?? '',
      model: call.model === null ? null : (MODELS[Number(call.model.slice('model-'.length))] ?? 'ok'),
      provider: call.provider === null ? null : 'lab',
    };
  });
  const all = [...records, ...agentRun(endMs - 3 * 3_600_000, keys[1])];
  await Promise.all(
    all.map(async (record) => {
      const cost = BigInt(record.cost_nano_usd ?? 0);
      await store.ledger.hold({ draft: record, amount: cost + HELD_MORE_NANO_USD });
      await store.ledger.settle({ record, posted: cost, released: HELD_MORE_NANO_USD, writtenOff: 0n });
    }),
  );
  await seedAlerts(store, Date.now());
  await seedGuardrails(store, Date.now());
  await store.close();
  return { request: records.at(-1)?.request_id ?? '', retried: records.at(-2)?.request_id ?? '' };
}

/** Creates people, a workspace, limits and money, as an owner does. Returns the tokens of the open links. */
async function furnish(
  { url }: RunningGateway,
  owner: ApiVisitor,
  keyId: string,
): Promise<Required<Pick<PageNames, 'invitation' | 'reset'>>> {
  for (const role of ['admin', 'developer'] as const) await inviteMember(url, owner, { account: 'default', role });
  const viewer = await inviteMember(url, owner, { account: 'default', role: 'viewer' });
  const reset = await must(owner.ask(`POST /accounts/default/members/${viewer.person}/reset-link`, { body: {} }));
  await addProvider(owner, 'backup-lab', { model: 'lab-small', credentials: { api_key: 'lab-0123456789' } });
  const price = { input: 1, output: 5 };
  const targets = [
    { name: 'first', provider: 'lab', model: 'gpt-5-mini', price },
    { name: 'second', provider: 'backup-lab', model: 'small', tags: ['eu'], price },
    { name: 'third', provider: 'backup-lab', model: 'large', priority: 2, price },
  ];
  await must(owner.ask('POST /accounts/default/routes', { body: { model: 'routed', targets } }));
  const rotation = { target: 'third', in_rotation: false };
  await must(owner.ask('POST /accounts/default/routes/routed/rotation', { body: rotation }));
  const invited = await must(
    owner.ask('POST /accounts/default/invitations', {
      body: { email: 'linus@example.com', role: 'developer', workspaces: ['default'] },
    }),
  );
  const search = { q: 'status:5xx', range: '7d', sort: '-duration' };
  await must(owner.ask('POST /accounts/default/views', { body: { name: 'Server errors', shared: true, search } }));
  const caps = { ...NO_CAPS, rpm: 600, budget_usd: '250', budget_window: 'month' };
  await must(
    owner.ask('POST /accounts/default/workspaces', {
      body: { id: 'research', models: ['gpt-*'], bodies: 'off', bodies_days: 30, caps },
    }),
  );
  for (const [subject, given] of [
    ['account/default', { ...NO_CAPS, budget_usd: '1000', budget_window: 'month' }],
    [`key/${keyId}`, { ...NO_CAPS, rpm: 120, tpm: 200_000, concurrency: 8, budget_usd: '40', budget_window: 'week' }],
    ['end_user/user-7', { ...NO_CAPS, rpm: 10 }],
    ['model/gpt-5', { ...NO_CAPS, tpm: 1_000_000 }],
  ] as const) {
    await must(owner.ask(`PUT /accounts/default/limits/${subject}`, { body: { caps: given } }));
  }
  await must(
    owner.ask('POST /accounts/default/topup', {
      body: { id: crypto.randomUUID(), usd: '500', note: 'Invoice 2026-117' },
    }),
  );
  return { invitation: tokenOf(invited.link), reset: tokenOf(reset.link) };
}

function tokenOf(link: unknown): string {
  return String(link).split('/').at(-1) ?? '';
}

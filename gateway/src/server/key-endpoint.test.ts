/** Tests what `GET /v1/key` reports to a key about itself, the sources of that data, and its errors. */
import { describe, expect, test } from 'bun:test';
import { CallFailure } from '../errors/call-failure.ts';
import { createKeyDirectory } from '../identity/key-directory.ts';
import { createKeyHasher, generateKeyText } from '../identity/key-format.ts';
import { Secret } from '../lib/secret.ts';
import type { BindingCaps, BudgetState, Caps, CapsUse } from '../store/ports/limits.ts';
import type { StoredAccount } from '../store/ports/policy.ts';
import type { StoredKey } from '../store/ports/records.ts';
import { createKeyLimitReader, type KeyLimitSources, type ReadKeyLimitStatus, showKey } from './key-endpoint.ts';

const hashKey = createKeyHasher(new Secret('5a'.repeat(32)));
const KEY_TEXT = generateKeyText();
const NO_CAPS: Caps = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null, budget: null };

const OF_KEY: BindingCaps = {
  subject: { kind: 'key', id: 'key_1' },
  caps: { ...NO_CAPS, requestsPerMinute: 60, budget: { window: 'day', amount: 9_007_199_254_740_993n } },
  windowStartMs: Date.UTC(2026, 10, 20),
  windowEndMs: Date.UTC(2026, 10, 21),
};
const OF_ACCOUNT: BindingCaps = {
  subject: { kind: 'account', id: 'default' },
  caps: { ...NO_CAPS, tokensPerMinute: 5, concurrency: 2, budget: { window: 'total', amount: 5n } },
  windowStartMs: 0,
  windowEndMs: null,
};

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const STEADY_MS = 5_000;
const UNUSED: CapsUse = { requests: null, tokens: null, running: null };

interface Changes {
  readonly key?: Partial<StoredKey>;
  readonly mode?: StoredAccount['mode'];
  readonly accountHolds?: StoredAccount['holds'];
  readonly sources?: Partial<KeyLimitSources>;
  readonly headers?: Record<string, string>;
  readonly address?: string;
  readonly readRateLimitStatus?: ReadKeyLimitStatus;
}

/** The endpoint's response, and the faults that it reported to the operator. */
async function ask({
  key = {},
  mode = 'postpaid',
  accountHolds = null,
  sources = {},
  headers,
  address,
  readRateLimitStatus,
}: Changes = {}) {
  const account: StoredAccount = {
    id: 'default',
    name: 'Default',
    mode,
    markUpPpm: 0,
    timeZone: 'UTC',
    holds: accountHolds,
    createdAtMs: 0,
  };
  const stored: StoredKey = {
    id: 'key_1',
    name: 'first',
    accountId: 'default',
    workspaceId: 'default',
    hash: hashKey(KEY_TEXT),
    last4: 'last',
    previousHash: null,
    previousExpiresAtMs: null,
    previousLast4: null,
    models: ['gpt-*'],
    ips: null,
    scopes: ['usage'],
    strict: true,
    holds: null,
    status: 'active',
    createdAtMs: 0,
    expiresAtMs: Date.UTC(2100, 0),
    createdBy: null,
    disabledBy: null,
    ...key,
  };
  const workspaces = [
    { id: 'default', accountId: 'default', models: null, bodies: 'off', bodiesDays: 30, createdAtMs: 0 } as const,
  ];
  const faults: unknown[] = [];
  const standings = createKeyLimitReader(
    {
      bindingCapsOf: () => [],
      limits: { readBudget: () => ({ settled: 0n, held: 0n }), readUse: () => UNUSED },
      seed: async () => undefined,
      ledger: { readBalances: async () => [] },
      readUsage: async () => null,
      ...sources,
    },
    { nowMs: () => NOW_MS, steadyNowMs: () => STEADY_MS },
  );
  const request = new Request('http://gw/v1/key', { headers: headers ?? { authorization: `Bearer ${KEY_TEXT}` } });
  const response = await showKey(
    request,
    { address: () => address ?? null },
    {
      directory: createKeyDirectory(hashKey, { accounts: [account], workspaces, keys: [stored] }),
      settings: { config: { defaults: { holds: 'adaptive' } } },
      log: {
        fault: (_, __, cause) => void faults.push(cause),
        alarm: () => undefined,
        unpriced: () => undefined,
        upstream: () => undefined,
      },
    },
    readRateLimitStatus ?? standings,
  );
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text), faults };
}

describe('GET /v1/key', () => {
  test('returns the key’s permissions, whatever its scopes, and no secret', async () => {
    const { status, headers, body, text } = await ask();
    expect(status).toBe(200);
    expect(headers.get('x-request-id')).toBe(String(headers.get('request-id')));
    expect(body).toEqual({
      object: 'key',
      id: 'key_1',
      name: 'first',
      workspace: 'default',
      account: 'default',
      mode: 'postpaid',
      balance_nano_usd: null,
      scopes: ['usage'],
      models: ['gpt-*'],
      strict: true,
      holds: 'adaptive',
      expires_at: '2100-01-01T00:00:00.000Z',
      usage: null,
      limits: [],
    });
    for (const secret of [KEY_TEXT, hashKey(KEY_TEXT), 'last']) expect(text).not.toContain(secret);
  });

  test('returns the limits that apply to it, their use and their remainder, exactly', async () => {
    const uses = new Map<BindingCaps, CapsUse>([
      [OF_KEY, { ...UNUSED, requests: { used: 59, wholeAtMs: STEADY_MS + 59_000 } }],
      [OF_ACCOUNT, { ...UNUSED, tokens: { used: 7, wholeAtMs: STEADY_MS + 84_000 }, running: 1 }],
    ]);
    const states = new Map<BindingCaps, BudgetState>([
      [OF_KEY, { settled: 9_007_199_254_740_990n, held: 2n }],
      [OF_ACCOUNT, { settled: 6n, held: 1n }],
    ]);
    const { body } = await ask({
      sources: {
        bindingCapsOf: () => [OF_KEY, OF_ACCOUNT],
        limits: {
          readBudget: (binding) => states.get(binding) ?? null,
          readUse: (binding, nowMs) => (nowMs === STEADY_MS ? (uses.get(binding) ?? UNUSED) : UNUSED),
        },
      },
    });
    expect(body.limits).toEqual([
      {
        of: 'key',
        id: 'key_1',
        rpm: 60,
        tpm: null,
        concurrency: null,
        requests: { used: 59, remaining: 1, resets_at: '2026-11-20T12:00:59.000Z' },
        tokens: null,
        calls: null,
        budget: {
          window: 'day',
          amount_nano_usd: '9007199254740993',
          spent_nano_usd: '9007199254740990',
          held_nano_usd: '2',
          remaining_nano_usd: '1',
          starts_at: '2026-11-20T00:00:00.000Z',
          resets_at: '2026-11-21T00:00:00.000Z',
        },
      },
      {
        of: 'account',
        id: 'default',
        rpm: null,
        tpm: 5,
        concurrency: 2,
        requests: null,
        tokens: { used: 7, remaining: 0, resets_at: '2026-11-20T12:01:24.000Z' },
        calls: { running: 1, remaining: 1 },
        budget: {
          window: 'total',
          amount_nano_usd: '5',
          spent_nano_usd: '6',
          held_nano_usd: '1',
          remaining_nano_usd: '0',
          starts_at: null,
          resets_at: null,
        },
      },
    ]);
  });

  test('returns its hold mode: the key’s, else its account’s, else the configuration’s', async () => {
    const holdsOf = async (changes: Changes) => (await ask(changes)).body.holds;
    expect(await holdsOf({})).toBe('adaptive');
    expect(await holdsOf({ accountHolds: 'strict' })).toBe('strict');
    expect(await holdsOf({ accountHolds: 'strict', key: { holds: 'adaptive' } })).toBe('adaptive');
  });

  test('reads the rules of the key itself, its workspace and its account', async () => {
    const reads: unknown[] = [];
    const bindingCapsOf: KeyLimitSources['bindingCapsOf'] = (subjects, nowMs) => {
      reads.push([subjects, nowMs]);
      return [];
    };
    await ask({ sources: { bindingCapsOf } });
    expect(reads).toEqual([
      [{ keyId: 'key_1', workspaceId: 'default', accountId: 'default', endUser: null, models: [] }, NOW_MS],
    ]);
  });

  test('returns its use today and this month', async () => {
    const none = {
      requests: 0,
      input: 0,
      cache_read: 0,
      cache_write_5m: 0,
      cache_write_1h: 0,
      output: 0,
      reasoning: 0,
    };
    const today = { ...none, requests: 2, input: 30, output: 5, reasoning: 1 };
    const { body } = await ask({
      sources: {
        readUsage: async () => ({
          day: { sinceMs: OF_KEY.windowStartMs, sums: { ...today, cost: 9_007_199_254_740_993n } },
          month: { sinceMs: Date.UTC(2026, 10), sums: { ...today, cost: 9_007_199_254_740_994n } },
        }),
      },
    });
    expect(body.usage).toEqual({
      day: { starts_at: '2026-11-20T00:00:00.000Z', ...today, cost_nano_usd: '9007199254740993' },
      month: { starts_at: '2026-11-01T00:00:00.000Z', ...today, cost_nano_usd: '9007199254740994' },
    });
  });

  test('a prepaid account has its balance shown', async () => {
    const balanceOf = (account: string, available: bigint) => {
      return {
        account,
        mode: 'prepaid',
        available,
        held: 1n,
        charged: 2n,
        writtenOff: 3n,
        toppedUp: 4n,
        absorbedAttempts: 5n,
      } as const;
    };
    const balances = [balanceOf('another', 5n), balanceOf('default', 12_300n)];
    const ledger = { readBalances: async (of?: string) => balances.filter(({ account }) => account === of) };
    const { body } = await ask({ mode: 'prepaid', sources: { ledger } });
    expect([body.mode, body.balance_nano_usd]).toEqual(['prepaid', '12300']);
  });

  test('a budget without use since the start is read first', async () => {
    const seeded: BindingCaps[] = [];
    const { body } = await ask({
      sources: {
        bindingCapsOf: () => [OF_KEY],
        limits: {
          readBudget: (binding) => (seeded.includes(binding) ? { settled: 3n, held: 0n } : null),
          readUse: () => UNUSED,
        },
        seed: async (budgets) => void seeded.push(...budgets),
      },
    });
    expect(body.limits[0].budget.spent_nano_usd).toBe('3');
  });

  test('a failed read is the gateway’s fault, and is logged', async () => {
    for (const sources of [
      { bindingCapsOf: () => [OF_KEY], limits: { readBudget: () => null, readUse: () => UNUSED } },
      {
        bindingCapsOf: () => [OF_KEY],
        limits: { readBudget: () => Promise.reject(new Error('away')), readUse: () => UNUSED },
      },
    ]) {
      const { status, body, faults } = await ask({ sources });
      expect([status, body.error.code, faults.length]).toEqual([503, 'internal_error', 1]);
    }
    const headers = { 'x-api-key': KEY_TEXT, 'anthropic-version': '2023-06-01' };
    const readRateLimitStatus = () => Promise.reject(new Error('away'));
    expect((await ask({ headers, readRateLimitStatus })).body).toMatchObject({
      type: 'error',
      error: { type: 'api_error' },
    });
  });

  test.each([
    ['unauthorized', { headers: {} }],
    ['unauthorized', { headers: { authorization: `Bearer ${generateKeyText()}` } }],
    ['unauthorized', { key: { status: 'revoked' } }],
    ['address_forbidden', { key: { ips: ['10.0.0.0/8'] }, address: '192.0.2.1' }],
  ] as const)('who may not ask is refused: %s %p', async (kind, changes) => {
    const refused = await ask(changes).then(
      () => null,
      (fault: unknown) => fault,
    );
    expect(refused instanceof CallFailure && refused.kind).toBe(kind);
  });

  test('a key is served from an address of its list', async () => {
    expect((await ask({ key: { ips: ['10.0.0.0/8'] }, address: '10.1.2.3' })).status).toBe(200);
  });
});

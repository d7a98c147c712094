/**
 * Assembles billing and limits at start (rules, limits in memory, the ledger), and passes policy changes on to them.
 */
import { isDeepStrictEqual } from 'node:util';
import { createMoneySeeds } from '../admission/admission.ts';
import { createLimitRules, followRules, type ZoneOf } from '../admission/limit-rules.ts';
import { zoneOfWindow } from '../admission/window.ts';
import { formatNanoUsd } from '../billing/money.ts';
import { rememberPrices } from '../billing/price-book.ts';
import type { BillingDeps } from '../call/money/billing-deps.ts';
import { type LimitExceeded, LimitProofs } from '../call/money/limit-proofs.ts';
import { TokenRatio, type UsageAnomaly, UsageAnomalyLog } from '../call/money/usage-checks.ts';
import { createRetryTokens } from '../call/plan/retry-tokens.ts';
import type { KeyDirectory } from '../identity/key-directory.ts';
import { steadyNowMs, watchPauses } from '../lib/deadlines.ts';
import { createKeyLimitReader, createKeyUsageReader, type ReadKeyLimitStatus } from '../server/key-endpoint.ts';
import { createMemoryLimits } from '../store/memory/limits.ts';
import type { ChangeFeed } from '../store/ports/change-feed.ts';
import type { DetachedCall } from '../store/ports/ledger.ts';
import {
  type BindingCaps,
  type BudgetReached,
  EVERY_END_USER,
  type LimitStore,
  layerOf,
  type Subject,
} from '../store/ports/limits.ts';
import type { StoredAccount } from '../store/ports/policy.ts';
import type { Store } from '../store/ports/store.ts';
import type { Log } from '../telemetry/log.ts';

export interface Money {
  readonly billing: BillingDeps;
  readonly readKeyStanding: ReadKeyLimitStatus;
  /**
   * Makes a movement in the ledger, and then applies its credit to, or its debit from, an account outside of calls. A
   * balance that is read meanwhile might include the movement or not: none is.
   */
  credit<Moved>(account: string, amount: bigint, move: () => Promise<Moved>): Promise<Moved>;
  /** Sets the maximum duration of calls that arrive from now on. */
  leaseCalls(callMsMax: number): void;
  /**
   * Call after the models have changed. `namesBefore` answers as `namesOfModel` did before: the budget of a name that
   * now refers to another model, or of a model with different names, is read again.
   */
  bindModels(namesBefore: MoneyParts['namesOfModel']): void;
  /**
   * Counts the calls again that earlier processes detached. Begins to read, in the background, the spending of budgets that had rules at the start. Call it before the first
   * call: a call that runs meanwhile without being limited would be missed. Budgets of end users under a common rule
   * are not read.
   */
  readAhead(): void;
  close(): void;
}

export interface MoneyParts {
  readonly store: Pick<Store, 'ledger' | 'policies' | 'spends' | 'usage'>;
  readonly directory: Pick<KeyDirectory, 'accounts' | 'keys' | 'workspaces'>;
  readonly changes: ChangeFeed;
  readonly log: Pick<Log, 'warn' | 'error'>;
  /** The maximum duration of a call, until `leaseCalls` changes it. */
  readonly callMsMax: number;
  /** All public names of the model that is served under any of them; for an unserved name, only that name. */
  namesOfModel(model: string): readonly string[];
}

/** A call that is still open this long after its time limit never ends. */
const LEASE_MARGIN_MS = 10 * 60_000;
const SWEEP_MS = 1_000;

/**
 * Reads the rules from the store; rejects if it cannot. Budgets and balances are read when they first apply, except
 * those that are read ahead.
 */
export async function openMoney({
  store,
  directory,
  changes,
  log,
  callMsMax,
  namesOfModel,
}: MoneyParts): Promise<Money> {
  const settings = {
    leaseMs: callMsMax + LEASE_MARGIN_MS,
    onBudgetReached: (reached: BudgetReached) => logReached(log, reached),
  };
  const [limits, counting] = [createMemoryLimits(settings), createMemoryLimits(settings)];
  const stored = await store.policies.readLimitRules();
  const rules = createLimitRules(stored, {
    // Read when it first applies: calls that run now without it may have ended by then, and be counted.
    onNewBudget(subject) {
      limits.forgetBudget(subject);
      store.spends.prepare();
    },
    onNewAmount: (subject, amount) => limits.capBudget(subject, amount, Date.now()),
  });
  /** By account, while its balance is read, and while money of it moves outside of calls. */
  const reading = new Map<string, Promise<unknown>>();
  const moving = new Map<string, Promise<unknown>>();
  const seeds = createMoneySeeds(limits, {
    readSettled: (binding, exceptCalls) =>
      store.spends.readSettled(sinceMade(binding, directory), namesOfModel, exceptCalls),
    readAvailable: (account) =>
      during(reading, account, async () => {
        await moving.get(account);
        const [balance] = await store.ledger.readBalances(account);
        return balance?.available ?? 0n;
      }),
  });
  const timeZoneOf = (accountId: string) => directory.accounts.get(accountId)?.timeZone ?? 'UTC';
  const budgetZoneOf: ZoneOf = (accountId, window, atMs) => {
    const account = directory.accounts.get(accountId);
    return account === undefined ? 'UTC' : zoneOfWindow(account, window, atMs);
  };
  const modes = new Map([...directory.accounts.values()].map(({ id, mode }) => [id, mode]));
  function noteMode({ id, mode }: StoredAccount): void {
    // Otherwise the cached balance stays: reading it again during running calls would miss holds that are still being
    // written.
    if (modes.get(id) !== mode) limits.forgetBalance(id);
    modes.set(id, mode);
  }
  changes.subscribe(followRules(rules, store.policies));
  changes.subscribe({
    follow(commit) {
      for (const change of commit) if (change.of === 'account') noteMode(change.account);
    },
    async reload() {
      for (const account of await store.policies.readAccounts()) noteMode(account);
    },
  });
  function readBudgetAhead(subject: Subject): void {
    const account = accountOf(subject, directory);
    const binding = account === null ? null : rules.budgetOf(subject, account, budgetZoneOf, Date.now());
    if (binding === null) return;
    seeds.seedBudgetAhead(binding).catch((cause: unknown) => {
      if (!closed)
        log.warn(
          { of: subject.kind, id: subject.id, cause: String(cause) },
          'the spend of a budget could not be read in advance',
        );
    });
  }
  let closed = false;
  const isAfterPause = watchPauses(SWEEP_MS);
  const sweeping = setInterval(() => {
    // The time limits of the calls end them first, and count what they cost.
    if (isAfterPause()) return;
    const nowMs = steadyNowMs();
    const lost = limits.sweep(nowMs) + counting.sweep(nowMs);
    if (lost > 0) log.error({ lost }, 'requests never ended: their reserved limits were released');
  }, SWEEP_MS);
  return {
    billing: {
      ledger: store.ledger,
      limits: { store: limits, seeds },
      counting: { store: counting, seeds },
      rules,
      ratio: new TokenRatio(),
      usageAnomalies: new UsageAnomalyLog((odd) => logAnomaly(log, odd)),
      limitProofs: new LimitProofs((exceeded) => logExceeded(log, exceeded)),
      timeZoneOf,
      budgetZoneOf,
      priced: rememberPrices(),
      warnUnpriced: createUnpricedWarner(log),
      warnUnknownTier: createTierWarner(log),
      retryTokens: createRetryTokens(),
    },
    readKeyStanding: createKeyLimitReader(
      {
        bindingCapsOf: (subjects, nowMs) => rules.bindingCapsOf(subjects, budgetZoneOf, nowMs),
        seed: async (budgets) => void (await Promise.all(budgets.map((binding) => seeds.seedBudget(binding)))),
        limits,
        ledger: store.ledger,
        readUsage: createKeyUsageReader(store.usage, Date.now),
      },
      { nowMs: Date.now, steadyNowMs },
    ),
    async credit(account, amount, move) {
      while (reading.has(account)) await reading.get(account);
      return during(moving, account, async () => {
        const moved = await move();
        await limits.credit(account, amount);
        return moved;
      });
    },
    leaseCalls(longestMs) {
      settings.leaseMs = longestMs + LEASE_MARGIN_MS;
    },
    bindModels(namesBefore) {
      for (const { kind, id } of rules.subjects()) {
        if (kind === 'model' && !isDeepStrictEqual(namesBefore(id), namesOfModel(id)))
          limits.forgetBudget({ kind, id });
      }
    },
    readAhead() {
      const isPrepaid = (account: string) => modes.get(account) === 'prepaid';
      resumeDetached(limits, store.ledger.readDetached(), isPrepaid, namesOfModel);
      for (const { subject } of stored) readBudgetAhead(subject);
    },
    close() {
      closed = true;
      clearInterval(sweeping);
    },
  };
}

/** Does the work, and has in `running` until then what ends with all work for the account, and never rejects. */
async function during<Result>(
  running: Map<string, Promise<unknown>>,
  account: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const working = work();
  const done = Promise.allSettled([running.get(account), working]);
  running.set(account, done);
  try {
    return await working;
  } finally {
    if (running.get(account) === done) running.delete(account);
  }
}

/** Counts the calls that earlier processes detached in the budgets of the windows that admitted them. */
function resumeDetached(
  limits: LimitStore,
  detached: readonly DetachedCall[],
  isPrepaid: (account: string) => boolean,
  namesOfModel: MoneyParts['namesOfModel'],
): void {
  for (const { draft, amount } of detached) {
    const { account, model } = draft;
    const models = model === null ? [] : namesOfModel(model);
    const subjects = { keyId: draft.key_id, workspaceId: draft.workspace, accountId: account, endUser: draft.end_user };
    limits.resume({
      callId: draft.request_id,
      subjects: { ...subjects, models },
      arrivedMs: draft.at_ms,
      prepaidAccount: isPrepaid(account) ? account : null,
      amount,
    });
  }
}

function logReached(log: MoneyParts['log'], { subject, window, mark, settled, amount }: BudgetReached): void {
  const about = {
    of: subject.kind,
    id: subject.id,
    set_by: layerOf(subject),
    window,
    spent_usd: formatNanoUsd(settled),
    budget_usd: formatNanoUsd(amount),
  };
  log.warn(about, `a budget has reached ${mark}%`);
}

function logAnomaly(log: MoneyParts['log'], { requestId: request_id, ...odd }: UsageAnomaly): void {
  log.warn(
    { ...odd, request_id },
    'usage anomaly: the usage that the provider reported is inconsistent or far from our estimate; it is billed as reported',
  );
}

function logExceeded(log: MoneyParts['log'], { requestId: request_id, ...exceeded }: LimitExceeded): void {
  log.error(
    { ...exceeded, request_id, alarm: true },
    'a provider exceeded the output limit of a request; until a response of this model stops at its limit, non-streaming ' +
      'requests that a balance or a budget pays for are streamed from the provider and metered',
  );
}

/** Clocks are assumed not to be set back by more than this while serving. */
const CLOCK_SETBACK_MS = 3_600_000;

/**
 * The account whose time zone the subject's windows use; for a model, which belongs to no account, an empty id. Null:
 * the directory does not know the subject, or it covers many.
 */
export function accountOf({ kind, id }: Subject, directory: Pick<KeyDirectory, 'keys' | 'workspaces'>): string | null {
  switch (kind) {
    case 'key':
      return directory.keys.get(id)?.accountId ?? null;
    case 'workspace':
      return directory.workspaces.get(id)?.accountId ?? null;
    case 'account':
      return id;
    case 'model':
      return '';
    case 'end_user':
      return id.endsWith(`/${EVERY_END_USER}`) ? null : id.slice(0, id.indexOf('/'));
  }
}

/**
 * Shortens the binding's window to start no earlier than the subject's creation: a new key has nothing to read, however
 * long the window.
 */
export function sinceMade(
  binding: BindingCaps,
  directory: Pick<KeyDirectory, 'keys' | 'workspaces' | 'accounts'>,
): BindingCaps {
  const { kind, id } = binding.subject;
  const made =
    kind === 'key'
      ? directory.keys.get(id)
      : kind === 'workspace'
        ? directory.workspaces.get(id)
        : kind === 'account'
          ? directory.accounts.get(id)
          : undefined;
  const sinceMs = made === undefined ? 0 : made.createdAtMs - CLOCK_SETBACK_MS;
  return sinceMs > binding.windowStartMs ? { ...binding, windowStartMs: sinceMs } : binding;
}

/** Bounds the memory, because kinds come from upstream. At the limit it is cleared, and warnings repeat. */
const REMEMBERED_MAX = 1_000;

/** The subset of the log that is used here. */
interface Warned {
  warn(about: object, message: string): void;
}

/** Returns a function that tells whether it is called with these words for the first time. */
function createMemory(): (...words: readonly string[]) => boolean {
  const seen = new Set<string>();
  return (...words) => {
    const key = JSON.stringify(words);
    if (seen.has(key)) return false;
    if (seen.size >= REMEMBERED_MAX) seen.clear();
    seen.add(key);
    return true;
  };
}

/** Returns a function that logs each model and tier once. */
function createTierWarner(log: Warned): (model: string, tier: string) => void {
  const isNew = createMemory();
  return (model, tier) => {
    if (!isNew(model, tier)) return;
    log.warn(
      { model, tier, unpriced: true },
      `the provider answered with the service tier ${tier}, which has no price for this model: charged at the list price; set a price with modifiers`,
    );
  };
}

/** Returns a function that logs each model and kind once. */
export function createUnpricedWarner(log: Warned): (model: string, kinds: readonly string[]) => void {
  const isNew = createMemory();
  return (model, kinds) => {
    for (const kind of kinds.filter((one) => isNew(model, one))) {
      if (kind.startsWith('per_unit.')) {
        const text = `the model is billed by units that have no price: they are not billed; set a price with ${kind} (0 if they are free)`;
        log.warn({ model, unit: kind, unpriced: true }, text);
        continue;
      }
      log.warn(
        { model, server_tool: kind, unpriced: true },
        `the provider ran the tool ${kind}, which has no price for this model: its requests are not billed; set a price with per_1000_requests (0 if they are free)`,
      );
    }
  };
}

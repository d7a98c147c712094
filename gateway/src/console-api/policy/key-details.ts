/**
 * Serves the details of a key: its page, its gauges, and whether it may make a given call. Also previews which models
 * patterns match. Read-only.
 */
import { explainCall } from '../../call/explain-call.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { compileModelPatterns, mayUseModel } from '../../identity/principal.ts';
import type { CallRecord, StoredKey } from '../../store/ports/records.ts';
import type { CallOutcome, LogPage, UsageReader } from '../../store/ports/usage.ts';
import type { Tenancy } from '../kernel/actor.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { dateIn, dayBounds } from '../kernel/time-range.ts';
import { EVERY_CALL, EVERY_LOG } from '../logs/call-condition.ts';
import { orRefuse } from '../usage/usage-parts.ts';
import { readSpans } from '../usage/usage-range.ts';
import { renderSums } from '../usage/usage-view.ts';
import { showKey } from './keys.ts';
import { readBudgetStates, readGauges, showTime } from './limits.ts';
import { findKey, findWorkspace, type PolicyParts, personBehind } from './policy-parts.ts';

const HOUR_MS = 3_600_000;
const DAYS = 30;
const ERRORS_MS = 7 * 24 * HOUR_MS;
const ERRORS_MAX = 20;
const AUDIT_MAX = 20;
const PATTERNS_MAX = 200;
/** No end user and no model: their rules apply to some of the key's calls only. */
const WITHOUT_USER_AND_MODEL = { endUser: null, models: [] };

export function keyDetailHandlers(parts: PolicyParts) {
  const { deps } = parts;
  return {
    'GET /accounts/{account}/keys/{key}': async ({ path, tenancy, actor }) => {
      const key = findKey(parts, tenancy, path.key);
      const nowMs = parts.nowMs();
      const mayAudit =
        tenancy.may('audit.read') || (key.createdBy !== null && key.createdBy === personBehind(parts, actor));
      const [shown, days, errors, audit, hour] = await Promise.all([
        showKey(parts, key, tenancy, nowMs),
        readDays(parts, key, tenancy, nowMs),
        readFailedCalls(parts.usage, { key, tenancy, fromMs: nowMs - ERRORS_MS, toMs: nowMs + 1, limit: ERRORS_MAX }),
        mayAudit ? readChanges(parts, key) : [],
        readOwnSpans(parts, key, tenancy, [nowMs - HOUR_MS, nowMs + 1]),
      ]);
      return {
        key: shown,
        days,
        errors: errors.map(({ request_id, at_ms, status, error, model }) => ({
          request_id,
          at: showTime(at_ms),
          status,
          error,
          model,
        })),
        audit,
        hour_requests: hour[0]?.requests ?? 0,
      };
    },
    'GET /accounts/{account}/keys/{key}/gauges': async ({ path, tenancy }) => ({
      gauges: await readKeyGauges(parts, findKey(parts, tenancy, path.key), parts.nowMs()),
    }),
    'GET /accounts/{account}/keys/{key}/may-call': async ({ path, query, tenancy }) => {
      const key = findKey(parts, tenancy, path.key);
      // The smallest possible call: if it is refused, every call is.
      const smallest = { endUser: null, inputTokens: 1, outputTokensMax: 1, stream: false };
      const { admitted, steps } = await explainCall(deps, { key, ...query, ...smallest }, parts.nowMs());
      return { may: admitted, reasons: [...steps] };
    },
    'GET /accounts/{account}/model-matches': async ({ query, tenancy }) => {
      const patterns = query.patterns
        .split(',')
        .map((pattern) => pattern.trim())
        .filter((pattern) => pattern !== '');
      if (patterns.length > PATTERNS_MAX) {
        throw new ConsoleFailure('invalid', `found ${patterns.length} patterns, expected at most ${PATTERNS_MAX}`, {
          member: 'patterns',
        });
      }
      const workspace = query.workspace === undefined ? null : findWorkspace(parts, tenancy, query.workspace);
      const rights = {
        keyAllows: compileModelPatterns(patterns.length === 0 ? null : patterns),
        workspaceAllows: compileModelPatterns(workspace?.models ?? null),
      };
      const matching = [...deps.settings.routes.values()].filter(({ names }) => mayUseModel(rights, names));
      return { models: [...new Set(matching.map(({ model }) => model))].sort() };
    },
  } satisfies Partial<Handlers>;
}

async function readKeyGauges(parts: PolicyParts, key: StoredKey, nowMs: number) {
  const { rules, budgetZoneOf } = parts.deps.billing;
  const subjects = { keyId: key.id, workspaceId: key.workspaceId, accountId: key.accountId, ...WITHOUT_USER_AND_MODEL };
  const bindings = rules
    .bindingCapsOf(subjects, budgetZoneOf, nowMs)
    .filter(({ subject }) => subject.kind !== 'end_user');
  const states = await readBudgetStates(parts, bindings);
  return (await Promise.all(bindings.map((binding) => readGauges(parts, binding, states, nowMs)))).flat();
}

async function readOwnSpans(
  { usage, deps }: PolicyParts,
  { id, accountId: account }: StoredKey,
  { workspaces }: Tenancy,
  bounds: readonly number[],
) {
  const timeZone = deps.billing.timeZoneOf(account);
  const spans = await readSpans(usage, { account, workspaces, timeZone, by: 'key', ids: [id], bounds });
  return spans.get(id)?.map((sums) => (sums === null ? null : renderSums(sums))) ?? [];
}

async function readDays(parts: PolicyParts, key: StoredKey, tenancy: Tenancy, nowMs: number) {
  const zone = parts.deps.billing.timeZoneOf(key.accountId);
  const bounds = dayBounds(zone, nowMs, DAYS);
  const sums = await readOwnSpans(parts, key, tenancy, bounds);
  return bounds.slice(0, -1).map((startMs, day) => ({
    day: dateIn(zone, startMs),
    from: showTime(startMs),
    to: showTime(bounds[day + 1] ?? startMs),
    requests: sums[day]?.requests ?? 0,
    errors: sums[day]?.errors ?? 0,
    cost_nano_usd: sums[day]?.cost_nano_usd ?? '0',
  }));
}

async function readChanges({ audit }: PolicyParts, { accountId, workspaceId, id }: StoredKey) {
  const entries = await audit.read({
    account: accountId,
    workspaces: [workspaceId],
    beforeSeq: null,
    actor: null,
    act: null,
    subject: id,
    fromMs: null,
    toMs: null,
    limit: AUDIT_MAX,
  });
  return entries.map(({ atMs, by, act }) => ({ at: showTime(atMs), actor: by.actor.name, act }));
}

interface FailedQuestion {
  readonly key: StoredKey;
  readonly tenancy: Tenancy;
  /** Unix ms of arrival; the end is exclusive. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit: number;
}

/** Newest first. */
async function readFailedCalls(
  usage: Pick<UsageReader, 'readLogs'>,
  question: FailedQuestion,
): Promise<readonly CallRecord[]> {
  const found = await Promise.all([
    readOutcome(usage, question, 'client_error'),
    readOutcome(usage, question, 'server_error'),
  ]);
  const sorted = found.flat().sort((one, other) => (one.request_id > other.request_id ? -1 : 1));
  return sorted.slice(0, question.limit);
}

async function readOutcome(
  usage: Pick<UsageReader, 'readLogs'>,
  { key, tenancy, fromMs, toMs, limit }: FailedQuestion,
  outcome: CallOutcome,
): Promise<CallRecord[]> {
  const found: CallRecord[] = [];
  // A page may be short without being the last.
  for (let beforeId: string | null = null; ; ) {
    const page: LogPage = await orRefuse(
      usage.readLogs({
        ...EVERY_LOG,
        tenant: { account: tenancy.account, workspaces: tenancy.workspaces },
        condition: { ...EVERY_CALL, keys: [key.id] },
        outcome,
        fromMs,
        toMs,
        beforeId,
        limit: limit - found.length,
      }),
    );
    found.push(...page.calls);
    if (page.next === null || found.length === limit) return found;
    beforeId = page.next;
  }
}

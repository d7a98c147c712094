/**
 * Owns the limit rules held in memory, and which of them bind a call. Loaded at start and changed by commands after the store
 * has them; reads no store itself, and knows nothing of what is used.
 */
import {
  type BindingCaps,
  type CallSubjects,
  type Caps,
  EVERY_END_USER,
  endUserSubject,
  type Subject,
  type SubjectKind,
} from '../store/limits-port.ts';
import { windowAt } from './window.ts';

export interface LimitRules {
  get(subject: Subject): Caps | null;
  /** The names of models that have a rule, as they were given. */
  modelNames(): readonly string[];
  /** Makes, replaces or (null) takes away a rule; it binds the next call. @throws RangeError where a cap is no whole number. */
  put(subject: Subject, caps: Caps | null): void;
  /** A subject's own rule as it binds now, its windows in the zone; null: it has none. */
  bindingOf(subject: Subject, timeZone: string, nowMs: number): BindingCaps | null;
  /**
   * The caps that bind a call, key first. `timeZoneOf` answers the IANA name of an account's zone; a model's caps bind all
   * accounts together, and its windows are in UTC. `nowMs`: by when the call counts, its arrival.
   */
  bindingCapsOf(call: CallSubjects, timeZoneOf: (accountId: string) => string, nowMs: number): readonly BindingCaps[];
  /** The budget of the subject's own rule as it binds now; a model's is in UTC whatever the zone. Null: it has none. */
  budgetOf(subject: Subject, timeZone: string, nowMs: number): BindingCaps | null;
}

interface Rule {
  readonly caps: Caps;
  /** As it bound last, of the zone it was made for. */
  binding: BindingCaps | null;
  timeZone: string;
}

const NONE: readonly BindingCaps[] = [];
const PER_MINUTE_MAX = 1_000_000_000;
const MODEL_ZONE = 'UTC';

/** Who must know of a budget that was changed after the start. */
export interface BudgetListener {
  /** A rule was given a budget, or one of another window: what is known of it is not to be trusted. */
  onNewBudget(subject: Subject): void;
  /** Another amount for the same window. What is known goes on: read anew beside running calls, it would count some twice. */
  onNewAmount(subject: Subject, amount: bigint): void;
}

const NOBODY: BudgetListener = { onNewBudget: () => undefined, onNewAmount: () => undefined };

/** `listener` is told of each change of a budget; other caps need nobody to know. */
export function createLimitRules(
  stored: readonly { readonly subject: Subject; readonly caps: Caps }[],
  listener: BudgetListener = NOBODY,
): LimitRules {
  const byKind: Record<SubjectKind, Map<string, Rule>> = {
    key: new Map(),
    end_user: new Map(),
    workspace: new Map(),
    account: new Map(),
    model: new Map(),
  };
  const put = ({ kind, id }: Subject, caps: Caps | null): void => {
    if (caps === null) byKind[kind].delete(id);
    else byKind[kind].set(id, { caps: checkedCaps(caps, { kind, id }), binding: null, timeZone: '' });
  };
  for (const { subject, caps } of stored) put(subject, caps);
  return {
    get: ({ kind, id }) => byKind[kind].get(id)?.caps ?? null,
    modelNames: () => [...byKind.model.keys()],
    put(subject, caps) {
      const before = byKind[subject.kind].get(subject.id)?.caps.budget ?? null;
      put(subject, caps);
      const budget = caps?.budget ?? null;
      if (budget === null) return;
      if (budget.window !== before?.window) listener.onNewBudget(subject);
      else if (budget.amount !== before.amount) listener.onNewAmount(subject, budget.amount);
    },
    bindingOf(subject, timeZone, nowMs) {
      const rule = byKind[subject.kind].get(subject.id);
      return rule === undefined
        ? null
        : bindCaps(rule.caps, subject, subject.kind === 'model' ? MODEL_ZONE : timeZone, nowMs);
    },
    bindingCapsOf({ keyId, workspaceId, accountId, endUser, models }, timeZoneOf, nowMs) {
      let found: BindingCaps[] | null = null;
      const bind = (kind: SubjectKind, id: string): void => {
        const rule = byKind[kind].get(id);
        if (rule === undefined) return;
        found ??= [];
        found.push(bindingOf(rule, { kind, id }, kind === 'model' ? MODEL_ZONE : timeZoneOf(accountId), nowMs));
      };
      bind('key', keyId);
      if (endUser !== null && byKind.end_user.size > 0) {
        const own = endUserSubject(accountId, endUser);
        const everyone = byKind.end_user.get(endUserSubject(accountId, EVERY_END_USER).id);
        if (byKind.end_user.has(own.id)) bind('end_user', own.id);
        else if (everyone !== undefined) {
          found ??= [];
          found.push(bindCaps(everyone.caps, own, timeZoneOf(accountId), nowMs));
        }
      }
      bind('workspace', workspaceId);
      bind('account', accountId);
      if (byKind.model.size > 0) for (const name of models) bind('model', name);
      return found ?? NONE;
    },
    budgetOf(subject, timeZone, nowMs) {
      const rule = byKind[subject.kind].get(subject.id);
      if (rule === undefined || rule.caps.budget === null) return null;
      return bindCaps(rule.caps, subject, subject.kind === 'model' ? MODEL_ZONE : timeZone, nowMs);
    },
  };
}

/** A rule binds thousands of calls in a row in the same window; they share one object. */
function bindingOf(rule: Rule, subject: Subject, timeZone: string, nowMs: number): BindingCaps {
  const { binding } = rule;
  const isCurrent =
    binding !== null &&
    rule.timeZone === timeZone &&
    binding.windowStartMs <= nowMs &&
    (binding.windowEndMs === null || nowMs < binding.windowEndMs);
  if (isCurrent) return binding;
  rule.timeZone = timeZone;
  rule.binding = bindCaps(rule.caps, subject, timeZone, nowMs);
  return rule.binding;
}

function bindCaps(caps: Caps, subject: Subject, timeZone: string, nowMs: number): BindingCaps {
  const { startMs, endMs } = windowAt(caps.budget?.window ?? 'total', timeZone, nowMs);
  return { subject, caps, windowStartMs: startMs, windowEndMs: endMs };
}

/** Beyond the greatest rate the arithmetic would no longer be exact. */
function checkedCaps(caps: Caps, { kind, id }: Subject): Caps {
  for (const member of ['requestsPerMinute', 'tokensPerMinute', 'concurrency'] as const) {
    const cap = caps[member];
    if (cap !== null && (!Number.isSafeInteger(cap) || cap < 1 || cap > PER_MINUTE_MAX))
      throw new RangeError(
        `${member} of ${kind} ${id}: found ${cap}, expected a whole number from 1 to ${PER_MINUTE_MAX}, or none`,
      );
  }
  if (caps.budget !== null && caps.budget.amount < 0n)
    throw new RangeError(`budget of ${kind} ${id}: found ${caps.budget.amount} nano-USD, expected 0 or more`);
  return caps;
}

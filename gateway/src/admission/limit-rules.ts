/**
 * Keeps the limit rules in memory and selects those that apply to a call. Loaded at start; follows the change feed. Does
 * not track usage.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ChangeFollower } from '../store/ports/change-feed.ts';
import {
  type BindingCaps,
  type BudgetWindow,
  type CallSubjects,
  type Caps,
  EVERY_END_USER,
  endUserSubject,
  inLayer,
  type LimitLayer,
  layerOf,
  SUBJECT_KINDS,
  type Subject,
  type SubjectKind,
} from '../store/ports/limits.ts';
import type { PolicyReader } from '../store/ports/policy.ts';
import { windowAt } from './window.ts';

export interface LimitRules {
  get(subject: Subject): Caps | null;
  /** All subjects that have a rule. */
  subjects(): readonly Subject[];
  /**
   * Creates, replaces or (null) removes a rule; applies from the next call. @throws RangeError where a cap is not a
   * whole number.
   */
  put(subject: Subject, caps: Caps | null): void;
  /** Reads the spend of a subject's budgets again, because spend was imported. */
  reread(subject: Pick<Subject, 'kind' | 'id'>): void;
  /** A subject's own current rule, in the subject's layer; null: it has none. */
  bindingOf(subject: Subject, accountId: string, zoneOf: ZoneOf, nowMs: number): BindingCaps | null;
  /**
   * The caps that apply to a call, key first, the operator's before the account's own. A model's caps apply to all
   * accounts together, with windows in UTC. `nowMs`: the call's arrival.
   */
  bindingCapsOf(call: CallSubjects, zoneOf: ZoneOf, nowMs: number): readonly BindingCaps[];
  /** As `bindingOf`, for a rule with a budget; null: it has none. */
  budgetOf(subject: Subject, accountId: string, zoneOf: ZoneOf, nowMs: number): BindingCaps | null;
}

/** The IANA zone of an account's budget window of this kind that contains the moment. */
export type ZoneOf = (accountId: string, window: BudgetWindow, atMs: number) => string;

interface Rule {
  readonly caps: Caps;
  /** The last binding, for the zone it was made with. */
  binding: BindingCaps | null;
  timeZone: string;
}

/** The rules of one layer, by the id of their subject. */
type RuleBook = Readonly<Record<SubjectKind, Map<string, Rule>>>;

const LAYERS: readonly LimitLayer[] = ['operator', 'account'];
const NONE: readonly BindingCaps[] = [];
const PER_MINUTE_MAX = 1_000_000_000;
const MODEL_ZONE = 'UTC';

/** Receives changes of budgets after the start. */
export interface BudgetListener {
  /** A rule gained a budget, or changed its window: the known spend is invalid. */
  onNewBudget(subject: Subject): void;
  /**
   * A new amount for the same window. The known spend stays: reading it again while calls run would count some twice.
   */
  onNewAmount(subject: Subject, amount: bigint): void;
}

const NO_LISTENER: BudgetListener = { onNewBudget: () => undefined, onNewAmount: () => undefined };

/** `listener` receives each change of a budget; other caps need none. */
export function createLimitRules(
  stored: readonly { readonly subject: Subject; readonly caps: Caps }[],
  listener: BudgetListener = NO_LISTENER,
): LimitRules {
  const layers: Record<LimitLayer, RuleBook> = { operator: newRuleBook(), account: newRuleBook() };
  const find = (subject: Subject): Rule | undefined => layers[layerOf(subject)][subject.kind].get(subject.id);
  const put = (subject: Subject, caps: Caps | null): void => {
    const { kind, id } = subject;
    const rules = layers[layerOf(subject)][kind];
    if (caps === null) rules.delete(id);
    else rules.set(id, { caps: checkedCaps(caps, subject), binding: null, timeZone: '' });
  };
  for (const { subject, caps } of stored) put(subject, caps);
  /** The budget that binds the subject: an end user without a rule of their own has that of every end user. */
  const budgetThatBinds = (subject: Subject): Caps['budget'] => {
    const rule = find(subject) ?? (subject.kind === 'end_user' ? find(everyEndUser(subject)) : undefined);
    return rule?.caps.budget ?? null;
  };
  return {
    get: (subject) => find(subject)?.caps ?? null,
    subjects: () =>
      LAYERS.flatMap((layer) =>
        Object.entries(layers[layer]).flatMap(([kind, rules]) =>
          [...rules.keys()].map((id) => inLayer({ kind: kind as SubjectKind, id }, layer)),
        ),
      ),
    put(subject, caps) {
      const before = budgetThatBinds(subject);
      put(subject, caps);
      const budget = budgetThatBinds(subject);
      if (budget === null) return;
      if (budget.window !== before?.window) listener.onNewBudget(subject);
      else if (budget.amount !== before.amount) listener.onNewAmount(subject, budget.amount);
    },
    reread({ kind, id }) {
      for (const subject of LAYERS.map((layer) => inLayer({ kind, id }, layer))) {
        if (budgetThatBinds(subject) !== null) listener.onNewBudget(subject);
      }
    },
    bindingOf(subject, accountId, zoneOf, nowMs) {
      const rule = find(subject);
      return rule === undefined ? null : bindCaps(rule.caps, subject, accountId, zoneOf, nowMs);
    },
    bindingCapsOf(call, zoneOf, nowMs) {
      const { accountId } = call;
      let found: BindingCaps[] | null = null;
      for (const kind of SUBJECT_KINDS) {
        for (const layer of LAYERS) {
          const rules = layers[layer][kind];
          if (rules.size === 0) continue;
          found ??= [];
          for (const id of kind === 'model' ? call.models : [idIn(call, kind)]) {
            const rule = rules.get(id);
            if (rule !== undefined) {
              found.push(currentBinding(rule, kind, id, layer, accountId, zoneOf, nowMs));
              continue;
            }
            // In each layer, the end user's own rule, else the rule for every end user.
            const everyone = kind === 'end_user' && rules.get(endUserSubject(accountId, EVERY_END_USER).id);
            if (everyone) found.push(bindCaps(everyone.caps, inLayer({ kind, id }, layer), accountId, zoneOf, nowMs));
          }
        }
      }
      return found ?? NONE;
    },
    budgetOf(subject, accountId, zoneOf, nowMs) {
      const rule = find(subject);
      if (rule === undefined || rule.caps.budget === null) return null;
      return bindCaps(rule.caps, subject, accountId, zoneOf, nowMs);
    },
  };
}

/** Keeps loaded rules in step with the store. */
export function followRules(rules: LimitRules, policies: Pick<PolicyReader, 'readLimitRules'>): ChangeFollower {
  return {
    follow(changes) {
      for (const change of changes) if (change.of === 'rule') rules.put(change.subject, change.caps);
      for (const change of changes) {
        if (change.of !== 'import') continue;
        const { subjectKind: kind, subjectId: id } = change.imported;
        rules.reread({ kind, id });
      }
    },
    async reload() {
      const stored = await policies.readLimitRules();
      const isGone = (subject: Subject) => !stored.some((rule) => isDeepStrictEqual(rule.subject, subject));
      for (const subject of rules.subjects().filter(isGone)) rules.put(subject, null);
      for (const { subject, caps } of stored) rules.put(subject, caps);
    },
  };
}

/** The subject of all end users of the account of this one, in the same layer. */
function everyEndUser(subject: Subject): Subject {
  const { id } = subject;
  return { ...subject, id: `${id.slice(0, id.indexOf('/'))}/${EVERY_END_USER}` };
}

function newRuleBook(): RuleBook {
  return { key: new Map(), end_user: new Map(), workspace: new Map(), account: new Map(), model: new Map() };
}

/** The id of the call's one subject of this kind. */
function idIn({ keyId, workspaceId, accountId, endUser }: CallSubjects, kind: Exclude<SubjectKind, 'model'>): string {
  if (kind === 'key') return keyId;
  if (kind === 'workspace') return workspaceId;
  return kind === 'account' ? accountId : endUserSubject(accountId, endUser).id;
}

/** Thousands of consecutive calls share one binding object per rule and window. */
function currentBinding(
  rule: Rule,
  kind: SubjectKind,
  id: string,
  layer: LimitLayer,
  accountId: string,
  zoneOf: ZoneOf,
  nowMs: number,
): BindingCaps {
  const { binding, caps } = rule;
  const timeZone = zoneOfWindow(kind, accountId, caps, zoneOf, nowMs);
  const isCurrent =
    binding !== null &&
    rule.timeZone === timeZone &&
    binding.windowStartMs <= nowMs &&
    (binding.windowEndMs === null || nowMs < binding.windowEndMs);
  if (isCurrent) return binding;
  rule.timeZone = timeZone;
  rule.binding = bindCaps(caps, inLayer({ kind, id }, layer), accountId, zoneOf, nowMs);
  return rule.binding;
}

function bindCaps(caps: Caps, subject: Subject, accountId: string, zoneOf: ZoneOf, nowMs: number): BindingCaps {
  const timeZone = zoneOfWindow(subject.kind, accountId, caps, zoneOf, nowMs);
  const { startMs, endMs } = windowAt(caps.budget?.window ?? 'total', timeZone, nowMs);
  return { subject, caps, windowStartMs: startMs, windowEndMs: endMs };
}

function zoneOfWindow(kind: SubjectKind, accountId: string, { budget }: Caps, zoneOf: ZoneOf, nowMs: number): string {
  return kind === 'model' || budget === null ? MODEL_ZONE : zoneOf(accountId, budget.window, nowMs);
}

/** Above the maximum rate the arithmetic would no longer be exact. */
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

/**
 * Chooses the change of a limit rule, refuses changes that would undo those of others, and renders the audit entries that
 * are stored with policy changes.
 */

import { isDeepStrictEqual } from 'node:util';
import type { AuditedMembers, NewAuditEntry } from '../store/ports/audit.ts';
import { type Caps, inLayer, type LimitLayer, type Subject } from '../store/ports/limits.ts';
import type { PolicyChange } from '../store/ports/policy.ts';
import { changeCaps, namesCaps, type RequestedCaps } from './arguments.ts';
import { CommandFailure, type CommandRun, type ControlContext, type Json } from './command.ts';

/** Stores the changes and their entries, all or none; they are in force then. Does nothing if nothing changes. */
export async function storeChanges(
  { policies }: CommandRun,
  changes: readonly PolicyChange[],
  entries: readonly NewAuditEntry[],
): Promise<void> {
  if (changes.length > 0) await policies.save(changes, entries);
}

/** The account whose users run the installation: its rules are the operator's. */
export const OPERATOR_ACCOUNT = 'default';

/** The caps of a subject in both layers; both apply. */
export type LayeredCaps = Readonly<Record<LimitLayer, Caps | null>>;

/** No caps, such as those of a subject that does not exist yet. */
export const NO_LAYERED_CAPS: LayeredCaps = { operator: null, account: null };

interface RuleChange {
  /** None or one. */
  readonly changes: readonly PolicyChange[];
  /** The layer that was changed, or would be. */
  readonly layer: LimitLayer;
  /** The caps that apply to the subject afterwards. */
  readonly caps: LayeredCaps;
}

export function layeredCapsOf({ limits }: Pick<ControlContext, 'limits'>, subject: Subject): LayeredCaps {
  return {
    operator: limits.get(inLayer(subject, 'operator')),
    account: limits.get(inLayer(subject, 'account')),
  };
}

/**
 * The change of a subject's rule to the given caps. None if the rule stays the same, because setting a rule again reads
 * its budget again. `account`: the subject's; null: it belongs to no account, such as a model.
 *
 * @throws CommandFailure as `changeCaps`, and if the requester may not change the layer.
 */
export function chooseRuleChange(
  run: CommandRun,
  subject: Subject,
  account: string | null,
  given: RequestedCaps & { readonly layer?: LimitLayer | undefined },
): RuleChange {
  const layer = chooseLayer(run, account, given);
  const target = inLayer(subject, layer);
  const before = run.limits.get(target);
  const after = changeCaps(before, given);
  const caps = { ...layeredCapsOf(run, subject), [layer]: after };
  return {
    layer,
    caps,
    changes: isDeepStrictEqual(before, after) ? [] : [{ of: 'rule', subject: target, caps: after }],
  };
}

function chooseLayer(
  { by }: CommandRun,
  account: string | null,
  given: RequestedCaps & { readonly layer?: LimitLayer | undefined },
): LimitLayer {
  if (account === OPERATOR_ACCOUNT) return given.layer ?? 'operator';
  if (by.authority === 'operator') return account === null ? 'operator' : (given.layer ?? 'operator');
  if ((account === null && namesCaps(given)) || given.layer === 'operator') {
    throw new CommandFailure(
      'layer: found operator, whose limits only the operator of this gateway can change; ask them',
      'forbidden',
    );
  }
  return 'account';
}

export type ShownMembers = { readonly [member: string]: Json };

interface AuditedChange {
  readonly account: string;
  /** Null: it concerns the whole account. */
  readonly workspace: string | null;
  readonly subject: NewAuditEntry['subject'];
  /** As `views.ts` renders it, never with a secret; null: it did not exist. */
  readonly before: ShownMembers | null;
  /** Null: it no longer exists. */
  readonly after: ShownMembers | null;
}

/** The audit entry of a change, as the list to store with it; empty if nothing visible has changed. */
export function auditChange(run: CommandRun, change: AuditedChange): readonly NewAuditEntry[] {
  const { account, workspace } = change;
  const subject = { kind: change.subject.kind, id: change.subject.id };
  const by = { actor: run.by.actor, address: run.by.address };
  const changed = changedMembers(change.before, change.after);
  if (changed === null) return [];
  return [{ atMs: run.nowMs(), account, workspace, by, act: run.act, subject, ...changed }];
}

/** The members that changed; for a new or removed object, every member with a value. Null: nothing changed. */
export function changedMembers(
  before: ShownMembers | null,
  after: ShownMembers | null,
): { readonly before: AuditedMembers | null; readonly after: AuditedMembers | null } | null {
  if (after === null) return { before: before && pick(before, (member) => before[member] !== null), after: null };
  if (before === null) return { before: null, after: pick(after, (member) => after[member] !== null) };
  const differs = (member: string) => !isDeepStrictEqual(before[member] ?? null, after[member] ?? null);
  if (![...Object.keys(before), ...Object.keys(after)].some(differs)) return null;
  return { before: pick(before, differs), after: pick(after, differs) };
}

function pick(members: ShownMembers, keep: (member: string) => boolean): AuditedMembers {
  return Object.fromEntries(Object.entries(members).filter(([member]) => member !== 'id' && keep(member)));
}

const SHOWN_ITEMS = 3;

/**
 * Why a change is refused that names members as they were read, since another user changed one: it would undo theirs.
 * Null: it is not.
 */
export function explainStale(name: string, now: Members, read: Members = {}): string | null {
  const member = Object.keys(read).find((one) => !isDeepStrictEqual(now[one] ?? null, read[one] ?? null));
  if (member === undefined) return null;
  const what = describeChange(read[member], now[member]);
  return `Another user changed the ${member} of ${name} meanwhile (${what}), so nothing was saved. Open it again to change that`;
}

type Members = { readonly [member: string]: unknown };

/** @throws CommandFailure as `explainStale` says */
export function refuseStale(name: string, now: Members, read: Members | undefined): void {
  const stale = explainStale(name, now, read);
  if (stale !== null) throw new CommandFailure(stale);
}

function describeChange(before: unknown, now: unknown): string {
  if (!Array.isArray(before) || !Array.isArray(now))
    return `now ${now == null || now === '' ? 'not set' : typeof now === 'string' ? now : JSON.stringify(now)}`;
  const missing = (from: readonly unknown[], of: readonly unknown[]) =>
    of.filter((item) => !from.some((one) => isDeepStrictEqual(one, item))).map(nameOfItem);
  const words = (what: string, names: readonly string[]) => {
    const more = names.length > SHOWN_ITEMS ? ` and ${names.length - SHOWN_ITEMS} more` : '';
    return names.length === 0 ? [] : [`${what} ${names.slice(0, SHOWN_ITEMS).join(', ')}${more}`];
  };
  const [added, removed] = [missing(before, now), missing(now, before)];
  const changed = added.filter((name) => removed.includes(name));
  const only = (names: readonly string[]) => names.filter((name) => !changed.includes(name));
  const all = [...words('added', only(added)), ...words('removed', only(removed)), ...words('changed', changed)];
  return all.length === 0 ? 'now in another order' : all.join(', and ');
}

/** As the console names it: a text, a model or a target. */
function nameOfItem(item: unknown): string {
  if (typeof item === 'string') return item;
  const { name, provider, model } = item as Members;
  if (typeof name === 'string') return name;
  if (typeof provider !== 'string') return JSON.stringify(item);
  return typeof model === 'string' ? `${provider}/${model}` : provider;
}

/** Owns what a command's change says of itself in the audit trail: the members that changed, as administrators see them. Keeps nothing. */
import { isDeepStrictEqual } from 'node:util';
import type { AuditedMembers, NewAuditEntry } from '../store/audit-port.ts';
import type { CommandRun, Json } from './command.ts';

export type ShownMembers = { readonly [member: string]: Json };

export interface AuditedChange {
  readonly account: string;
  /** Null: it concerns the account as a whole. */
  readonly workspace: string | null;
  readonly subject: NewAuditEntry['subject'];
  /** As `views.ts` shows it, which never shows a secret; null: it was not there. */
  readonly before: ShownMembers | null;
  readonly after: ShownMembers;
}

/** The entry of a change, in the list that is kept with it; none where nothing that is shown has changed. */
export function auditChange(run: CommandRun, change: AuditedChange): readonly NewAuditEntry[] {
  const { account, workspace } = change;
  const subject = { kind: change.subject.kind, id: change.subject.id };
  const by = { actor: run.by.actor, address: run.by.address };
  const changed = changedMembers(change.before, change.after);
  if (changed === null) return [];
  return [{ atMs: run.nowMs(), account, workspace, by, act: run.act, subject, ...changed }];
}

/** Of what is new, every member that says something; null: nothing changed. */
function changedMembers(
  before: ShownMembers | null,
  after: ShownMembers,
): { readonly before: AuditedMembers | null; readonly after: AuditedMembers } | null {
  if (before === null) return { before: null, after: pick(after, (member) => after[member] !== null) };
  const differs = (member: string) => !isDeepStrictEqual(before[member] ?? null, after[member] ?? null);
  if (![...Object.keys(before), ...Object.keys(after)].some(differs)) return null;
  return { before: pick(before, differs), after: pick(after, differs) };
}

function pick(members: ShownMembers, keep: (member: string) => boolean): AuditedMembers {
  return Object.fromEntries(Object.entries(members).filter(([member]) => member !== 'id' && keep(member)));
}

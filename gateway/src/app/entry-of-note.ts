/** Owns how what people did about themselves, one another, providers and prices stands in the audit trail. */
import type { ModelNote } from '../console-api/model-desk.ts';
import type { PeopleNote } from '../people/people-note.ts';
import { HOUSE_ACCOUNT } from '../people/roles.ts';
import type { NewAuditEntry } from '../store/audit-port.ts';

/** What concerns no single account is in the trail of the house. */
export function entryOfNote({ act, actor, account, subject, before, after, address, atMs }: PeopleNote): NewAuditEntry {
  return {
    atMs,
    account: account ?? HOUSE_ACCOUNT,
    workspace: null,
    by: { actor: actor === null ? { kind: 'nobody', id: '', name: '' } : { kind: 'person', ...actor }, address },
    act,
    subject,
    before,
    after,
  };
}

/** Providers and prices are the installation's. */
export function entryOfModelNote(
  { act, actor, subject, before, after, address }: ModelNote,
  atMs: number,
): NewAuditEntry {
  const by =
    actor.kind === 'nobody'
      ? { kind: actor.kind, id: '', name: '' }
      : { kind: actor.kind, id: actor.id, name: actor.name };
  return {
    atMs,
    account: HOUSE_ACCOUNT,
    workspace: null,
    by: { actor: by, address },
    act,
    subject: { kind: act === 'prices.set' ? 'model' : 'provider', id: subject },
    before,
    after,
  };
}

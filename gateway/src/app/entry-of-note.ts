/** Owns how what people did about themselves and one another stands in the audit trail. */

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

/** Defines the queries over the audit log: `action:keys.* actor:ada date:2026-11-01..2026-11-21`. */
import type { QueryLanguage } from './query-language.ts';

export type AuditField = 'action' | 'actor' | 'target' | 'workspace' | 'date';

export const AUDIT_LANGUAGE: QueryLanguage<AuditField> = {
  fields: {
    action: { kind: 'text', about: 'What was done, such as keys.create or keys.*' },
    actor: { kind: 'text', about: 'Who did it, by name or id' },
    target: { kind: 'text', about: 'Id of what was changed' },
    workspace: { kind: 'text', about: 'Workspace; none: the whole account' },
    date: { kind: 'date', about: 'Day, in the time zone of the account' },
  },
  choices: {},
  ids: null,
};

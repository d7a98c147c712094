/** Names the actor, the action, the target and the fields of an audit entry, and lists its changes as text. */

import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { sentenceCase } from '../../lib/format.ts';

export function actorName({ kind, name, id }: AuditEntry['actor']): string {
  switch (kind) {
    case 'person':
      return name;
    case 'key':
      return `${name} (API key ${id})`;
    case 'command_line':
      return 'Command line';
    case 'anonymous':
      return 'Not signed in';
  }
}

/** The actions of the audit log. */
export const ACTIONS: Readonly<Record<string, string>> = {
  'accounts.correct': 'Adjusted balance',
  'accounts.create': 'Created account',
  'accounts.set': 'Edited account',
  'accounts.topup': 'Topped up account',
  'alerts.create': 'Created alert',
  'alerts.delete': 'Deleted alert',
  'alerts.set': 'Edited alert',
  'guardrails.create': 'Created guardrail',
  'guardrails.delete': 'Deleted guardrail',
  'guardrails.set': 'Edited guardrail',
  'views.create': 'Saved view',
  'views.delete': 'Deleted view',
  'views.set': 'Edited view',
  'credentials.add': 'Added credential',
  'credentials.disable': 'Took credential out of rotation',
  'credentials.enable': 'Put credential back into rotation',
  'credentials.remove': 'Removed credential',
  'credentials.replace': 'Replaced credential',
  'credentials.set': 'Edited credential',
  'imports.apply': 'Imported from another gateway',
  'invitation.accept': 'Accepted invitation',
  'invitation.create': 'Invited member',
  'invitation.withdraw': 'Revoked invitation',
  'keys.create': 'Created key',
  'keys.disable': 'Disabled key',
  'keys.enable': 'Enabled key',
  'keys.revoke': 'Revoked key',
  'keys.rotate': 'Rotated key',
  'keys.playground': 'Issued playground key',
  'keys.set': 'Edited key',
  'limits.set': 'Set limits',
  'member.change': 'Changed role',
  'member.remove': 'Removed member',
  'member.restore': 'Restored member',
  'member.suspend': 'Suspended member',
  'person.passkey_added': 'Added passkey',
  'person.passkey_removed': 'Removed passkey',
  'person.passkey_renamed': 'Renamed passkey',
  'person.password': 'Changed password',
  'person.rename': 'Changed name',
  'person.reset': 'Reset password',
  'person.reset_link': 'Created password reset link',
  'person.second_factor_off': 'Turned off two-factor authentication',
  'person.second_factor_on': 'Turned on two-factor authentication',
  'person.service_linked': 'Linked sign-in service',
  'person.service_unlinked': 'Unlinked sign-in service',
  'person.session_end': 'Signed out a session',
  'person.setup': 'Set up Tollgate',
  'person.sign_in': 'Signed in',
  'person.sign_in_failed': 'Failed to sign in',
  'person.sign_out': 'Signed out',
  'person.verify': 'Verified email address',
  'prices.set': 'Set price',
  'providers.change': 'Edited provider',
  'providers.create': 'Added provider',
  'providers.remove': 'Removed provider',
  'providers.test': 'Tested provider',
  'reconciliations.save': 'Imported invoice',
  'routes.close': 'Closed breaker',
  'routes.create': 'Created route',
  'routes.disable': 'Took target out of rotation',
  'routes.enable': 'Put target back into rotation',
  'routes.remove': 'Removed route',
  'routes.set': 'Edited route',
  'workspaces.create': 'Created workspace',
  'workspaces.set': 'Edited workspace',
};

/** An unknown action is shown by its code. */
export function actionName(act: string): string {
  return ACTIONS[act] ?? act;
}

const TARGETS: Readonly<Record<string, string>> = { key: 'API key', person: 'User' };

/** The kind of an entry's target; `begins`: at the beginning of a label. */
export function targetKind(kind: string, begins = true): string {
  const word = TARGETS[kind] ?? sentenceCase(kind);
  return begins || word.startsWith('API') ? word : word.toLowerCase();
}

const FIELDS: Readonly<Record<string, string>> = {
  ips: 'Allowed IP addresses',
  scopes: 'Permissions',
  strict: 'Strict translation',
  expires_at: 'Expires',
  bodies: 'Prompts & responses',
  bodies_days: 'Retention (days)',
  cache: 'Response cache',
  cache_seconds: 'Cache time to live (seconds)',
  cache_since: 'Cache answers since',
  required_tags: 'Required data tags',
  tags: 'Tags',
  base_url: 'Base URL',
  budget_nano_usd: 'Budget (nano-USD)',
  how: 'Sign-in method',
  kind: 'Type',
  last4: 'Last 4 characters',
  moved_nano_usd: 'Amount (nano-USD)',
  movement: 'Reference',
  rpm: 'Requests/min',
  tpm: 'Tokens/min',
  concurrency: 'Concurrent requests',
  budget_usd: 'Budget (USD)',
  budget_window: 'Budget period',
};

/** Label of a changed member of the API: `caps.rpm` → `Requests/min`. */
export function fieldName(member: string): string {
  const [, inner = member] = /^caps\.(\w+)$/.exec(member) ?? [];
  return FIELDS[inner] ?? sentenceCase(inner).replaceAll('.', ' › ');
}

export type AuditEntry = Reply<'GET /accounts/{account}/audit'>['entries'][number];

export interface Change {
  /** `caps.rpm`. */
  readonly member: string;
  /** Null when the member did not exist. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Unchanged members are omitted. Lists are compared and shown as a whole. */
export function changesOf({ before, after }: Pick<AuditEntry, 'before' | 'after'>): readonly Change[] {
  const old = flatten(before);
  const next = flatten(after);
  const members = [...new Set([...old.keys(), ...next.keys()])];
  return members
    .filter((member) => !members.some((other) => other.startsWith(`${member}.`)))
    .map((member) => ({ member, before: old.get(member) ?? null, after: next.get(member) ?? null }))
    .filter((change) => change.before !== change.after);
}

function flatten(value: unknown, path = '', found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (value === null && path === '') return found;
  if (isRecord(value) && (path === '' || Object.keys(value).length > 0)) {
    for (const [name, inner] of Object.entries(value)) flatten(inner, path === '' ? name : `${path}.${name}`, found);
    return found;
  }
  found.set(path, typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null'));
  return found;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Labels, permission checks, filters and affected replies that the pages about keys share. */
import type { ConsoleRoute, Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import type { CurrentAccount } from '../../lib/session.ts';
import type { Tone } from '../../ui/badge.tsx';
import { tagLines } from './tags/key-tags.ts';

export type Key = Reply<'GET /accounts/{account}/keys'>['keys'][number];
export type KeyPage = Reply<'GET /accounts/{account}/keys/{key}'>;
export type Scope = Key['scopes'][number];

/** Refetched after a key changed. */
export const KEY_READS: readonly ConsoleRoute[] = [
  'GET /accounts/{account}/keys',
  'GET /accounts/{account}/keys/{key}',
  'GET /accounts/{account}/keys/{key}/gauges',
  'GET /accounts/{account}/keys/{key}/may-call',
  'GET /accounts/{account}/limits',
  'GET /accounts/{account}/home',
];

export const STATUS_TONE: Readonly<Record<Key['status'], Tone>> = {
  active: 'good',
  disabled: 'attention',
  revoked: 'neutral',
  expired: 'neutral',
  ownerless: 'attention',
};

/** Whether the user may change the key: everyone's keys, or only their own. */
export function mayChange(key: Key, account: CurrentAccount, person: string | null): boolean {
  if (account.may('keys.manage')) return true;
  return account.may('keys.write') && key.owner !== null && key.owner.id === person;
}

/** Why the user may not enable a disabled key; null: they may. */
export function enableLock(
  { disabled_by: by }: Pick<Key, 'disabled_by'>,
  { may }: Pick<CurrentAccount, 'may'>,
  person: string | null,
): string | null {
  if (may('limits.write') || (by !== null && by.id === person)) return null;
  return `Disabled by ${by?.name ?? 'another user'}. Only an owner or admin can enable it.`;
}

export const SCOPES: readonly (readonly [Scope, name: string, description: string])[] = [
  ['inference', 'Call models', 'For applications and agents'],
  ['usage', 'Read usage', 'Usage, logs, API keys and limits of its workspace, through the API'],
  ['admin', 'Administer', 'Everything an admin can do, through the API'],
];

/** An act that opens a dialog. */
export type KeyAction =
  | { readonly kind: 'create'; readonly like: Key | null }
  | { readonly kind: 'edit' | 'rotate' | 'revoke'; readonly key: Key }
  | { readonly kind: 'reveal'; readonly of: 'new key' | 'rotation'; readonly key: Key; readonly secret: string };

export const STATUS_CHOICES: readonly (readonly [string, string])[] = [
  ['live', 'Not revoked'],
  ['all', 'All statuses'],
  ['active', 'Active'],
  ['disabled', 'Disabled'],
  ['expired', 'Expired'],
  ['ownerless', 'Ownerless'],
  ['revoked', 'Revoked'],
];

export function filterKeys(
  keys: readonly Key[],
  { q = '', status = 'live', workspace = '', tag = '' }: Readonly<Record<string, string>>,
): readonly Key[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return keys.filter(
    (key) =>
      matchesStatus(key, status) &&
      (workspace === '' || key.workspace === workspace) &&
      (tag === '' || tagLines(key.tags).includes(tag)) &&
      words.every((word) => textOf(key).includes(word)),
  );
}

function matchesStatus(key: Key, status: string): boolean {
  if (status === 'all') return true;
  return status === 'live' ? key.status !== 'revoked' : key.status === status;
}

function textOf({ id, name, last4, owner, workspace, tags }: Key): string {
  return `${id} ${name} tg_…${last4} ${owner?.name ?? ''} ${workspace} ${tagLines(tags).join(' ')}`.toLowerCase();
}

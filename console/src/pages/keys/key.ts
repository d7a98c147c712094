/** Owns what the pages about keys know of a key beside what the API says: words, rights, and which replies an act changes. */
import type { ConsoleRoute, Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import type { CurrentAccount } from '../../lib/session.ts';
import type { Tone } from '../../ui/badge.tsx';

export type Key = Reply<'GET /accounts/{account}/keys'>['keys'][number];
export type KeyPage = Reply<'GET /accounts/{account}/keys/{key}'>;
export type Scope = Key['scopes'][number];

/** What is asked for again after a key changed. */
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
};

/** Whether the person may change it: everybody's keys, or his own. */
export function mayChange(key: Key, account: CurrentAccount, person: string | null): boolean {
  if (account.may('keys.manage')) return true;
  return account.may('keys.write') && key.owner !== null && key.owner.id === person;
}

/** Why the person may not let a disabled key work again; null: he may. */
export function enableLock(
  { disabled_by: by }: Pick<Key, 'disabled_by'>,
  { may }: Pick<CurrentAccount, 'may'>,
  person: string | null,
): string | null {
  if (may('limits.write') || (by !== null && by.id === person)) return null;
  return `Disabled by ${by?.name ?? 'somebody else'}; only an owner or admin enables it.`;
}

export const SCOPES: readonly (readonly [Scope, name: string, means: string])[] = [
  ['inference', 'Call models', 'what applications and agents need'],
  ['usage', 'Read usage', 'of its workspace: usage, logs, keys and limits through the API'],
  ['admin', 'Administer', 'everything an administrator may do through the API'],
];

/** An act on a key that has a dialog. */
export type KeyAct =
  | { readonly kind: 'create'; readonly like: Key | null }
  | { readonly kind: 'edit' | 'rotate' | 'revoke'; readonly key: Key }
  | { readonly kind: 'reveal'; readonly key: Key; readonly secret: string };

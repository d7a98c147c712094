/** Filters the list of keys by its address. Revoked keys show only when requested. */
import type { Key } from './key.ts';

export const STATUS_CHOICES: readonly (readonly [string, string])[] = [
  ['live', 'Not revoked'],
  ['all', 'All statuses'],
  ['active', 'Active'],
  ['disabled', 'Disabled'],
  ['expired', 'Expired'],
  ['revoked', 'Revoked'],
];

export function filterKeys(
  keys: readonly Key[],
  { q = '', status = 'live', workspace = '' }: Readonly<Record<string, string>>,
): readonly Key[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return keys.filter(
    (key) =>
      matchesStatus(key, status) &&
      (workspace === '' || key.workspace === workspace) &&
      words.every((word) => textOf(key).includes(word)),
  );
}

function matchesStatus(key: Key, status: string): boolean {
  if (status === 'all') return true;
  return status === 'live' ? key.status !== 'revoked' : key.status === status;
}

function textOf({ id, name, last4, owner, workspace }: Key): string {
  return `${id} ${name} tg_…${last4} ${owner?.name ?? ''} ${workspace}`.toLowerCase();
}

/** Finds keys that expire soon, and active keys that are not used. */
import type { AlertRule, FoundAlert } from '../store/ports/books/alerts.ts';
import { DAY_MS, foundAlert, shownTime } from './found-alert.ts';

export interface ObservedKey {
  readonly id: string;
  readonly name: string;
  readonly expiresAtMs: number | null;
  /** Of its last request; if there was none, when it was created. */
  readonly usedAtMs: number;
}

/** `keys`: active keys of the account; an expired key is not reported. */
export function findExpiringKeys(
  own: readonly AlertRule[],
  keys: readonly ObservedKey[],
  nowMs: number,
): readonly FoundAlert[] {
  return keys.flatMap(({ id, name, expiresAtMs }) => {
    if (expiresAtMs === null || expiresAtMs <= nowMs) return [];
    const due = own.filter(({ threshold }) => expiresAtMs - nowMs <= Number(threshold) * DAY_MS);
    const text = `API key ${name} expires on ${shownTime(expiresAtMs)}.`;
    const remedy = { label: 'Rotate or extend key', page: pageOf(id) };
    return due.map((rule) =>
      foundAlert(rule, { event: ['expiring', id, expiresAtMs], text, remedy, repeatMs: null }, nowMs),
    );
  });
}

/** Once for each time of disuse. */
export function findUnusedKeys(
  own: readonly AlertRule[],
  keys: readonly ObservedKey[],
  nowMs: number,
): readonly FoundAlert[] {
  return keys.flatMap(({ id, name, expiresAtMs, usedAtMs }) => {
    if (expiresAtMs !== null && expiresAtMs <= nowMs) return [];
    const days = Math.floor((nowMs - usedAtMs) / DAY_MS);
    const due = own.filter(({ threshold }) => days >= Number(threshold));
    const text = `API key ${name} was not used for ${days} days.`;
    const remedy = { label: 'Show key', page: pageOf(id) };
    // The last use is stored to the minute.
    const event = ['unused', id, Math.floor(usedAtMs / DAY_MS)];
    return due.map((rule) => foundAlert(rule, { event, text, remedy, repeatMs: null }, nowMs));
  });
}

function pageOf(id: string): string {
  return `/app/keys/${encodeURIComponent(id)}`;
}

/** Lists the members that an act changed, before and after, as text. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';

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
  return [...new Set([...old.keys(), ...next.keys()])]
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

/** Builds the requests that change several keys, and those that undo them. */
import type { Body } from '../../../../../gateway/src/console-api/contract/contract.ts';
import type { CapsDraft } from '../../../policy/caps-draft.ts';
import { readCaps } from '../../../policy/caps-draft.ts';
import { isEmpty, type Read } from '../../../policy/read.ts';
import type { Key } from '../key.ts';
import { type Expiry, readExpiry } from '../key-draft.ts';
import { readTags } from '../tags/key-tags.ts';

export type BulkBody = Body<'POST /accounts/{account}/keys/bulk'>;
type Settings = NonNullable<BulkBody['set']>;

/** The changes that a dialog asks about. */
export type BulkDialogKind = 'disable' | 'revoke' | 'set';

/** As the gateway's limit. */
export const BULK_MAX = 200;

export interface BulkDraft {
  /** One `name=value` per line; without a value the tag is removed. */
  readonly tags: string;
  readonly replacesCaps: boolean;
  readonly caps: CapsDraft;
  readonly expiry: Expiry | 'keep';
  readonly expiresAt: string;
}

export const EMPTY_BULK_DRAFT: BulkDraft = {
  tags: '',
  replacesCaps: false,
  caps: { rpm: '', tpm: '', concurrency: '', budget: '', window: 'month' },
  expiry: 'keep',
  expiresAt: '',
};

/** The settings that the form changes; without any, a fault of `tags`. */
export function readBulkDraft(draft: BulkDraft, nowMs: number, zone: string): Read<Settings> {
  const tags = readTags(draft.tags);
  const caps = draft.replacesCaps ? readCaps(draft.caps) : null;
  const { expiry } = draft;
  const expires = expiry === 'keep' ? null : readExpiry({ ...draft, expiry }, nowMs, zone, null);
  const faults: Record<string, string> = {
    ...(caps !== null && 'faults' in caps ? caps.faults : {}),
    ...('fault' in tags ? { tags: tags.fault } : {}),
    ...(expires !== null && 'fault' in expires ? { expires_at: expires.fault } : {}),
  };
  if ((caps !== null && 'faults' in caps) || 'fault' in tags || (expires !== null && 'fault' in expires)) {
    return { faults };
  }
  const value: Settings = {
    ...(isEmpty(tags.tags) ? {} : { tags: { ...tags.tags } }),
    ...(caps === null ? {} : { caps: caps.value }),
    ...(expires === null ? {} : { expires_at: expires.at }),
  };
  return isEmpty(value)
    ? { faults: { tags: 'Nothing to change. Enter a tag, or change limits or expiry.' } }
    : { value };
}

/** The requests that restore what these keys were before; empty: it can’t be undone. */
export function undoRequests(
  keys: readonly Key[],
  { action, set }: Pick<BulkBody, 'action' | 'set'>,
): readonly BulkBody[] {
  const idsOf = (some: readonly Key[]) => some.map(({ id }) => id);
  switch (action) {
    case 'revoke':
      return [];
    case 'disable':
    case 'enable': {
      const changed = keys.filter(({ status }) => (status === 'disabled') === (action === 'enable'));
      if (changed.length === 0) return [];
      return [{ keys: idsOf(changed), action: action === 'enable' ? 'disable' : 'enable' }];
    }
    case 'set': {
      const groups = Map.groupBy(keys, (key) => JSON.stringify(restored(key, set ?? {})));
      return [...groups].map(([settings, some]) => ({ keys: idsOf(some), action, set: JSON.parse(settings) }));
    }
  }
}

function restored(key: Key, set: Settings): Settings {
  const names = Object.keys(set.tags ?? {}).sort();
  return {
    ...(set.tags === undefined
      ? {}
      : { tags: Object.fromEntries(names.map((name) => [name, key.tags[name] ?? null])) }),
    ...(set.caps === undefined ? {} : { caps: key.caps }),
    ...(set.expires_at === undefined ? {} : { expires_at: key.expires_at }),
  };
}

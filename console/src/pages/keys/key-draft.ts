/** Converts a key between its form and the API. The gateway validates; this checks only what is typed. */
import type { Body } from '../../../../gateway/src/console-api/contract/contract.ts';
import { instantOf, wallTime } from '../../lib/zone.ts';
import { type CapsDraft, draftCaps, readCaps } from '../../policy/caps-draft.ts';
import { draftModels, type ModelsDraft, readModels } from '../../policy/model-patterns.ts';
import type { Read } from '../../policy/read.ts';
import type { Key, Scope } from './key.ts';
import { readTags, type Tags, tagLines } from './tags/key-tags.ts';

export type KeyBody = Body<'POST /accounts/{account}/keys'>;
export type Expiry = 'never' | '7d' | '30d' | '90d' | '365d' | 'at';

export interface KeyDraft {
  readonly name: string;
  readonly workspace: string;
  readonly models: ModelsDraft;
  /** Addresses and networks, separated by commas or lines; empty: any address. */
  readonly ips: string;
  readonly scopes: readonly Scope[];
  readonly strict: boolean;
  /** One `name=value` per line. */
  readonly tags: string;
  readonly caps: CapsDraft;
  readonly expiry: Expiry;
  /** With `at`: `2026-11-22T14:00`, in the page's zone. */
  readonly expiresAt: string;
}

const NO_CAPS: CapsDraft = { rpm: '', tpm: '', concurrency: '', budget: '', window: 'month' };
const DAY_MS = 86_400_000;
const DAYS: Readonly<Record<Exclude<Expiry, 'never' | 'at'>, number>> = { '7d': 7, '30d': 30, '90d': 90, '365d': 365 };
export const NAME_MAX = 128;

export function emptyDraft(workspace: string): KeyDraft {
  return {
    name: '',
    workspace,
    models: { restricted: false, text: '' },
    ips: '',
    scopes: ['inference'],
    strict: false,
    tags: '',
    caps: NO_CAPS,
    expiry: 'never',
    expiresAt: '',
  };
}

/** The form of an existing key. */
export function draftOf(key: Key, zone: string): KeyDraft {
  return {
    name: key.name,
    workspace: key.workspace,
    models: draftModels(key.models),
    ips: key.ips?.join(', ') ?? '',
    scopes: key.scopes,
    strict: key.strict,
    tags: tagLines(key.tags).join('\n'),
    caps: draftCaps(key.caps),
    expiry: key.expires_at === null ? 'never' : 'at',
    expiresAt: key.expires_at === null ? '' : wallTime(key.expires_at, zone),
  };
}

/** The form of a copy, under another name. A past expiry is not copied. */
export function draftCopy(key: Key, nowMs: number, zone: string): KeyDraft {
  const draft = draftOf(key, zone);
  const isOver = key.expires_at !== null && Date.parse(key.expires_at) <= nowMs;
  return {
    ...draft,
    name: `${key.name.slice(0, NAME_MAX - ' copy'.length)} copy`,
    ...(isOver ? { expiry: 'never' as const, expiresAt: '' } : {}),
  };
}

/** `kept`: the current expiry; if untouched, it is sent back unchanged, including its seconds. */
export function readDraft(
  draft: KeyDraft,
  nowMs: number,
  zone: string,
  kept: string | null = null,
): Read<KeyBody & { readonly tags: Tags }> {
  const caps = readCaps(draft.caps);
  const models = readModels(draft.models);
  const tags = readTags(draft.tags);
  const expires = readExpiry(draft, nowMs, zone, kept);
  const name = draft.name.trim();
  const faults: Record<string, string> = 'faults' in caps ? { ...caps.faults } : {};
  if (name === '') faults.name = 'Enter a name that says who or what uses the key.';
  if (name.length > NAME_MAX) faults.name = `The name is ${name.length} characters long; the maximum is ${NAME_MAX}.`;
  if (draft.workspace === '') faults.workspace = 'Choose a workspace.';
  if (models.fault !== null) faults.models = models.fault;
  if (draft.scopes.length === 0) faults.scopes = 'Choose at least one permission.';
  if ('fault' in tags) faults.tags = tags.fault;
  if ('fault' in expires) faults.expires_at = expires.fault;
  const isInvalid = Object.keys(faults).length > 0;
  if (isInvalid || 'faults' in caps || 'fault' in tags || 'fault' in expires) return { faults };
  const ips = draft.ips.split(/[\s,]+/).filter((address) => address !== '');
  return {
    value: {
      name,
      workspace: draft.workspace,
      models: models.models,
      ips: ips.length === 0 ? null : ips,
      scopes: [...draft.scopes],
      strict: draft.strict,
      // A line without a value is no tag.
      tags: Object.fromEntries(
        Object.entries(tags.tags).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
      ),
      caps: caps.value,
      expires_at: expires.at,
    },
  };
}

export function readExpiry(
  { expiry, expiresAt }: Pick<KeyDraft, 'expiry' | 'expiresAt'>,
  nowMs: number,
  zone: string,
  kept: string | null,
): { at: string | null } | { fault: string } {
  if (expiry === 'never') return { at: null };
  if (expiry !== 'at') return { at: new Date(nowMs + DAYS[expiry] * DAY_MS).toISOString() };
  if (kept !== null && expiresAt === wallTime(kept, zone)) return { at: kept };
  const at = instantOf(expiresAt, zone);
  if (at === null) return { fault: 'Choose a date and time.' };
  if (at.getTime() <= nowMs) return { fault: 'This time is in the past. Choose a later one, or disable the key.' };
  return { at: at.toISOString() };
}

/** Converts a workspace between its form and the API, and describes its policies of bodies and of the cache. */
import type { Body, Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { type CapsDraft, draftCaps, readCaps } from '../../policy/caps-draft.ts';
import { draftModels, type ModelsDraft, readModels } from '../../policy/model-patterns.ts';
import type { Read } from '../../policy/read.ts';

export type Workspace = Reply<'GET /accounts/{account}/workspaces'>['workspaces'][number];
export type WorkspaceBody = Body<'POST /accounts/{account}/workspaces'>;
export type Configured = Reply<'GET /accounts/{account}/workspaces'>['configured'];
/** `inherit`: the configured default. */
export type BodiesChoice = NonNullable<Workspace['bodies']> | 'inherit';

export const BODIES: readonly (readonly [NonNullable<Workspace['bodies']>, name: string, description: string])[] = [
  ['off', 'Off', 'No prompts or responses are stored. Logs contain counts, costs and times only.'],
  ['errors', 'Errors only', 'Prompts and responses of failed requests are stored.'],
  [
    'all',
    'All',
    'Prompts and responses of all requests are stored, including any personal data. Members with access to content can view them in the logs.',
  ],
];

export const CACHE_MODES: readonly (readonly [Workspace['cache'], name: string, description: string])[] = [
  ['off', 'Off', 'Providers answer all requests.'],
  ['request', 'On request', 'Requests with the header x-tollgate-cache: on may be answered from the cache.'],
  ['all', 'All requests', 'The same request gets the same answer again, at once and free. A header can turn it off.'],
];

export interface WorkspaceDraft {
  readonly id: string;
  readonly models: ModelsDraft;
  readonly bodies: BodiesChoice;
  /** Empty: the configured default. */
  readonly days: string;
  readonly cache: Workspace['cache'];
  /** In seconds; empty: the default. */
  readonly cacheSeconds: string;
  readonly caps: CapsDraft;
}

const DAYS_MAX = 3_650;
const CACHE_SECONDS_MAX = 30 * 86_400;
export const CACHE_SECONDS_DEFAULT = 3_600;

/** Null: a new one. */
export function draftWorkspace(workspace: Workspace | null): WorkspaceDraft {
  return {
    id: workspace?.id ?? '',
    models: draftModels(workspace?.models ?? null),
    bodies: workspace?.bodies ?? 'inherit',
    days: workspace?.bodies_days?.toString() ?? '',
    cache: workspace?.cache ?? 'off',
    cacheSeconds: workspace?.cache_seconds?.toString() ?? '',
    caps: draftCaps(
      workspace?.caps ?? { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null },
    ),
  };
}

/** `configured`: which bodies a workspace stores that inherits. */
export function readWorkspace(
  draft: WorkspaceDraft,
  { bodies: inherited }: Pick<Configured, 'bodies'>,
): Read<WorkspaceBody> {
  const caps = readCaps(draft.caps);
  const models = readModels(draft.models);
  const faults: Record<string, string> = 'faults' in caps ? { ...caps.faults } : {};
  const id = draft.id.trim();
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(id))
    faults.id = 'Use up to 64 lowercase letters, digits, hyphens and underscores, starting with a letter or digit.';
  if (models.fault !== null) faults.models = models.fault;
  const days = readDays(draft.days.trim());
  if (days !== null && (days < 1 || days > DAYS_MAX))
    faults.bodies_days = `“${draft.days.trim()}” isn’t a number of days from 1 to 3,650.`;
  const bodies = draft.bodies === 'inherit' ? null : draft.bodies;
  const cache = readCache(draft);
  if (cache === null)
    faults.cache_seconds = `“${draft.cacheSeconds.trim()}” isn’t a number of seconds from 1 to 2,592,000 (30 days).`;
  if (draft.cache !== 'off' && (bodies ?? inherited) !== 'all')
    faults.cache = 'Store prompts and responses of all requests, or turn the cache off.';
  if (Object.keys(faults).length > 0 || 'faults' in caps || cache === null) return { faults };
  return { value: { id, models: models.models, bodies, bodies_days: days, ...cache, caps: caps.value } };
}

/** Null when the seconds are not a number of them. */
function readCache({ cache, cacheSeconds }: WorkspaceDraft): Pick<WorkspaceBody, 'cache' | 'cache_seconds'> | null {
  if (cache === 'off') return { cache };
  const text = cacheSeconds.trim();
  const seconds = text === '' ? CACHE_SECONDS_DEFAULT : /^\d{1,7}$/.test(text) ? Number(text) : 0;
  return seconds < 1 || seconds > CACHE_SECONDS_MAX ? null : { cache, cache_seconds: seconds };
}

/** Null when empty. 0 when it is not a number of days. */
function readDays(text: string): number | null {
  if (text === '') return null;
  return /^\d{1,4}$/.test(text) ? Number(text) : 0;
}

/** Parses the fields of a credential's form, and finds credentials that share rate limits. */
import type { ConsoleRoute, Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { STATE_TOUCHES } from '../../routing/routing-states.ts';

export const CREDENTIALS = 'GET /accounts/{account}/providers/{provider}/credentials';

/** The replies that a change of a credential changes. */
export const TOUCHES = [
  CREDENTIALS,
  'GET /accounts/{account}/providers',
  'GET /accounts/{account}/models',
  ...STATE_TOUCHES,
] as const satisfies readonly ConsoleRoute[];

export type CredentialView = Reply<typeof CREDENTIALS>['credentials'][number];

export interface CredentialSettings {
  readonly weight: number;
  readonly organisation: string | null;
  readonly models: string[] | null;
}

/** The fields as they are filled in. */
export interface CredentialFields {
  readonly weight: string;
  readonly organisation: string;
  readonly models: string;
}

export const NEW_FIELDS: CredentialFields = { weight: '1', organisation: '', models: '' };

export function fieldsOf({ weight, organisation, models }: CredentialSettings): CredentialFields {
  return { weight: String(weight), organisation: organisation ?? '', models: models?.join('\n') ?? '' };
}

const WEIGHT_MAX = 1_000;

/** Why the weight cannot be used; null: it can. */
export function weightError(text: string): string | null {
  const isWhole = /^\d{1,4}$/.test(text.trim()) && Number(text) <= WEIGHT_MAX;
  return isWhole ? null : `Enter a whole number from 0 to ${WEIGHT_MAX}.`;
}

/** One model per line; no line: all. The weight has been checked. */
export function parseSettings({ weight, organisation, models }: CredentialFields): CredentialSettings {
  const lines = models.split('\n').flatMap((line) => line.trim() || []);
  return {
    weight: Number(weight),
    organisation: organisation.trim() === '' ? null : organisation.trim(),
    models: lines.length === 0 ? null : [...new Set(lines)],
  };
}

/** The names of each group of credentials that share an organization. */
export function findSharedLimits(
  credentials: readonly { readonly name: string; readonly organisation: string | null }[],
): readonly (readonly string[])[] {
  const groups = new Map<string | null, string[]>();
  for (const { name, organisation } of credentials) {
    groups.set(organisation, [...(groups.get(organisation) ?? []), name]);
  }
  return [...groups.values()].filter((names) => names.length > 1);
}

const SHOWN_MAX = 3;

/** A few of the models, and how many more there are. */
export function listModels(models: readonly string[]): string {
  const more = models.length - SHOWN_MAX;
  return models.slice(0, SHOWN_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Parses the model lines of a provider form, and proposes provider names. */
import type { ConsoleRoute, Reply } from '../../../../gateway/src/console-api/contract/contract.ts';

export type ProvidersReply = Reply<'GET /accounts/{account}/providers'>;
export type ProviderView = ProvidersReply['providers'][number];

/** The replies that a change of a provider changes. */
export const TOUCHES = [
  'GET /accounts/{account}/providers',
  'GET /accounts/{account}/models',
] as const satisfies readonly ConsoleRoute[];

export interface ServedModel {
  readonly name: string;
  readonly upstream: string;
}

/** Error message for an invalid line. */
export interface LineFault {
  readonly line: number;
  readonly text: string;
}

/** One model per line: its name at the provider, or `public name = name at the provider`. Empty lines are skipped. */
export function parseModelLines(text: string): {
  readonly models: readonly ServedModel[];
  readonly fault: LineFault | null;
} {
  const models: ServedModel[] = [];
  const names = new Set<string>();
  for (const [at, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '') continue;
    const parts = line.split('=').map((part) => part.trim());
    const [name = '', upstream = name] = parts;
    if (parts.length > 2 || name === '' || upstream === '') {
      return {
        models,
        fault: { line: at + 1, text: `“${line}” isn’t a model name or “public name = provider’s name”` },
      };
    }
    if (names.has(name)) return { models, fault: { line: at + 1, text: `“${name}” is listed twice` } };
    names.add(name);
    models.push({ name, upstream });
  }
  return { models, fault: null };
}

/** The lines of models, from which `parseModelLines` gets them again. */
export function renderModelLines(models: readonly ServedModel[]): string {
  return models.map(({ name, upstream }) => (name === upstream ? name : `${name} = ${upstream}`)).join('\n');
}

/** An unused name for a provider of the given kind. */
export function freeName(kind: string, taken: readonly string[]): string {
  const stem =
    kind
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'provider';
  if (!taken.includes(stem)) return stem;
  let number = 2;
  while (taken.includes(`${stem}-${number}`)) number++;
  return `${stem}-${number}`;
}

/** Beginnings of API keys, the longer first; from the vendors' documentation, read 2026-11. */
const SECRET_KINDS = [
  ['sk-ant-', 'anthropic'],
  ['sk-proj-', 'openai'],
  ['sk-svcacct-', 'openai'],
  ['AIza', 'gemini'],
] as const;

/** The kind of provider that issues API keys with this beginning; null: unknown. */
export function kindOfSecret(secret: string): string | null {
  return SECRET_KINDS.find(([start]) => secret.trim().startsWith(start))?.[1] ?? null;
}

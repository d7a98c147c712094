/** Owns what is typed about a provider: the lines of its models, and what is wrong with them. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';

export type ProvidersReply = Reply<'GET /accounts/{account}/providers'>;
export type ProviderView = ProvidersReply['providers'][number];

export interface ServedModel {
  readonly name: string;
  readonly upstream: string;
}

/** A line that is not a model, in words. */
export interface LineFault {
  readonly line: number;
  readonly text: string;
}

/** One model a line: its name at the provider, or `public name = name at the provider`. Empty lines are none. */
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
        fault: { line: at + 1, text: `found “${line}”, expected a model name, or “public name = name there”` },
      };
    }
    if (names.has(name)) return { models, fault: { line: at + 1, text: `“${name}” stands there twice` } };
    names.add(name);
    models.push({ name, upstream });
  }
  return { models, fault: null };
}

/** A name for a provider of a kind that no other has. */
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

/** Finds the id for a name typed into a filter. Labels are unique; names of people and keys may not be. */

/** An id with its label. */
export interface Named {
  readonly value: string;
  readonly label: string;
}

export type Found =
  | { readonly kind: 'found'; readonly value: string }
  /** `near`: labels that begin with or contain the text, at most three. */
  | { readonly kind: 'unknown'; readonly near: readonly string[] };

const NEAR_MAX = 3;

/**
 * Matches by label, ignoring case when only one fits, or by id. An id missing from the list is accepted: its key may be
 * deleted.
 */
export function findNamed(text: string, names: readonly Named[], idPrefix: string): Found {
  const exact = names.find(({ value, label }) => label === text || value === text);
  if (exact !== undefined) return { kind: 'found', value: exact.value };
  const plain = text.toLowerCase();
  const same = names.filter(({ label }) => label.toLowerCase() === plain);
  const [only] = same;
  if (only !== undefined && same.length === 1) return { kind: 'found', value: only.value };
  if (text.startsWith(idPrefix)) return { kind: 'found', value: text };
  const near = names.filter(({ label }) => label.toLowerCase().includes(plain)).map(({ label }) => label);
  const [first] = near;
  const match = names.find(({ label }) => label === first);
  if (near.length === 1 && match !== undefined) return { kind: 'found', value: match.value };
  return { kind: 'unknown', near: near.slice(0, NEAR_MAX) };
}

/** Message for a text that matches no name. */
export function unknownWords(word: string, text: string, near: readonly string[]): string {
  const hint = near.length === 0 ? 'Choose one from the list.' : `Did you mean ${near.join(', ')}?`;
  return `No ${/^API /.test(word) ? word : word.toLowerCase()} is named “${text}”. ${hint}`;
}

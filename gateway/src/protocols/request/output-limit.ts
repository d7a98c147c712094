/**
 * Lists the request members that limit the output, and those that a provider may read as another limit. Formats spell
 * them exactly; providers may not: a case-insensitive JSON decoder reads `MAX_TOKENS` as `max_tokens`.
 */

/** A member that limits the output tokens of one answer. */
export type OutputLimitMember = 'max_tokens' | 'max_completion_tokens';

const EXACT: ReadonlySet<string> = new Set(['max_tokens', 'max_completion_tokens', 'n']);
const LENGTHS: ReadonlySet<number> = new Set([...EXACT].map((name) => name.length));

/**
 * Members that providers read in addition to the format's own: llama.cpp prefers `n_predict` to `max_tokens`
 * (tools/server/README.md, 2026-11); the others name the same limit in the engines behind compatible providers.
 */
const ALIASES: ReadonlySet<string> = new Set([
  'n_predict',
  'num_predict',
  'max_new_tokens',
  'max_output_tokens',
  'max_length',
  'best_of',
]);

/** Whether a member unknown to the format may change the output limit at some provider. */
export function mayChangeLimit(name: string): boolean {
  if (ALIASES.has(name)) return true;
  // Upper case first: it folds the long s, and lower case the Kelvin sign, as Go's decoder does.
  return LENGTHS.has(name.length) && EXACT.has(name.toUpperCase().toLowerCase());
}

/**
 * Lists the members of a request that bound its answer, and those by which a host may read another bound. Formats spell them
 * exactly; hosts do not: a JSON decoder that ignores case takes `MAX_TOKENS` for `max_tokens`.
 */

/** A member that bounds the output tokens of one answer. */
export type OutputLimitMember = 'max_tokens' | 'max_completion_tokens';

const EXACT: ReadonlySet<string> = new Set(['max_tokens', 'max_completion_tokens', 'n']);
const LENGTHS: ReadonlySet<number> = new Set([...EXACT].map((name) => name.length));

/**
 * What hosts read beside the format's own members: llama.cpp puts `n_predict` above `max_tokens`
 * (tools/server/README.md, 2026-11); the others are the names of the same bound in engines that compatible hosts stand before.
 */
const ALIASES: ReadonlySet<string> = new Set([
  'n_predict',
  'num_predict',
  'max_new_tokens',
  'max_output_tokens',
  'max_length',
  'best_of',
]);

/** Whether a member that the format does not have may change, at some host, how much output is generated. */
export function mayChangeLimit(name: string): boolean {
  if (ALIASES.has(name)) return true;
  // Upper case first: it folds the long s, and lower case the Kelvin sign, as Go's decoder does.
  return LENGTHS.has(name.length) && EXACT.has(name.toUpperCase().toLowerCase());
}

/** Splits recorded prompts into the half that ratios are learned from and the half that tests them. */
import { familyOf, type TokenFamily } from '../../src/tokens/token-families.ts';
import type { RecordedPrompt } from './recorded-prompts.ts';

export interface PromptHalves {
  readonly learnt: readonly RecordedPrompt[];
  readonly judged: readonly RecordedPrompt[];
}

/** Members that differ between two recordings of one prompt. */
const INCIDENTAL = new Set(['id', 'call_id', 'path', 'cache_mark']);

/**
 * Halves by a hash of the id. Identical prompts of a family are one group: they go to the half of the first, and count
 * once for each number of tokens.
 */
export function halvePrompts(prompts: readonly RecordedPrompt[]): Map<TokenFamily, PromptHalves> {
  const sides = new Map<string, boolean>();
  const seen = new Set<string>();
  const halves = new Map<TokenFamily, { learnt: RecordedPrompt[]; judged: RecordedPrompt[] }>();
  for (const prompt of prompts) {
    const family = familyOf(prompt.model);
    const said = `${family} ${sayingOf(prompt)}`;
    const isLearnt = sides.get(said) ?? hashOf(prompt.id) % 2 === 0;
    sides.set(said, isLearnt);
    const counted = `${said} ${prompt.promptTokens}`;
    if (seen.has(counted)) continue;
    seen.add(counted);
    const half = halves.get(family) ?? { learnt: [], judged: [] };
    halves.set(family, half);
    (isLearnt ? half.learnt : half.judged).push(prompt);
  }
  return halves;
}

function sayingOf({ request: { turns, tools, output_format } }: RecordedPrompt): string {
  return JSON.stringify([turns, tools, output_format], (member, value) => (INCIDENTAL.has(member) ? undefined : value));
}

/** FNV-1a with one more mixing step. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5;
  for (const character of id) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 13;
}

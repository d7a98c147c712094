/** Owns the reading of `thinking` of a messages request: whether the model thinks, and whether it shows it. */
import { BodyProblem, refuse } from '../body-problem.ts';
import { checkNumber, checkObject, checkRequiredWord, checkWord } from '../check-member.ts';
import { isAbsent } from '../json-value.ts';
import type { Prompt } from '../prompt.ts';

const TYPES = ['enabled', 'adaptive', 'between_tools', 'disabled'];
const BUDGET = { min: 1024, max: Number.MAX_SAFE_INTEGER, integer: true };

/** `between_tools` thinks only when tool results came in. `tokensMax` null: a token count, which has no limit to hold. */
export function parseThinking(value: unknown, tokensMax: number | null, hasResults: boolean): Prompt['thinking'] {
  if (isAbsent(value)) return 'none';
  const thinking = checkObject(value, ['thinking']);
  const type = checkRequiredWord(thinking.type, ['thinking', 'type'], TYPES);
  const display = checkWord(thinking.display, ['thinking', 'display'], ['summarized', 'omitted']);
  if (type === 'enabled') checkBudget(thinking.budget_tokens, tokensMax);
  if (type === 'disabled' || (type === 'between_tools' && !hasResults)) return 'none';
  return display === 'omitted' ? 'hidden' : 'shown';
}

function checkBudget(value: unknown, tokensMax: number | null): void {
  const path = ['thinking', 'budget_tokens'];
  const budget = checkNumber(value, path, BUDGET) ?? refuse(path, value, 'an integer of at least 1024');
  if (tokensMax === null || budget < tokensMax) return;
  throw new BodyProblem(path, `found ${budget}; expected less than \`max_tokens\`, which is ${tokensMax}`);
}

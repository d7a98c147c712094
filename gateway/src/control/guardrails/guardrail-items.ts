/** Checks what a guardrail rule looks for: names of detectors, or words and phrases of its own. */
import { DETECTORS } from '../../guardrails/detectors.ts';
import type { GuardrailCheck } from '../../store/ports/books/guardrails.ts';
import { CommandFailure } from '../command.ts';

const TERMS_MAX = 500;
const TERM_LENGTH_MAX = 200;

/** The items, each once. @throws CommandFailure for the argument `items`. */
export function readItems(check: GuardrailCheck, given: readonly string[]): readonly string[] {
  const items = [...new Set(given.map((item) => item.trim()))];
  if (check === 'hook') return [];
  if (check === 'terms') checkTerms(items);
  else checkDetectors(check, items);
  return items;
}

function checkTerms(terms: readonly string[]): void {
  if (terms.length === 0) throw fault('nothing', 'at least one term');
  if (terms.length > TERMS_MAX) throw fault(`${terms.length} terms`, `at most ${TERMS_MAX}`);
  for (const term of terms) {
    if (term === '') throw fault('an empty term', 'a word or phrase');
    if (term.length > TERM_LENGTH_MAX) {
      throw fault(`a term of ${term.length} characters`, `at most ${TERM_LENGTH_MAX}`);
    }
    if (/[\r\n\u2028\u2029]/.test(term)) throw fault('a term with a line break', 'one line per term');
  }
}

function checkDetectors(check: GuardrailCheck, names: readonly string[]): void {
  const known = DETECTORS.filter((detector) => detector.check === check).map(({ name }) => name as string);
  for (const name of names) {
    if (!known.includes(name)) throw fault(JSON.stringify(name.slice(0, 60)), `one of ${known.join(', ')}`);
  }
}

function fault(found: string, expected: string): CommandFailure {
  return new CommandFailure(`items: found ${found}, expected ${expected}`, 'usage');
}

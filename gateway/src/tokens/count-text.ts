/**
 * Counts the features of a text in one pass without a branch per character: a table maps the state and the next
 * character's class to the feature to count and the next state. Knows no tokenizer.
 */
import { type CharacterClass, CLASS_OF_UNIT, CLASSES, TEXT_FEATURES, type TextFeature } from './text-alphabet.ts';

/** The state after the characters so far: start of the text, a word of n letters, n digits of a group. */
const STATES = [
  'start',
  'space',
  'spaces',
  'newline',
  'mark',
  'ruler',
  'wide',
  'capital',
  'capitals',
  'digit1',
  'digit2',
  'digit3',
  'letter1',
  'letter2',
  'letter3',
  'letter4',
  'letter5',
  'letter6',
  'letter7',
  'letter8',
  'letter9',
  'letter10',
  'inner1',
  'inner2',
  'inner3',
  'inner4',
  'inner5',
  'inner6',
  'inner7',
  'inner8',
] as const;
type State = (typeof STATES)[number];
type Step = readonly [next: State, counted: TextFeature | null];

const WORD_LENGTH_MAX = 10;
const GROWTH: { readonly [letters: number]: TextFeature } = { 2: 'second', 5: 'fifth', 8: 'eighth' };
const INNER_LENGTH_MAX = 8;
const INNER_GROWTH: { readonly [letters: number]: TextFeature } = { 2: 'innerSecond', 5: 'innerFifth' };
const CLASS_BITS = 5;
/** A step holds the next state, shifted to leave room for a class; above it the counted feature. */
const FEATURE_SHIFT = 10;
const STATE_MASK = (1 << FEATURE_SHIFT) - 1;
const NOTHING = TEXT_FEATURES.length;
const STEPS = tabulate();

/** Occurrences of each of `TEXT_FEATURES`, in their order; the last entry counts characters without a feature. */
export type TextCounts = Int32Array;

/** Adds a text's features to `counts`. Each text starts without state from the text before. */
export function countText(text: string, counts: TextCounts): void {
  // Local names: reading a module constant in the loop costs a third of its time.
  const steps = STEPS;
  const classes = CLASS_OF_UNIT;
  const { length } = text;
  let state = 0;
  for (let at = 0; at < length; at += 1) {
    const step = steps[state | (classes[text.charCodeAt(at)] as number)] as number;
    state = step & STATE_MASK;
    const feature = step >> FEATURE_SHIFT;
    counts[feature] = (counts[feature] as number) + 1;
  }
}

/** Zeros for `countText`. */
export function emptyTextCounts(): TextCounts {
  return new Int32Array(TEXT_FEATURES.length + 1);
}

function tabulate(): Uint16Array {
  const steps = new Uint16Array(STATES.length << CLASS_BITS);
  for (const [before, state] of STATES.entries()) {
    for (const [index, of] of CLASSES.entries()) {
      const [next, counted] = stepOf(state, of);
      const feature = counted === null ? NOTHING : TEXT_FEATURES.indexOf(counted);
      steps[(before << CLASS_BITS) | index] = (STATES.indexOf(next) << CLASS_BITS) | (feature << FEATURE_SHIFT);
    }
  }
  return steps;
}

function stepOf(state: State, of: CharacterClass): Step {
  switch (of) {
    case 'space':
      return state === 'space' ? ['spaces', 'indent'] : state === 'spaces' ? ['spaces', null] : ['space', null];
    case 'newline':
      return ['newline', state === 'newline' ? null : 'newline'];
    case 'mark':
      return ['mark', state === 'mark' || state === 'ruler' ? 'moreMarks' : 'mark'];
    case 'ruler':
      return ['ruler', state === 'ruler' ? 'rule' : state === 'mark' ? 'moreMarks' : 'mark'];
    case 'digit':
      return stepOfDigit(state);
    case 'upper':
      if (state === 'capital' || state === 'capitals') return ['capitals', 'moreCapitals'];
      return ['capital', /^(letter|inner|digit)/.test(state) ? 'innerCapital' : 'capital'];
    case 'lower':
      return stepOfLetter(state);
    case 'accent':
      return [stepOfLetter(state)[0], 'accent'];
    case 'lowSurrogate':
      return ['wide', null];
    default:
      return ['wide', of];
  }
}

function stepOfDigit(state: State): Step {
  if (state === 'digit1') return ['digit2', 'digit'];
  if (state === 'digit2') return ['digit3', 'digit'];
  return ['digit1', state === 'space' || state === 'spaces' ? 'spacedDigits' : 'digits'];
}

function stepOfLetter(state: State): Step {
  if (state.startsWith('inner')) return growInner(Number(state.slice('inner'.length)) + 1);
  const letters = lettersOf(state) + 1;
  if (letters > WORD_LENGTH_MAX) return [`letter${WORD_LENGTH_MAX}`, 'eleventh'];
  if (letters > 1) return [`letter${letters}` as State, GROWTH[letters] ?? null];
  const opens = state === 'start' || state === 'space' || state === 'spaces' || state === 'newline';
  return opens ? ['letter1', 'word'] : ['inner1', 'innerWord'];
}

function growInner(letters: number): Step {
  if (letters > INNER_LENGTH_MAX) return [`inner${INNER_LENGTH_MAX}`, 'innerNinth'];
  return [`inner${letters}` as State, INNER_GROWTH[letters] ?? null];
}

function lettersOf(state: State): number {
  if (state === 'capital' || state === 'capitals') return 1;
  return state.startsWith('letter') ? Number(state.slice('letter'.length)) : 0;
}

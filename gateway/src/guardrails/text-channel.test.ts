/** Tests that a text that arrives in pieces is masked as the whole text is, wherever it is cut. */
import { describe, expect, test } from 'bun:test';
import type { GuardrailRule } from '../store/ports/books/guardrails.ts';
import { seededRandom } from '../store/testing/random-calls.ts';
import { DETECTORS, type DetectorName } from './detectors.ts';
import { personalDataMatchers } from './personal-data.ts';
import { SecretMatcher } from './secret-formats.ts';
import { TermMatcher } from './terms.ts';
import { type Piece, TextChannel } from './text-channel.ts';
import { TextRules } from './text-rules.ts';

const NAMES = new Set<DetectorName>(DETECTORS.map(({ name }) => name));
const RULE = { id: 'grl_1', action: 'mask', failsOpen: true } as GuardrailRule;
const MATCHERS = [new SecretMatcher(NAMES), ...personalDataMatchers(NAMES), new TermMatcher(['falcon', 'C++', 'a b'])];
const RULES = new TextRules([{ rule: RULE, matchers: MATCHERS }], Buffer.alloc(32));

/** What the client gets of the pieces, and where something was masked. */
function show(pieces: readonly string[]): { readonly text: string; readonly masks: readonly string[] } {
  const masks: string[] = [];
  const channel = new TextChannel(RULES, ({ start, end }, at, mask) => masks.push(`${at}+${end - start} ${mask}`));
  const shown = pieces.map((text, index): Piece => {
    const piece = { text, shown: null };
    channel.add(piece);
    channel.decide(index === pieces.length - 1);
    return piece;
  });
  return { text: shown.map((piece) => piece.shown).join(''), masks };
}

const BETWEEN = [
  '\\n',
  '\\u003e',
  '%3D',
  '\u001b[38;5;12m',
  '\\',
  'n',
  ' ',
  '\n',
  '"',
  ',',
  '-',
  '.',
  '@',
  '1',
  'a',
  '_',
  '+',
  '(',
  ': ',
  'é',
  '😀',
  '',
];
const SAMPLES: readonly string[] = [...DETECTORS.map(({ sample }) => sample), 'falcon', 'C++', 'a\tb'];

function randomText(random: () => number): string {
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? '';
  return Array.from({ length: 1 + Math.floor(random() * 8) }, () => {
    const sample = pick(SAMPLES);
    const from = random() < 0.2 ? Math.floor(random() * sample.length) : 0;
    const to = random() < 0.3 ? Math.floor(random() * sample.length) : sample.length;
    return pick(BETWEEN) + sample.slice(from, to) + pick(BETWEEN);
  }).join('');
}

function randomPieces(text: string, random: () => number): string[] {
  const pieces: string[] = [];
  const lengthMax = 1 + Math.floor(random() * 20);
  for (let at = 0; at < text.length; ) {
    const end = at + Math.floor(random() * (lengthMax + 1));
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

describe('a random text', () => {
  test.each([1, 2, 3, 4])('in random pieces is masked as in one: %d', (seed) => {
    const random = seededRandom(seed);
    let count = 0;
    for (let turn = 0; turn < 400; turn++) {
      const text = randomText(random);
      const whole = show([text]);
      count += whole.masks.length;
      for (const pieces of [randomPieces(text, random), [...text]])
        expect({ pieces, ...show(pieces) }).toEqual({ pieces, ...whole });
    }
    expect(count).toBeGreaterThan(500);
  });
});

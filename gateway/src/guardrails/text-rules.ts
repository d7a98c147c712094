/**
 * Searches texts for what the rules of a workspace find, all rules at once: what overlaps is one finding, of the rule that
 * finds it first. Makes the masks.
 */
import { createHmac } from 'node:crypto';
import type { GuardrailAction, GuardrailRule } from '../store/ports/books/guardrails.ts';
import type { Match, Matcher } from './matcher.ts';

/** A rule with all that it searches for. */
export interface TextRule {
  readonly rule: GuardrailRule;
  readonly matchers: readonly Matcher[];
}

/** `text[start, end)` as the rule has it. `isTooLong`: the rule could not see the end of what it found. */
export interface Finding {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly label: string;
  readonly rule: GuardrailRule;
  readonly action: GuardrailAction;
  readonly isTooLong: boolean;
}

/** Masks as they were made before. */
const MASK = /\[[A-Z_]{2,20}_[0-9a-f]{8}\]/g;

export class TextRules {
  readonly #rules: readonly TextRule[];
  readonly #maskKey: Buffer;

  /** `maskKey`: the account's own. */
  constructor(rules: readonly TextRule[], maskKey: Buffer) {
    this.#rules = rules;
    this.#maskKey = maskKey;
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** What is found from a place on, in order; none overlaps another. A mask is nothing to find. */
  find(text: string, from: number): Finding[] {
    const found: Finding[] = [];
    for (const { rule, matchers } of this.#rules) {
      const matches: Match[] = [];
      for (const matcher of matchers) matcher.find(text, from, matches);
      for (const match of matches) {
        // No mask replaces a text that is too long: the rule fails, open or closed.
        if (match.isTooLong && rule.failsOpen) continue;
        found.push({ ...match, rule, action: match.isTooLong ? 'block' : rule.action });
      }
    }
    if (found.length === 0) return found;
    // Sorting is stable: of two that are the same, the older rule's stays first.
    found.sort((a, b) => a.start - b.start || b.end - a.end);
    return joinOverlapping(withoutMasks(text, from, found));
  }

  /** Matches that begin before this are final. */
  openFrom(text: string, from: number): number {
    let open = text.length;
    for (const { matchers } of this.#rules) {
      for (const matcher of matchers) open = Math.min(open, matcher.openFrom(text, from));
    }
    return open;
  }

  /** The same text has the same mask in an account; who does not have the key learns nothing from it. */
  maskOf(label: string, text: string): string {
    return `[${label}_${createHmac('sha256', this.#maskKey).update(text).digest('hex').slice(0, 8)}]`;
  }
}

/** `found`: ordered by their starts. */
function withoutMasks(text: string, from: number, found: readonly Finding[]): readonly Finding[] {
  if (!text.includes('[', from)) return found;
  MASK.lastIndex = from;
  const masks = [...text.matchAll(MASK)].map(({ index, 0: mask }) => ({ start: index, end: index + mask.length }));
  let at = 0;
  return found.filter(({ start, end }) => {
    let mask = masks[at];
    while (mask !== undefined && mask.end <= start) mask = masks[++at];
    return mask === undefined || start < mask.start || mask.end < end;
  });
}

function joinOverlapping(found: readonly Finding[]): Finding[] {
  const joined: Finding[] = [];
  for (const next of found) {
    const last = joined.at(-1);
    if (last === undefined || next.start >= last.end) joined.push(next);
    else if (next.action === 'block' && last.action === 'mask') {
      joined[joined.length - 1] = { ...next, start: last.start, end: Math.max(last.end, next.end) };
    } else if (next.end > last.end) joined[joined.length - 1] = { ...last, end: next.end };
  }
  return joined;
}

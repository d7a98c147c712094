/** Applies the rules of one side of a workspace's requests to texts: what is found here first, then each hook in turn. */
import type { CallFailure } from '../errors/call-failure.ts';
import type { GuardrailRule } from '../store/ports/books/guardrails.ts';
import { blocked, cannotCheck, failureOfFinding, type Side, unavailable } from './guard-failures.ts';
import { askHook, type HookAnswer, type HookParts, type HookSubject } from './hook.ts';
import type { TextEdit } from './json-texts.ts';
import { type Piece, TextChannel } from './text-channel.ts';
import { type Finding, type TextRule, TextRules } from './text-rules.ts';

/** How often each rule masked something, by its id. */
export type MaskCounts = Map<string, number>;

export function countMask(counts: MaskCounts, ruleId: string): void {
  counts.set(ruleId, (counts.get(ruleId) ?? 0) + 1);
}

export interface SideParts {
  readonly side: Side;
  /** The rules of this side, in order. */
  readonly rules: readonly GuardrailRule[];
  readonly textRules: readonly TextRule[];
  /** A rule with a detector that this version does not have; null: none has. */
  readonly unknown: GuardrailRule | null;
  readonly maskKey: Buffer;
  readonly hook: HookParts;
}

/** A text to check. `masks`: what is found may be masked in it, not only blocked. */
export interface CheckedText {
  readonly text: string;
  readonly masks: boolean;
}

/** How much of a text is checked before other calls run. */
const STEP_LENGTH = 64 * 1024;

/** Of one request or answer; more would cost many times its memory. */
const MASKS_MAX = 100_000;

export class SideGuard {
  readonly side: Side;
  readonly rules: readonly GuardrailRule[];
  /** What masks and blocks; and what only blocks, for texts that must not change. */
  readonly masking: TextRules;
  readonly blocking: TextRules;
  readonly hooks: readonly GuardrailRule[];
  readonly #hook: HookParts;
  readonly #unknown: GuardrailRule | null;

  constructor({ side, rules, textRules, unknown, maskKey, hook }: SideParts) {
    this.side = side;
    this.rules = rules;
    this.masking = new TextRules(textRules, maskKey);
    this.blocking = new TextRules(
      textRules.filter(({ rule }) => rule.action === 'block'),
      maskKey,
    );
    this.hooks = rules.filter(({ check }) => check === 'hook');
    this.#hook = hook;
    this.#unknown = unknown;
  }

  /** Throws CallFailure where a rule that fails closed cannot run at all. */
  requireKnown(): void {
    if (this.#unknown !== null)
      throw unavailable(this.#unknown, this.side, 'this version has no detector of that name');
  }

  /** The rule that fails closed where something cannot be checked; null: all that there are let it pass. */
  get closedRule(): GuardrailRule | null {
    return this.rules.find(({ failsOpen }) => !failsOpen) ?? null;
  }

  /** The edits of each text. Throws CallFailure `guardrail_blocked` or `guardrail_unavailable`. */
  async check(
    texts: readonly CheckedText[],
    subject: HookSubject,
    counts: MaskCounts,
  ): Promise<readonly (readonly TextEdit[])[]> {
    this.requireKnown();
    const edits: (readonly TextEdit[])[] = [];
    let sinceYield = 0;
    let masked = 0;
    for (const { text, masks } of texts) {
      const rules = masks ? this.masking : this.blocking;
      if (rules.isEmpty) {
        edits.push([]);
        continue;
      }
      const found: TextEdit[] = [];
      const channel = new TextChannel(rules, ({ rule, start, end }, at, to) => {
        if (masked === MASKS_MAX) {
          if (rule.failsOpen) return;
          throw cannotCheck(rule, this.side, `it found more than ${MASKS_MAX} places to mask`);
        }
        masked += 1;
        countMask(counts, rule.id);
        found.push({ start: at, end: at + end - start, to });
      });
      for (let at = 0; at < text.length || at === 0; at += STEP_LENGTH) {
        const piece: Piece = { text: text.slice(at, at + STEP_LENGTH), shown: null };
        channel.add(piece);
        throwIfFound(channel.decide(at + STEP_LENGTH >= text.length), this.side);
        sinceYield += piece.text.length;
        if (sinceYield < STEP_LENGTH) continue;
        sinceYield = 0;
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      edits.push(found);
    }
    if (this.hooks.length === 0) return edits;
    const shown = texts.map(({ text, masks }, at) => ({ text: applyEdits(text, edits[at] ?? []), masks }));
    const replaced = await this.askHooks(shown, subject, counts);
    return texts.map(({ text }, at) => {
      const to = replaced[at];
      return to === undefined || to === shown[at]?.text ? (edits[at] ?? []) : [{ start: 0, end: text.length, to }];
    });
  }

  /** The hook's own answer about one text. */
  tryHook(rule: GuardrailRule, subject: HookSubject, text: string): Promise<HookAnswer> {
    return askHook(this.#hook, rule, this.side, subject, [text]);
  }

  /** What the hooks make of the texts. Throws like `check`. */
  async askHooks(texts: readonly CheckedText[], subject: HookSubject, counts: MaskCounts): Promise<readonly string[]> {
    let shown = texts.map(({ text }) => text);
    for (const rule of this.hooks) {
      const answer = await askHook(this.#hook, rule, this.side, subject, shown);
      if (answer.action === 'block') throw blocked(rule, this.side, answer.reason || 'its service decided so');
      if (answer.action === 'too_large' && !rule.failsOpen) throw cannotCheck(rule, this.side, answer.why);
      if (answer.action === 'failed' && !rule.failsOpen) throw unavailable(rule, this.side, answer.why);
      if (answer.action !== 'replace') continue;
      const before = shown;
      shown = before.map((text, at) => (texts[at]?.masks ? (answer.texts[at] ?? text) : text));
      if (shown.some((text, at) => text !== before[at])) countMask(counts, rule.id);
    }
    return shown;
  }
}

function throwIfFound(finding: Finding | null, side: Side): void {
  if (finding !== null) throw failureOfFinding(finding, side) satisfies CallFailure;
}

export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let applied = '';
  let at = 0;
  for (const { start, end, to } of edits) {
    applied += text.slice(at, start) + to;
    at = end;
  }
  return applied + text.slice(at);
}

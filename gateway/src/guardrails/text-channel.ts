/**
 * Searches a text that arrives in pieces. A piece is released once nothing in it can be part of what further text
 * completes; so it is exactly what it would be in the whole text.
 */
import { CONTEXT_LENGTH } from './matcher.ts';
import type { Finding, TextRules } from './text-rules.ts';

/** One piece of the text. */
export interface Piece {
  readonly text: string;
  /** What the client gets of it; null: not known yet. */
  shown: string | null;
}

interface Placed {
  readonly piece: Piece;
  readonly start: number;
  readonly end: number;
}

/** What is shown in place of `[start, end)` of the whole text. */
interface Mask {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** `start`: in the whole text. `mask`: what is shown there instead. */
type OnMasked = (finding: Finding, start: number, mask: string) => void;

export class TextChannel {
  readonly #rules: TextRules;
  readonly #onMasked: OnMasked;
  /** The text that is not decided, and a little of the text before it. */
  #text = '';
  /** Where that begins, and up to where all is decided, in the whole text. */
  #textStart = 0;
  #decidedTo = 0;
  #waiting: Placed[] = [];
  #masks: Mask[] = [];

  constructor(rules: TextRules, onMasked: OnMasked) {
    this.#rules = rules;
    this.#onMasked = onMasked;
  }

  add(piece: Piece): void {
    const start = this.#textStart + this.#text.length;
    this.#waiting.push({ piece, start, end: start + piece.text.length });
    this.#text += piece.text;
  }

  /** Decides what it can. Returns what blocks the text; null: nothing so far. `isOver`: no text follows. */
  decide(isOver: boolean): Finding | null {
    const from = this.#decidedTo - this.#textStart;
    const found = this.#rules.find(this.#text, from);
    let to = isOver ? this.#text.length : this.#rules.openFrom(this.#text, from);
    for (const finding of found) {
      if (finding.start >= to) break;
      // Further text may still prolong it.
      if (finding.end > to) to = finding.start;
    }
    for (const finding of found) {
      if (finding.start >= to) break;
      if (finding.action === 'block') return finding;
      const { start, end, label } = finding;
      const text = this.#rules.maskOf(label, this.#text.slice(start, end));
      this.#masks.push({ start: this.#textStart + start, end: this.#textStart + end, text });
      this.#onMasked(finding, this.#textStart + start, text);
    }
    this.#decidedTo = this.#textStart + to;
    this.#release();
    return null;
  }

  #release(): void {
    const ready = this.#waiting.findIndex(({ end }) => end > this.#decidedTo);
    const released = this.#waiting.splice(0, ready === -1 ? this.#waiting.length : ready);
    for (const placed of released) placed.piece.shown = this.#show(placed);
    const least = this.#waiting[0]?.start ?? this.#decidedTo;
    this.#masks = this.#masks.filter(({ end }) => end > least);
    const kept = Math.max(this.#textStart, this.#decidedTo - CONTEXT_LENGTH);
    this.#text = this.#text.slice(kept - this.#textStart);
    this.#textStart = kept;
  }

  /** A mask is shown where its text begins; the rest of that text is left out. */
  #show({ piece, start, end }: Placed): string {
    let shown = '';
    let at = start;
    for (const mask of this.#masks) {
      if (mask.end <= at || mask.start >= end) continue;
      if (mask.start >= start) shown += piece.text.slice(at - start, mask.start - start) + mask.text;
      at = Math.min(end, mask.end);
    }
    return shown + piece.text.slice(at - start);
  }
}

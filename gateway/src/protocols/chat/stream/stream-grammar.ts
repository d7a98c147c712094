/** Checks the order of the chunks of one choice. Works on abstract steps, not on chunks. */

/** One step of a chunk in the stream's order. `content` is any text: content, reasoning, refusal, annotations. */
export type ChatStep =
  | { readonly kind: 'role' | 'content' | 'finish' | 'usage' | 'done' }
  | { readonly kind: 'tool_start' | 'tool_fragment'; readonly index: number };

/** The official clients refuse indices from this one on (openai 7.55.0, November 2026). */
export const TOOL_CALLS_MAX = 128;

const ORDER = { empty: 0, open: 1, finished: 2, counted: 3, done: 4 } as const;

/**
 * The grammar of wire reference A.7: the role first; then texts and tool calls, whose indices count up from 0 and whose
 * fragments may mix; then one finish, at most one usage chunk, and the end.
 */
export class ChatGrammar {
  #state: (typeof ORDER)[keyof typeof ORDER] = ORDER.empty;
  #toolCalls = 0;

  /** The number of tool calls that have begun. */
  get toolCalls(): number {
    return this.#toolCalls;
  }

  /** Whether the role has come. */
  get begun(): boolean {
    return this.#state !== ORDER.empty;
  }

  /** Describes why the step is out of order, and ignores it; null: it is in order. */
  check(step: ChatStep): string | null {
    switch (step.kind) {
      case 'content':
        return this.#state === ORDER.open ? null : this.#misplaced('a delta');
      case 'tool_fragment':
        if (this.#state !== ORDER.open) return this.#misplaced('a tool call');
        return step.index < this.#toolCalls ? null : `arguments of tool call ${step.index}, which has not begun`;
      case 'tool_start':
        return this.#checkToolStart(step.index);
      case 'role':
        if (this.#state !== ORDER.empty) return 'the role came twice';
        this.#state = ORDER.open;
        return null;
      case 'finish':
        if (this.#state !== ORDER.open) return this.#misplaced('the finish reason');
        this.#state = ORDER.finished;
        return null;
      case 'usage':
        if (this.#state !== ORDER.finished) return this.#misplaced('the usage chunk');
        this.#state = ORDER.counted;
        return null;
      case 'done':
        if (this.#state !== ORDER.finished && this.#state !== ORDER.counted) return this.#misplaced('[DONE]');
        this.#state = ORDER.done;
        return null;
    }
  }

  #checkToolStart(index: number): string | null {
    if (this.#state !== ORDER.open) return this.#misplaced('a tool call');
    if (index !== this.#toolCalls) return `tool call ${index} begins where tool call ${this.#toolCalls} was expected`;
    if (index >= TOOL_CALLS_MAX) return `tool call ${index} begins; clients take at most ${TOOL_CALLS_MAX}`;
    this.#toolCalls += 1;
    return null;
  }

  #misplaced(what: string): string {
    switch (this.#state) {
      case ORDER.empty:
        return `${what} came before the role`;
      case ORDER.open:
        return `${what} came before the finish reason`;
      case ORDER.finished:
        return `${what} came after the finish reason`;
      case ORDER.counted:
        return `${what} came after the usage chunk`;
      case ORDER.done:
        return `${what} came after [DONE]`;
    }
  }
}

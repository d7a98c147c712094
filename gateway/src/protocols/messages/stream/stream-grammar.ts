/**
 * Checks the order of a messages stream's events: the state machine and the invariants I1–I4 and I7–I12 of wire
 * reference B.7. sequence-parts.ts ensures I5 (thinking before the call it led to) and call-arguments.ts I6 (complete
 * JSON), because no single event shows them.
 */

/** One event as the grammar sees it. `index` is null if the event has no integer index. */
export type MessagesStep =
  | {
      readonly kind: 'message_start';
      /** A response that continues after a server tool's call has its blocks and its reason here. */
      readonly blocks: number;
      readonly callsTool: boolean;
      readonly stop_reason: string | null;
      readonly output_tokens: number | null;
    }
  | { readonly kind: 'content_block_start'; readonly index: number | null; readonly block: string }
  | { readonly kind: 'content_block_delta'; readonly index: number | null; readonly delta: string }
  | { readonly kind: 'content_block_stop'; readonly index: number | null }
  | { readonly kind: 'message_delta'; readonly stop_reason: string | null; readonly output_tokens: number | null }
  | { readonly kind: 'message_stop' | 'error' | 'ping' | 'unknown' }
  /** The record's `event:` line does not match the event in its data, or the data is not an event. */
  | { readonly kind: 'misnamed'; readonly found: string };

/** Block types that each delta type fits. Source: B.7. */
const DELTA_BLOCKS: ReadonlyMap<string, readonly string[]> = new Map([
  ['text_delta', ['text']],
  ['citations_delta', ['text']],
  ['input_json_delta', ['tool_use', 'server_tool_use', 'mcp_tool_use']],
  ['thinking_delta', ['thinking']],
  ['signature_delta', ['thinking']],
  ['compaction_delta', ['compaction']],
]);
const BLOCKS_WITH_DELTAS: ReadonlySet<string> = new Set([...DELTA_BLOCKS.values()].flat());

/** Reasons to stop before the model was done; calls then need no `tool_use` reason. */
const CUTS: ReadonlySet<string | null> = new Set(['max_tokens', 'refusal', 'model_context_window_exceeded']);

/** Whether a delta type is allowed in a block. Unknown types are allowed anywhere, because formats grow. */
export function fitsBlock(block: string, delta: string): boolean {
  const blocks = DELTA_BLOCKS.get(delta);
  return blocks === undefined || blocks.includes(block) || !BLOCKS_WITH_DELTAS.has(block);
}

/** Checks one stream. After a violation, its results for later steps are meaningless. */
export class MessagesGrammar {
  #state: 'start' | 'between' | 'block' | 'tail' | 'end' = 'start';
  #blocks = 0;
  #block = '';
  #callsTool = false;
  #stopReason: string | null = null;
  #outputTokens = 0;

  /** Why the step is not allowed now; null if it is. */
  check(step: MessagesStep): string | null {
    if (this.#state === 'end') return `${step.kind} after the end of the message`;
    switch (step.kind) {
      case 'content_block_delta':
        return this.#inBlock(step.kind, step.index) ?? this.#fits(step.delta);
      case 'content_block_start':
        return this.#startBlock(step.index, step.block);
      case 'content_block_stop': {
        const violation = this.#inBlock(step.kind, step.index);
        if (violation === null) this.#state = 'between';
        return violation;
      }
      case 'message_start':
        return this.#startMessage(step);
      case 'message_delta':
        return this.#takeDelta(step.stop_reason, step.output_tokens);
      case 'message_stop':
        return this.#stopMessage();
      case 'misnamed':
        return `a record without an event line that names its event: ${step.found}`;
      case 'error':
        this.#state = 'end';
        return null;
      default:
        return null;
    }
  }

  #startMessage(step: Extract<MessagesStep, { kind: 'message_start' }>): string | null {
    if (this.#state !== 'start') return 'a second message_start';
    this.#state = 'between';
    this.#blocks = step.blocks;
    this.#callsTool = step.callsTool;
    this.#stopReason = step.stop_reason;
    this.#outputTokens = step.output_tokens ?? 0;
    return null;
  }

  #startBlock(index: number | null, block: string): string | null {
    if (this.#state === 'block') return `content_block_start while block ${this.#blocks - 1} is open`;
    if (this.#state !== 'between') return `content_block_start ${this.#where()}`;
    if (index !== this.#blocks) return `content_block_start with index ${index} where ${this.#blocks} is next`;
    this.#state = 'block';
    this.#blocks += 1;
    this.#block = block;
    if (block === 'tool_use') this.#callsTool = true;
    return null;
  }

  #inBlock(kind: string, index: number | null): string | null {
    if (this.#state !== 'block') return `${kind} ${this.#where()}`;
    return index === this.#blocks - 1 ? null : `${kind} of block ${index} while block ${this.#blocks - 1} is open`;
  }

  #fits(delta: string): string | null {
    return fitsBlock(this.#block, delta) ? null : `${delta} in a block of type ${this.#block}`;
  }

  #takeDelta(stop_reason: string | null, output_tokens: number | null): string | null {
    if (this.#state !== 'between' && this.#state !== 'tail') return `message_delta ${this.#where()}`;
    if (output_tokens !== null && output_tokens < this.#outputTokens) {
      return `output_tokens fell from ${this.#outputTokens} to ${output_tokens}`;
    }
    this.#state = 'tail';
    this.#outputTokens = output_tokens ?? this.#outputTokens;
    this.#stopReason = stop_reason;
    return null;
  }

  #stopMessage(): string | null {
    if (this.#state === 'start' || this.#state === 'block') return `message_stop ${this.#where()}`;
    if (this.#stopReason === null) return 'message_stop without a stop_reason';
    if (this.#stopReason === 'tool_use' && !this.#callsTool) return 'stop_reason tool_use without a tool_use block';
    if (this.#stopReason !== 'tool_use' && this.#callsTool && !CUTS.has(this.#stopReason)) {
      return `stop_reason ${this.#stopReason} after a tool_use block`;
    }
    this.#state = 'end';
    return null;
  }

  #where(): string {
    if (this.#state === 'start') return 'before message_start';
    if (this.#state === 'tail') return 'after message_delta';
    return this.#state === 'block' ? `while block ${this.#blocks - 1} is open` : 'outside of a block';
  }
}

/** Owns writing canonical events as the stream of a messages client. Errors are the vocabulary's. Source: wire reference B.7, C.4. */
import type { GenerationEvent } from '../../generation/event.ts';
import type { Usage } from '../../generation/usage.ts';
import type { AnswerContext, StreamRenderer } from '../codec.ts';
import { CheckedRecords } from './checked-records.ts';
import { NOT_STOPPED, renderMessage, renderStop } from './render-message.ts';
import { correctEstimate, estimateUsage, renderDeltaUsage, renderEstimate } from './render-usage.ts';
import { PartSequencer } from './sequence-parts.ts';
import { StreamBlocks } from './stream-blocks.ts';

export function startStreamRenderer(context: AnswerContext): StreamRenderer {
  return new MessagesStreamRenderer(context);
}

class MessagesStreamRenderer implements StreamRenderer {
  finish_reason: string | null = null;
  violation: string | null = null;
  readonly #context: AnswerContext;
  readonly #sequencer = new PartSequencer();
  readonly #records = new CheckedRecords();
  readonly #blocks: StreamBlocks;
  #finish: Extract<GenerationEvent, { kind: 'finish' }> | null = null;
  #usage: Usage | null = null;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#blocks = new StreamBlocks(this.#records, context);
  }

  push(event: GenerationEvent): string {
    if (this.violation !== null) return '';
    let records = '';
    for (const ordered of this.#sequencer.push(event)) records += this.#write(ordered);
    this.violation = this.#sequencer.violation ?? this.#records.violation;
    return this.violation === null ? records : '';
  }

  skipped(_part: number, text: string): void {
    this.#blocks.skip(text);
  }

  #write(event: GenerationEvent): string {
    switch (event.kind) {
      case 'text_delta':
      case 'arguments_delta':
        return this.#blocks.say(event.text);
      case 'start':
        return this.#start(event.model);
      case 'part_start':
        return this.#blocks.begin(event.opening);
      case 'part_end':
        return this.#blocks.end();
      case 'signature':
        return this.#blocks.sign(event.signature);
      case 'citation':
        return this.#blocks.cite(event.citation);
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        this.#finish = event;
        return '';
      case 'end':
        return this.#end();
      default:
        return '';
    }
  }

  #start(model: string | null): string {
    const usage = renderEstimate(this.#context.estimatedInputTokens);
    const message = renderMessage(model, [], NOT_STOPPED, usage, this.#context);
    const step = { kind: 'message_start', blocks: 0, callsTool: false, stop_reason: null, output_tokens: 0 } as const;
    return this.#records.write(step, { message });
  }

  #end(): string {
    if (this.#finish === null) return this.#records.pass({ kind: 'message_stop' }, '');
    const { estimatedInputTokens } = this.#context;
    const { callsTool, outputBytes } = this.#blocks;
    const counted = this.#usage ?? estimateUsage(estimatedInputTokens, outputBytes);
    const usage = correctEstimate(counted, estimatedInputTokens);
    const delta = renderStop(this.#finish, callsTool);
    const { stop_reason } = delta;
    const last = this.#records.write(
      { kind: 'message_delta', stop_reason, output_tokens: usage.output },
      { delta: { ...delta }, usage: renderDeltaUsage(usage) },
    );
    this.finish_reason = stop_reason;
    return last + this.#records.write({ kind: 'message_stop' }, {});
  }
}

/**
 * Renders canonical events as a messages stream. Errors are rendered in render-error.ts. Source: wire reference B.7,
 * C.4.
 */
import type { GenerationEvent, PartOpening } from '../../../generation/event.ts';
import type { Citation, Native, OpaquePart } from '../../../generation/part.ts';
import type { Usage } from '../../../generation/usage.ts';
import { RawJson, type WritableJson, writeJson } from '../../../wire/json-writer.ts';
import { PartSequencer } from '../../answer/sequence-parts.ts';
import type { AnswerContext, StreamRenderer } from '../../client-protocol.ts';
import { correctEstimate, estimateUsage, renderDeltaUsage, renderEstimate } from '../shared/usage.ts';
import { MessagesGrammar, type MessagesStep } from '../stream/stream-grammar.ts';
import { endsInHalf } from '../upstream/parse-answer-block.ts';
import {
  NOT_STOPPED,
  renderCallData,
  renderCitation,
  renderMessage,
  renderStop,
  sealOpaque,
  shownSignature,
  startCallIds,
} from './render-answer.ts';

/** The beginning of a record that all events of one type share. */
function recordHead(event: string): string {
  return `event: ${event}\ndata: {"type":"${event}"`;
}

/** JSON on one line, as a record requires: raw line ends can only be white space between values. */
function inOneLine(json: string): string {
  return json.replace(/[\r\n]/g, ' ');
}

class CheckedRecords {
  /** Why a record could not be written; null if all could. */
  violation: string | null = null;
  readonly #grammar = new MessagesGrammar();

  /** The record if the grammar allows it now, else an empty string. */
  pass(step: MessagesStep, record: string): string {
    const violation = this.#grammar.check(step);
    if (violation === null) return record;
    this.violation ??= violation;
    return '';
  }

  /** A record of an event without an index. */
  write(step: MessagesStep, members: { readonly [member: string]: WritableJson }): string {
    const rest = writeJson(members).slice(1);
    return this.pass(step, `${recordHead(step.kind)}${rest === '}' ? '' : ','}${rest}\n\n`);
  }
}

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
  /** The part that began last. */
  #part = -1;
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
        this.#part = event.part;
        return this.#blocks.begin(event.opening);
      case 'host_data':
        return event.part === this.#part ? this.#blocks.attach(event.native) : '';
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

const DELTA_HEAD = recordHead('content_block_delta');
const CUSTOM_INPUT_HEAD = '{"input":"';

/** The delta type for a part's text, and its member. */
const DELTAS = {
  text: { type: 'text_delta', member: 'text' },
  thinking: { type: 'thinking_delta', member: 'thinking' },
  tool_use: { type: 'input_json_delta', member: 'partial_json' },
} as const;

type CallOpening = Extract<PartOpening, { kind: 'tool_call' }>;
type ReasoningOpening = Extract<PartOpening, { kind: 'reasoning' }>;

class StreamBlocks {
  /** Whether any block is a tool call. */
  callsTool = false;
  /** UTF-8 bytes of all text, thinking and arguments. */
  outputBytes = 0;
  #index = -1;
  #opening: PartOpening = { kind: 'text' };
  #isOpen = false;
  /** The open part is a call, and nothing of it has been written. */
  #waits = false;
  /** The beginning of each delta record of the open block, and its grammar step. */
  #head = '';
  #step: MessagesStep = { kind: 'unknown' };
  /** A high surrogate that waits for its low surrogate. */
  #half = '';
  #hasText = false;
  #thinking = '';
  #signature: string | null = null;
  readonly #records: CheckedRecords;
  readonly #context: AnswerContext;
  readonly #takeId: (id: string) => string;

  constructor(records: CheckedRecords, context: AnswerContext) {
    this.#records = records;
    this.#context = context;
    this.#takeId = startCallIds(context.id);
  }

  begin(opening: PartOpening): string {
    this.#opening = opening;
    this.#half = '';
    this.#hasText = false;
    this.#thinking = '';
    this.#signature = null;
    if (opening.kind === 'opaque') return this.#writeOpaque(opening.part);
    this.#waits = opening.kind === 'tool_call';
    this.callsTool ||= this.#waits;
    return '';
  }

  /** What the issuer of a call wants back with it goes before it, sealed; nothing if the call was begun. */
  attach(native: Native): string {
    if (!this.#waits) return '';
    const block = renderCallData(native, this.#context);
    return this.#start(block.type, block) + this.#stop();
  }

  /** Renders a piece of the open part's text, thinking or arguments. */
  say(text: string): string {
    let whole = text;
    if (this.#half !== '') {
      whole = this.#half + text;
      this.#half = '';
    }
    if (endsInHalf(whole)) {
      this.#half = whole.slice(-1);
      whole = whole.slice(0, -1);
    }
    return whole === '' ? '' : this.#countAndWrite(whole);
  }

  /** Counts a piece of the open part that was already sent, in the form of the previous one. */
  skip(text: string): void {
    this.outputBytes += Buffer.byteLength(text);
    if (this.#opening.kind === 'reasoning') this.#thinking += text;
  }

  sign(signature: string): string {
    this.#signature = signature;
    return '';
  }

  cite(citation: Citation): string {
    const json = renderCitation(citation);
    if (this.#opening.kind !== 'text' || json === null) return '';
    const opened = this.#isOpen ? '' : this.#openText();
    const delta = `{"type":"citations_delta","citation":${inOneLine(json)}}`;
    const step = { kind: 'content_block_delta', index: this.#index, delta: 'citations_delta' } as const;
    return opened + this.#records.pass(step, `${DELTA_HEAD},"index":${this.#index},"delta":${delta}}\n\n`);
  }

  end(): string {
    const half = this.#half === '' ? '' : this.#countAndWrite(this.#half);
    this.#half = '';
    const last = half + this.#finish(this.#opening);
    return this.#isOpen ? last + this.#stop() : last;
  }

  #stop(): string {
    this.#isOpen = false;
    const step = { kind: 'content_block_stop', index: this.#index } as const;
    return this.#records.write(step, { index: this.#index });
  }

  /** Completes the block before its stop. */
  #finish(opening: PartOpening): string {
    if (opening.kind === 'reasoning') return this.#writeSignature(opening);
    if (opening.kind !== 'tool_call') return '';
    const opened = this.#openCall(opening);
    if (opening.tool === 'custom') return opened + this.#delta(this.#hasText ? '"}' : `${CUSTOM_INPUT_HEAD}"}`);
    return this.#hasText ? opened : opened + this.#delta('{}');
  }

  #countAndWrite(text: string): string {
    this.outputBytes += Buffer.byteLength(text);
    return this.#write(text);
  }

  #write(text: string): string {
    const opening = this.#opening;
    switch (opening.kind) {
      case 'text':
      case 'refusal':
        return this.#isOpen ? this.#delta(text) : this.#openText() + this.#delta(text);
      case 'reasoning': {
        if (opening.redacted) return '';
        this.#thinking += text;
        const opened = this.#isOpen ? '' : this.#openThinking();
        return opened + this.#delta(text);
      }
      case 'tool_call': {
        const head = opening.tool === 'custom' && !this.#hasText ? CUSTOM_INPUT_HEAD : '';
        this.#hasText ||= text.trim() !== '' || opening.tool === 'custom';
        const delta = opening.tool === 'custom' ? head + JSON.stringify(text).slice(1, -1) : text;
        return this.#openCall(opening) + this.#delta(delta);
      }
      default:
        return '';
    }
  }

  #delta(text: string): string {
    return this.#records.pass(this.#step, `${this.#head}${JSON.stringify(text)}}}\n\n`);
  }

  /** A call begins with its first piece, so that its data can come before it. */
  #openCall({ id, name }: CallOpening): string {
    if (!this.#waits) return '';
    this.#waits = false;
    return this.#open('tool_use', { type: 'tool_use', id: this.#takeId(id), name, input: {} });
  }

  #openText(): string {
    return this.#open('text', { type: 'text', text: '' });
  }

  #openThinking(): string {
    return this.#open('thinking', { type: 'thinking', thinking: '', signature: '' });
  }

  #open(block: keyof typeof DELTAS, content_block: WritableJson): string {
    const started = this.#start(block, content_block);
    const { type, member } = DELTAS[block];
    this.#head = `${DELTA_HEAD},"index":${this.#index},"delta":{"type":"${type}","${member}":`;
    this.#step = { kind: 'content_block_delta', index: this.#index, delta: type };
    return started;
  }

  #start(block: string, content_block: WritableJson): string {
    this.#index += 1;
    this.#isOpen = true;
    return this.#records.write(
      { kind: 'content_block_start', index: this.#index, block },
      { index: this.#index, content_block },
    );
  }

  #writeSignature({ redacted, issuer }: ReasoningOpening): string {
    const part = { kind: 'reasoning', text: this.#thinking, signature: this.#signature, redacted, issuer } as const;
    const signature = shownSignature(part, this.#context);
    if (signature === null) return '';
    if (redacted) return this.#start('redacted_thinking', { type: 'redacted_thinking', data: signature });
    const opened = this.#isOpen ? '' : this.#openThinking();
    const delta = `{"type":"signature_delta","signature":${JSON.stringify(signature)}}`;
    const step = { kind: 'content_block_delta', index: this.#index, delta: 'signature_delta' } as const;
    return opened + this.#records.pass(step, `${DELTA_HEAD},"index":${this.#index},"delta":${delta}}\n\n`);
  }

  #writeOpaque(part: OpaquePart): string {
    const { type, native } = part;
    if (native.origin === 'messages') return this.#start(type, new RawJson(inOneLine(native.json)));
    const sealed = sealOpaque(part, this.#context);
    return sealed === null ? '' : this.#start(sealed.type, sealed);
  }
}

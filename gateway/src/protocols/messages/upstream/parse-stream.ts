/**
 * Parses a messages upstream's stream into canonical events. Trusts no order and no type; complete only at
 * `message_stop`.
 */
import { dataText, type StreamRecord } from '../../../framing/framing.ts';
import type { GenerationEvent } from '../../../generation/event.ts';
import { elementTexts, memberText } from '../../exact-json.ts';
import { asArray, asName, asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import type { StreamParser } from '../../upstream-protocol.ts';
import { namesOutput } from '../shared/usage.ts';
import { asIndex } from '../stream/observe-stream.ts';
import { FinishParser, parseError } from './parse-answer.ts';
import { type BlockParser, startBlockParser } from './parse-answer-block.ts';

/** A response with more parts is refused. */
const PARTS_MAX = 10_000;
/** Events that are only valid inside a message; deltas are refused with their blocks. */
const INNER_EVENTS = new Set(['content_block_start', 'content_block_stop', 'message_delta', 'message_stop']);
const NONE: readonly GenerationEvent[] = [];

export function startStreamParser(): StreamParser {
  return new MessagesStreamParser();
}

class MessagesStreamParser implements StreamParser {
  isUsageFinal = false;
  #state: 'before' | 'open' | 'over' = 'before';
  #parts = 0;
  #blocks = 0;
  readonly #open = new Map<number, BlockParser>();
  readonly #finish = new FinishParser();
  readonly #place = { answerId: '', takePart: () => this.#parts++ };

  push(record: StreamRecord): readonly GenerationEvent[] {
    if (this.#state === 'over') return NONE;
    const json = dataText(record);
    const event = parseObject(json);
    const events = event === null ? malformed('a record that is not a JSON object') : this.#read(event, json, record);
    const last = events[events.length - 1]?.kind;
    if (last === 'malformed' || last === 'error' || last === 'end') this.#state = 'over';
    return events;
  }

  finish(): readonly GenerationEvent[] {
    this.#state = 'over';
    return NONE;
  }

  #read(event: JsonObject, json: string, record: StreamRecord): readonly GenerationEvent[] {
    const type = asText(event.type) ?? record.event;
    if (type === 'content_block_delta') return this.#readDelta(event, json);
    if (type === 'error' || (type === '' && asObject(event.error) !== null)) return [parseError(event.error)];
    if (type === 'message_start') return this.#start(event, json);
    if (this.#state === 'before') return INNER_EVENTS.has(type) ? malformed(`${type} before message_start`) : NONE;
    switch (type) {
      case 'content_block_start':
        return this.#startBlock(event, json);
      case 'content_block_stop':
        return this.#stopBlock(event);
      case 'message_delta':
        this.isUsageFinal ||= namesOutput(event.usage);
        return this.#finish.push(asObject(event.delta), event.usage);
      case 'message_stop':
        return this.#stop();
      default:
        return NONE;
    }
  }

  #readDelta(event: JsonObject, json: string): readonly GenerationEvent[] {
    const block = this.#blockOf(event);
    if (block === undefined) return malformed(`a delta for block ${shown(event.index)}, which is not open`);
    const delta = asObject(event.delta);
    return delta === null ? malformed('a content_block_delta without a delta') : block.push(delta, json);
  }

  #start(event: JsonObject, json: string): readonly GenerationEvent[] {
    if (this.#state === 'open') return malformed('a second message_start');
    this.#state = 'open';
    const message = asObject(event.message);
    const id = asText(message?.id);
    this.#place.answerId = id ?? '';
    const events: GenerationEvent[] = [{ kind: 'start', id, model: asName(message?.model) }];
    const blocks = asArray(message?.content);
    const texts =
      blocks.length === 0 ? [] : elementTexts(memberText(memberText(json, 'message') ?? '', 'content') ?? '');
    for (const [index, text] of texts.entries()) {
      const began = this.#begin(blocks[index], text);
      if (!('block' in began)) return [...events, ...began];
      events.push(...began.events, ...began.block.end());
    }
    return [...events, ...this.#finish.push(message, message?.usage)];
  }

  #startBlock(event: JsonObject, json: string): readonly GenerationEvent[] {
    const index = asIndex(event.index);
    if (index === null) return malformed(`a content_block_start with the index ${shown(event.index)}`);
    if (this.#open.has(index)) return malformed(`a second start of block ${index}, which is open`);
    const began = this.#begin(event.content_block, memberText(json, 'content_block') ?? '');
    if (!('block' in began)) return began;
    this.#open.set(index, began.block);
    return began.events;
  }

  /** A block's parser and its first events, or a `malformed` event. */
  #begin(
    value: unknown,
    json: string,
  ): { readonly block: BlockParser; readonly events: readonly GenerationEvent[] } | readonly GenerationEvent[] {
    const content = asObject(value);
    if (content === null) return malformed('a content block that is not an object');
    this.#blocks += 1;
    if (this.#blocks > PARTS_MAX) return malformed(`more than ${PARTS_MAX} content blocks`);
    const block = startBlockParser(content, json, this.#place);
    return typeof block === 'string' ? malformed(block) : { block, events: block.begin() };
  }

  #stopBlock(event: JsonObject): readonly GenerationEvent[] {
    const block = this.#blockOf(event);
    if (block === undefined) return malformed(`a stop of block ${shown(event.index)}, which is not open`);
    this.#open.delete(event.index as number);
    return block.end();
  }

  #blockOf(event: JsonObject): BlockParser | undefined {
    return typeof event.index === 'number' ? this.#open.get(event.index) : undefined;
  }

  #stop(): readonly GenerationEvent[] {
    const events: GenerationEvent[] = [];
    for (const [index, block] of this.#open) {
      if (!block.closesItself) return malformed(`message_stop while block ${index}, a tool call, is open`);
      events.push(...block.end());
    }
    events.push(this.#finish.finish(), { kind: 'end' });
    return events;
  }
}

/** `what` completes the sentence "upstream sent …". */
function malformed(what: string): readonly GenerationEvent[] {
  return [{ kind: 'malformed', message: `upstream sent ${what}` }];
}

/** An index for a message: never more than a number. */
function shown(index: unknown): string {
  return typeof index === 'number' ? String(index) : `of type ${typeof index}`;
}

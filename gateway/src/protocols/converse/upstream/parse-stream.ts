/**
 * Parses a Converse stream into canonical events. Trusts no order and no type; complete at `messageStop`, after which only
 * the usage follows. Source: provider reference C.4.
 */
import { FAILURE_PREFIX } from '../../../framing/aws-event-stream.ts';
import { dataText, type StreamRecord } from '../../../framing/framing.ts';
import { type GenerationEvent, usageEvent } from '../../../generation/event.ts';
import { memberText } from '../../exact-json.ts';
import { asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import type { StreamParser } from '../../upstream-protocol.ts';
import { parseException } from '../shared/errors.ts';
import { parseStopReason } from '../shared/stop-reasons.ts';
import { readUsage } from '../shared/usage.ts';
import { BlockParser, malformed, PartCounter } from './parse-answer-block.ts';

/** A response with more blocks is refused. */
const BLOCKS_MAX = 10_000;
const NONE: readonly GenerationEvent[] = [];

export function startStreamParser(): StreamParser {
  return new ConverseStreamParser();
}

class ConverseStreamParser implements StreamParser {
  isUsageFinal = false;
  /** `stopped`: the answer is complete but for its usage. */
  #state: 'before' | 'open' | 'stopped' | 'over' = 'before';
  #blocks = 0;
  readonly #open = new Map<number, BlockParser>();
  readonly #counter = new PartCounter();

  push(record: StreamRecord): readonly GenerationEvent[] {
    if (this.#state === 'over') return NONE;
    const events = this.#read(record);
    const last = events[events.length - 1]?.kind;
    if (last === 'malformed' || last === 'error' || last === 'end') this.#state = 'over';
    return events;
  }

  finish(): readonly GenerationEvent[] {
    const isComplete = this.#state === 'stopped';
    this.#state = 'over';
    return isComplete ? [{ kind: 'end' }] : NONE;
  }

  #read(record: StreamRecord): readonly GenerationEvent[] {
    const { event } = record;
    const json = dataText(record);
    if (event.startsWith(FAILURE_PREFIX)) return [parseException(event.slice(FAILURE_PREFIX.length), json)];
    const payload = parseObject(json);
    if (payload === null) return malformed('a record that is not a JSON object');
    if (event === 'metadata') return this.#count(payload);
    if (event === 'messageStart') {
      if (this.#state !== 'before') return malformed('a second messageStart');
      this.#state = 'open';
      return [{ kind: 'start', id: null, model: null }];
    }
    const isKnown = event === 'messageStop' || event.startsWith('contentBlock');
    if (!isKnown) return NONE;
    if (this.#state !== 'open') return malformed(`${event} outside of a message`);
    return event === 'messageStop' ? this.#stop(payload) : this.#readBlock(event, payload, json);
  }

  #readBlock(event: string, payload: JsonObject, json: string): readonly GenerationEvent[] {
    const index = payload.contentBlockIndex;
    if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0)
      return malformed(`${event} of no block`);
    const open = this.#open.get(index);
    if (event === 'contentBlockStop') {
      this.#open.delete(index);
      return open?.end() ?? NONE;
    }
    if (event === 'contentBlockStart' && open !== undefined) return malformed(`a second start of block ${index}`);
    const block = open ?? this.#openBlock(index);
    if (block === null) return malformed(`more than ${BLOCKS_MAX} content blocks`);
    const member = event === 'contentBlockStart' ? 'start' : 'delta';
    const piece = asObject(payload[member]);
    if (piece === null) return malformed(`${event} without a ${member}`);
    return member === 'start' ? block.begin(piece, memberText(json, member) ?? '') : block.push(piece);
  }

  #openBlock(index: number): BlockParser | null {
    this.#blocks += 1;
    if (this.#blocks > BLOCKS_MAX) return null;
    const block = new BlockParser(this.#counter);
    this.#open.set(index, block);
    return block;
  }

  #stop(payload: JsonObject): readonly GenerationEvent[] {
    const events: GenerationEvent[] = [];
    for (const [index, block] of this.#open) {
      if (!block.closesItself) return malformed(`messageStop while block ${index}, a tool call, is open`);
      events.push(...block.end());
    }
    this.#state = 'stopped';
    return [...events, ...parseFinish(payload)];
  }

  /** Comes after messageStop; before it, it is not the end. */
  #count(payload: JsonObject): readonly GenerationEvent[] {
    const usage = readUsage(payload);
    this.isUsageFinal ||= usage !== null;
    const events: GenerationEvent[] = usage === null ? [] : [usageEvent(usage)];
    return this.#state === 'stopped' ? [...events, { kind: 'end' }] : events;
  }
}

/** The end of an answer, of a stream or plain. */
export function parseFinish(answer: JsonObject): readonly GenerationEvent[] {
  const reported = asText(answer.stopReason);
  const finish_reason = parseStopReason(reported);
  if (finish_reason === 'malformed') {
    return [{ kind: 'malformed', message: `the model's output cannot be read: ${reported}` }];
  }
  const stop_sequence = stopSequenceIn(asObject(answer.additionalModelResponseFields));
  return [{ kind: 'finish', finish_reason, stop_sequence, reported, explanation: null }];
}

/** Requested from Anthropic's models, whose member is elsewhere in a stream. */
function stopSequenceIn(fields: JsonObject | null): string | null {
  return asText(fields?.stop_sequence) ?? asText(asObject(fields?.delta)?.stop_sequence);
}

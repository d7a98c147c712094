/**
 * Parses a messages response in one piece into the events of the same response streamed, its end, and upstream error
 * bodies.
 */
import { type GenerationEvent, usageEvent } from '../../../generation/event.ts';
import type { UpstreamError } from '../../answer/error-body.ts';
import { describeError, readErrorBody } from '../../answer/error-body.ts';
import { elementTexts, memberText } from '../../exact-json.ts';
import { asArray, asName, asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import { parseStopReason } from '../shared/stop-reasons.ts';
import { EMPTY_TALLY, reportedUsageOf, statusOfType, tallyUsage } from '../shared/usage.ts';
import { startBlockParser } from './parse-answer-block.ts';

/** Parses the body of a 200. Ends with `end`, or is one `error` or one `malformed`. */
export function parseAnswer(body: Buffer): readonly GenerationEvent[] {
  const json = body.toString();
  const message = parseObject(json);
  if (message === null) return malformed('an answer that is not a JSON object');
  if (message.type === 'error') return [parseError(message.error)];
  if (!Array.isArray(message.content)) return malformed('an answer without content');
  const id = asText(message.id);
  const events: GenerationEvent[] = [{ kind: 'start', id, model: asName(message.model) }];
  const blocks = asArray(message.content);
  let parts = 0;
  const place = { answerId: id ?? '', takePart: () => parts++ };
  for (const [index, text] of elementTexts(memberText(json, 'content') ?? '').entries()) {
    const content = asObject(blocks[index]);
    if (content === null) return malformed('a content block that is not an object');
    const block = startBlockParser(content, text, place);
    if (typeof block === 'string') return malformed(block);
    for (const event of [...block.begin(), ...block.end()]) {
      if (event.kind === 'malformed') return [event];
      events.push(event);
    }
  }
  const finish = new FinishParser();
  events.push(...finish.push(message, message.usage), finish.finish(), { kind: 'end' });
  return events;
}

/** `what` completes the sentence "upstream sent …". */
function malformed(what: string): readonly GenerationEvent[] {
  return [{ kind: 'malformed', message: `upstream sent ${what}` }];
}

/** `error` is the `error` member of upstream's body or event. */
export function parseError(error: unknown): GenerationEvent {
  const found = asObject(error);
  const type = asText(found?.type) ?? 'api_error';
  return {
    kind: 'error',
    type,
    message: asText(found?.message) ?? 'upstream gave no reason',
    status: statusOfType(type),
  };
}

/**
 * Never throws, whatever the bytes. `message` is not scrubbed. `error.details.error_code` is more specific than the
 * type. B.8.
 */
export function readError(body: Buffer): UpstreamError {
  const { message, code, error } = readErrorBody(body);
  return describeError(message, asText(asObject(error?.details)?.error_code) ?? code);
}

export class FinishParser {
  #tally = EMPTY_TALLY;
  #reported: string | null = null;
  #stopSequence: string | null = null;
  #explanation: string | null = null;

  /** Takes the stop members of a message or delta, and its usage; returns the counters so far if they are valid. */
  push(reasons: JsonObject | null, usage: unknown): readonly GenerationEvent[] {
    this.#reported = asText(reasons?.stop_reason) ?? this.#reported;
    this.#stopSequence = asText(reasons?.stop_sequence) ?? this.#stopSequence;
    this.#explanation = asText(asObject(reasons?.stop_details)?.explanation) ?? this.#explanation;
    if (asObject(usage) === null) return [];
    this.#tally = tallyUsage(this.#tally, usage);
    const reported = reportedUsageOf(this.#tally);
    return reported === null ? [] : [usageEvent(reported)];
  }

  finish(): GenerationEvent {
    return {
      kind: 'finish',
      finish_reason: parseStopReason(this.#reported),
      stop_sequence: this.#stopSequence,
      reported: this.#reported,
      explanation: this.#explanation,
    };
  }
}

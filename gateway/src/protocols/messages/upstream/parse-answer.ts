/** Parses a messages response in one piece into the events of the same response streamed, and upstream error bodies. */
import type { GenerationEvent } from '../../../generation/event.ts';
import { describeError, readErrorBody } from '../../answer/error-body.ts';
import { elementTexts, memberText } from '../../exact-json.ts';
import { asArray, asObject, asText, parseObject } from '../../json.ts';
import type { UpstreamError } from '../../upstream-protocol.ts';
import { statusOfType } from '../shared/usage.ts';
import { startBlockParser } from './parse-answer-block.ts';
import { FinishParser } from './parse-finish.ts';

/** Parses the body of a 200. Ends with `end`, or is one `error` or one `malformed`. */
export function parseAnswer(body: Buffer): readonly GenerationEvent[] {
  const json = body.toString();
  const message = parseObject(json);
  if (message === null) return malformed('an answer that is not a JSON object');
  if (message.type === 'error') return [parseError(message.error)];
  if (!Array.isArray(message.content)) return malformed('an answer without content');
  const id = asText(message.id);
  const events: GenerationEvent[] = [{ kind: 'start', id, model: asText(message.model) }];
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

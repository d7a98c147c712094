/** Finds the error in a stream chunk or a 200 answer. */
import type { GenerationEvent } from '../../../generation/event.ts';
import type { JsonObject } from '../../json.ts';
import { messageOf, statusOf, typeOf } from './usage.ts';

type ErrorEvent = Extract<GenerationEvent, { kind: 'error' }>;

/**
 * The error in a chunk: its truthy member `error`, as the official clients check it, or the whole chunk if the record's
 * name (`event: error`) or its member `object` marks it as an error. Null: none.
 */
export function findError(chunk: JsonObject, recordName: string): ErrorEvent | null {
  const error = chunk.error;
  if (error !== undefined && error !== null && error !== false && error !== '') return errorEvent(error);
  return recordName === 'error' || chunk.object === 'error' ? errorEvent(chunk) : null;
}

function errorEvent(error: unknown): ErrorEvent {
  return { kind: 'error', type: typeOf(error), message: messageOf(error), status: statusOf(error) };
}

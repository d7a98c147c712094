/** Owns reading the error object that stands in the place of an answer or of an event. */
import type { GenerationEvent } from '../../generation/event.ts';
import { asObject, asText } from '../json.ts';
import { statusOfType } from './read-answer.ts';

/** `error` is the member `error` of what upstream sent. */
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

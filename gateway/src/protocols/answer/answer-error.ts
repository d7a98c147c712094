/** Finds the error that stands in place of an answer in OpenAI's formats: some hosts send it with the status 200. */
import { asObject, asText, type JsonObject } from '../json.ts';

/** `status`: the HTTP status that it names; null: it names no status. */
export interface AnswerError {
  readonly type: string;
  readonly message: string;
  readonly status: number | null;
}

/** The error of a body or of a chunk; null: it has no error. */
export function findError(body: unknown): AnswerError | null {
  const error = asObject(body)?.error;
  if (error === undefined || error === null || error === false || error === '') return null;
  const named = asObject(error) ?? {};
  const code = named.status ?? named.code;
  return {
    type: asText(named.code) ?? asText(named.type) ?? 'error',
    message: asText(error) ?? asText(named.message) ?? 'upstream gave no reason',
    status: typeof code === 'number' && code >= 400 && code <= 599 ? code : null,
  };
}

/** The error of an event, which may be one as a whole, by its `type`; null: it has no error. */
export function findEventError(event: JsonObject): AnswerError | null {
  return findError(event) ?? (event.type === 'error' ? findError({ error: event }) : null);
}

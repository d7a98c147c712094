/** Extracts and classifies the message and code of any provider's error body. Ignores the HTTP status. */

import { asArray, asObject, asText, type JsonObject } from '../json.ts';
import type { UpstreamError } from '../upstream-protocol.ts';
import { readAccountTrouble } from './account-words.ts';
import { readOverflow } from './overflow-words.ts';

/** Larger bodies are not errors and are not read. */
const BODY_BYTES_MAX = 256 * 1024;
const WORDS_CHARS_MAX = 2_000;

export interface ErrorBody {
  /** Empty: no message, or only an HTML page or binary data. */
  readonly message: string;
  /** `error.code`, else `error.type`, if it is a string. */
  readonly code: string | null;
  /** The error object, or the body if it has none; null: the body is not a JSON object. */
  readonly error: JsonObject | null;
}

const NOTHING: ErrorBody = { message: '', code: null, error: null };

/**
 * Reads `{"error":{"message"}}`, `{"error":"…"}`, `{"message"}`, `{"detail"}` (a string, or a list of `{loc, msg}`), an
 * array that starts with one of them, and plain text.
 */
export function readErrorBody(body: Buffer): ErrorBody {
  if (body.length === 0 || body.length > BODY_BYTES_MAX) return NOTHING;
  const text = body.toString('utf8').trim();
  const parsed = parseJson(text);
  if (parsed === undefined) return { ...NOTHING, message: plainWords(text) };
  if (typeof parsed === 'string') return { ...NOTHING, message: plainWords(parsed) };
  const whole = asObject(Array.isArray(parsed) ? parsed[0] : parsed);
  if (whole === null) return NOTHING;
  const error = asObject(whole.error) ?? whole;
  const words = asText(error.message) ?? asText(whole.error) ?? asText(whole.message) ?? detailOf(whole.detail);
  const code = asText(error.code) ?? asText(error.type) ?? asText(whole.code);
  return { message: (words ?? '').slice(0, WORDS_CHARS_MAX), code, error };
}

/** Messages of Anthropic's signature validator, which resellers of its models pass on (wire reference C.5 and C.6). */
const ABOUT_SIGNATURES = [
  /\binvalid\s+`?(?:signature|data)`?\s+in\s+`?(?:redacted_)?thinking`?\s+block/i,
  /`?thinking`?[^.]{0,60} blocks?[^.]{0,60} cannot be modified/i,
  /\bthought.?signature\b/i,
];

/** Classifies an error by its message and code. */
export function describeError(message: string, code: string | null, param: string | null = null): UpstreamError {
  const trouble = readAccountTrouble(message, code);
  const overflow = readOverflow(message, code);
  if (overflow !== null) return { message, code, param, trouble, ...overflow };
  const condition = ABOUT_SIGNATURES.some((pattern) => pattern.test(message)) ? 'signature' : 'other';
  return { condition, message, code, param, trouble, promptTokens: null, outputTokens: null, tokensMax: null };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The first line of a text; empty for an HTML page and for binary data. */
function plainWords(text: string): string {
  const line = (text.split('\n', 1)[0] ?? '').trim().slice(0, WORDS_CHARS_MAX);
  return /^<|<\/?(?:html|head|body|title)\b|<!doctype|\ufffd|\0/i.test(line) ? '' : line;
}

/** FastAPI's `detail`: a string, or a list of locations and messages. */
function detailOf(detail: unknown): string | null {
  if (typeof detail === 'string') return asText(detail);
  const faults = asArray(detail).flatMap((fault) => {
    const words = asText(asObject(fault)?.msg);
    return words === null ? [] : [[...asArray(asObject(fault)?.loc).map(String), words].join(': ')];
  });
  return faults.length === 0 ? null : faults.join('; ');
}

/** Reads the answers of token endpoints and metadata servers. No message contains a token or a secret. */
import { Secret } from '../../lib/secret.ts';
import { asObject, asText, type JsonObject, parseObject } from '../../protocols/json.ts';
import type { Token } from './token-cache.ts';

const WORDS_MAX = 200;
/** Tokens, assertions and keys are longer words than those of a sentence. */
const LONG_WORD = /[A-Za-z0-9+/=_.~-]{33,}/g;

/**
 * The JSON object of a 200. Rejects with what the endpoint said, without any word that may be a secret. `from`: the
 * endpoint in words.
 */
export async function readTokenAnswer(answer: Response, from: string): Promise<JsonObject> {
  const parsed = parseObject(await answer.text());
  if (answer.status === 200 && parsed !== null) return parsed;
  if (answer.status === 200) throw new Error(`${from} answered 200, but no JSON object`);
  throw new Error(`${from} answered ${answer.status}${wordsOf(parsed)}`);
}

function wordsOf(body: JsonObject | null): string {
  const error = asObject(body?.error);
  const words = error === null ? [body?.error, body?.error_description] : [error.status, error.message];
  const said = words.flatMap((one) => asText(one)?.replace(/\s+/g, ' ').replace(LONG_WORD, '…') ?? []).join(': ');
  return said === '' ? '' : `: ${said.slice(0, WORDS_MAX)}`;
}

/** `access_token` with `expires_in`, which some endpoints write as a text. Throws if either is missing. */
export function readToken(answer: JsonObject, nowMs: number, from: string): Token {
  const token = asText(answer.access_token);
  const seconds = Number(answer.expires_in ?? Number.NaN);
  if (token === null || !/^[\x21-\x7e]+$/.test(token)) throw new Error(`${from} answered without an access_token`);
  if (!Number.isFinite(seconds)) throw new Error(`${from} answered without expires_in`);
  return { secret: new Secret(token), expiresMs: nowMs + seconds * 1000 };
}

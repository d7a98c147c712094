/** Sends requests of a Gemini client to a running gateway, and reads its answers and what upstream got. */
import { asArray, asObject, type JsonObject } from '../../../src/protocols/json.ts';
import { type Pair, sentTexts } from '../../harness/start-pair.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly base?: string;
}

/** `target`: the path after `/models/`, with its query. */
export async function ask({ gateway }: Pair, target: string, body: unknown, asking: Asking = {}): Promise<Answer> {
  const { method = 'POST', headers = { 'x-goog-api-key': gateway.key }, base = '/v1beta' } = asking;
  const reply = await fetch(`${gateway.url}${base}/models/${target}`, {
    method,
    headers: { ...headers, ...(method === 'POST' && { 'content-type': 'application/json' }) },
    ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

export const plain = (pair: Pair, model: string, body: object) => ask(pair, `${model}:generateContent`, body);
export const streamed = (pair: Pair, model: string, body: object) =>
  ask(pair, `${model}:streamGenerateContent?alt=sse`, body);

export const HELLO = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };

/** The chunks of a stream, as its clients cut it; of an answer in one piece, itself. */
export function chunksIn(text: string): JsonObject[] {
  if (text.startsWith('{')) return [JSON.parse(text)];
  return text.split('\r\n\r\n').flatMap((record): JsonObject[] => {
    const data = record.trim();
    return data.startsWith('data: ') ? [JSON.parse(data.slice('data: '.length))] : [];
  });
}

export function partsIn(text: string): JsonObject[] {
  return chunksIn(text).flatMap(({ candidates }) => {
    const content = asObject(asObject(asArray(candidates)[0])?.content);
    return asArray(content?.parts).map((part) => asObject(part) ?? {});
  });
}

/** The words of an answer; `isThought`: of its thoughts. */
export function wordsIn(text: string, isThought = false): string {
  return partsIn(text)
    .filter((part) => typeof part.text === 'string' && (part.thought === true) === isThought)
    .map((part) => String(part.text))
    .join('');
}

export function finishesIn(text: string): unknown[] {
  return chunksIn(text).flatMap(({ candidates }) => {
    const word = asObject(asArray(candidates)[0])?.finishReason;
    return word === undefined ? [] : [word];
  });
}

export function lastSent(pair: Pair, model: string) {
  return JSON.parse(sentTexts(pair, model).at(-1) ?? 'null');
}

export async function recordOf({ gateway }: Pair, { headers }: Pick<Answer, 'headers'>) {
  const id = headers.get('x-request-id');
  return (await gateway.calls()).find(({ request_id }) => request_id === id);
}

/** Owns plain HTTP calls to a gateway: what the tests send unless they say else. Judges nothing. */

export type Side = 'chat' | 'messages';

export const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const;

/** The models of `contractConfig` that answer with the fake upstream's plain good answer. */
export const GOOD_MODELS = { chat: 'ok', messages: 'm-ok' } as const;

/** A good body of the side, with members added or replaced; undefined takes one out. */
export function goodBody(side: Side, members: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const model = GOOD_MODELS[side];
  const messages = [{ role: 'user', content: 'Good day.' }];
  return { ...(side === 'chat' ? { model, messages } : { model, max_tokens: 64, messages }), ...members };
}

/** Where a call goes and with which key. */
export interface Address {
  readonly url: string;
  readonly key: string;
}

/** A null takes a header out. */
export type HeaderChanges = Readonly<Record<string, string | null>>;

/** The headers of a good call, changed. */
export function callHeaders(key: string, changes: HeaderChanges = {}): Headers {
  const headers = new Headers({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) headers.delete(name);
    else headers.set(name, value);
  }
  return headers;
}

/** Sends a body, as JSON unless it is text or bytes already, to a side's endpoint or to another path. */
export function post(
  { url, key }: Address,
  to: Side | `/${string}`,
  body: unknown,
  changes: HeaderChanges = {},
): Promise<Response> {
  const path = to === 'chat' || to === 'messages' ? PATHS[to] : to;
  const sent = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  return fetch(`${url}${path}`, { method: 'POST', headers: callHeaders(key, changes), body: sent });
}

/** Reads with a key. */
export function get({ url, key }: Address, path: string, changes: HeaderChanges = {}): Promise<Response> {
  return fetch(`${url}${path}`, { headers: callHeaders(key, changes), redirect: 'manual' });
}

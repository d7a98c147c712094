/** Sends plain HTTP calls to a gateway, with defaults that tests can override. */

export type Side = 'chat' | 'messages';

export const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const;

/** Models of `contractConfig` that give the fake upstream's plain good answer. */
export const GOOD_MODELS = { chat: 'ok', messages: 'm-ok' } as const;

/** Renders a good body for the side with members added or replaced; undefined removes one. */
export function goodBody(side: Side, members: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const model = GOOD_MODELS[side];
  const messages = [{ role: 'user', content: 'Good day.' }];
  return { ...(side === 'chat' ? { model, messages } : { model, max_tokens: 64, messages }), ...members };
}

/** The gateway's URL and the key of a call. */
export interface Address {
  readonly url: string;
  readonly key: string;
}

/** Null removes a header. */
export type HeaderChanges = Readonly<Record<string, string | null>>;

/** Returns the headers of a good call with changes. */
export function callHeaders(key: string, changes: HeaderChanges = {}): Headers {
  const headers = new Headers({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) headers.delete(name);
    else headers.set(name, value);
  }
  return headers;
}

/** Sends a body to a side's endpoint or to another path: as JSON unless it is already text or bytes. */
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

/** Sends a GET request with a key. */
export function get({ url, key }: Address, path: string, changes: HeaderChanges = {}): Promise<Response> {
  return fetch(`${url}${path}`, { headers: callHeaders(key, changes), redirect: 'manual' });
}

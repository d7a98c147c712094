/** Sends HTTP requests to a gateway as a client does, and reads their answers whole. */

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The header `x-request-id`; '' without one. */
  readonly requestId: string;
  readonly bytes: Buffer;
  readonly text: string;
  readonly json: Json;
}

/** A parsed answer; null: it is not JSON. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads members of any answer.
export type Json = any;

export interface Asking {
  readonly method?: string;
  readonly key: string;
  /** Other than a form or text, it is sent as JSON. */
  readonly body?: FormData | string | object | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The method is POST where a body is given, GET otherwise. */
export function send(url: string, { method, key, body, headers, signal }: Asking): Promise<Response> {
  const isForm = body instanceof FormData;
  return fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isForm || typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  });
}

export async function ask(url: string, asking: Asking): Promise<Answer> {
  const response = await send(url, asking);
  const bytes = Buffer.from(await response.arrayBuffer());
  const text = bytes.toString();
  const { status, headers } = response;
  return { status, headers, requestId: headers.get('x-request-id') ?? '', bytes, text, json: parse(text) };
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

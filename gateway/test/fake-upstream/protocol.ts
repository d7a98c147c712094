/** Defines the fake's view of the protocols: paths, endpoints and error formats. */
import { encodeEvent, encodeException } from '../../src/framing/testing/encode-frame.ts';
import { type BodyPart, plainPart, recordPart, utf8 } from './answer/body-part.ts';

export type Protocol = 'chat-completions' | 'messages' | 'responses' | 'gemini' | 'converse';
/** The formats in which the suites of third-party clients call. */
export type ClientFormat = Exclude<Protocol, 'gemini' | 'converse'>;
export type Endpoint = Protocol | 'count-tokens' | 'gemini-count' | 'models' | 'unknown';

/** Returns the endpoint of a request path, with any prefix, with or without `/v1`, and with any query string. */
export function endpointOf(target: string): Endpoint {
  const query = target.indexOf('?');
  const path = query < 0 ? target : target.slice(0, query);
  if (path.endsWith('/chat/completions')) return 'chat-completions';
  if (path.endsWith('/messages')) return 'messages';
  if (/\/responses(\/compact)?$/.test(path)) return 'responses';
  if (path.endsWith('/messages/count_tokens')) return 'count-tokens';
  if (/:(?:stream)?generateContent$/i.test(path)) return 'gemini';
  if (path.endsWith(':countTokens')) return 'gemini-count';
  if (/\/model\/[^/]+\/converse(?:-stream)?$/.test(path)) return 'converse';
  return /\/models(\/[^/]+)?$/.test(path) ? 'models' : 'unknown';
}

/** The protocol whose error shape an endpoint answers in. */
export function protocolOf(endpoint: Endpoint): Protocol {
  if (endpoint === 'gemini' || endpoint === 'gemini-count') return 'gemini';
  if (endpoint === 'converse' || endpoint === 'responses') return endpoint;
  return endpoint === 'messages' || endpoint === 'count-tokens' ? 'messages' : 'chat-completions';
}

/** The model in the path of a Gemini request, and whether it asks for a stream. */
export function geminiTarget(target: string): { readonly model: string; readonly stream: boolean } {
  const [, path = '', method] =
    /\/v1(?:beta1?)?\/(?:publishers\/google\/)?(?:models\/)?(.+):(\w+)(?:\?.*)?$/.exec(target) ?? [];
  return { model: decodeURIComponent(path), stream: method === 'streamGenerateContent' };
}

/** The model in the path of a Converse request, and whether it asks for a stream. */
export function converseTarget(target: string): { readonly model: string; readonly stream: boolean } {
  const [, model = '', stream] = /\/model\/([^/]+)\/converse(-stream)?$/.exec(target) ?? [];
  return { model: decodeURIComponent(model), stream: stream !== undefined };
}

const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const CHAT_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

const GEMINI_WORDS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** The error object of a protocol, in its provider's words for this status. */
function errorObject(protocol: Protocol, status: number, message: string): Record<string, unknown> {
  const byClass = status >= 500 ? 'api_error' : 'invalid_request_error';
  if (protocol === 'messages') {
    const type = MESSAGES_TYPES[status] ?? byClass;
    return { type: 'error', error: { type, message }, request_id: 'req_fake' };
  }
  if (protocol === 'converse') return { message };
  if (protocol === 'gemini') return { error: { code: status, message, status: GEMINI_WORDS[status] ?? 'INTERNAL' } };
  const type = CHAT_TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  return { error: { message, type, param: null, code: status === 429 ? 'rate_limit_exceeded' : null } };
}

/** An error as a plain body. */
export function errorPart(protocol: Protocol, status: number, message: string): BodyPart {
  return plainPart(utf8(JSON.stringify(errorObject(protocol, status, message))));
}

/** An error inside a stream, after a status of 200: the shape of an overloaded provider. */
export function errorRecord(protocol: Protocol): BodyPart {
  if (protocol === 'converse') {
    return { bytes: encodeException('serviceUnavailableException', 'Overloaded'), usage: null };
  }
  if (protocol === 'responses') {
    const error = { type: 'server_error', code: 'server_is_overloaded', message: 'Overloaded', param: null };
    return recordPart(`event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`);
  }
  const json = JSON.stringify(errorObject(protocol, protocol === 'messages' ? 529 : 503, 'Overloaded'));
  return recordPart(protocol === 'messages' ? `event: error\ndata: ${json}\n\n` : `data: ${json}\n\n`);
}

/** A record whose JSON breaks off in the middle of a string, or a frame whose checksum is wrong. */
export function malformedRecord(protocol: Protocol): BodyPart {
  if (protocol === 'converse') {
    const frame = encodeEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'a' } });
    frame.writeUInt32BE(0, frame.length - 4);
    return { bytes: frame, usage: null };
  }
  if (protocol === 'gemini') return recordPart('data: {"candidates":[{"content":{"parts":[{"te\r\n\r\n');
  return recordPart(
    protocol === 'messages'
      ? 'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_del\n\n'
      : 'data: {"id":"chatcmpl-fake","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"conte\n\n',
  );
}

/** True for the record that ends a stream of the protocol. */
export function isEndRecord(protocol: Protocol, recordText: string): boolean {
  if (protocol === 'converse') return recordText.includes('messageStop');
  if (protocol === 'gemini') return recordText.includes('"finishReason"');
  if (protocol === 'responses') return /^event: ?response\.(?:completed|incomplete|failed)\b/m.test(recordText);
  return protocol === 'messages' ? /^event: ?message_stop\b/m.test(recordText) : /^data: ?\[DONE\]/m.test(recordText);
}

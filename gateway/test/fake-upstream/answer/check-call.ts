/** Validates a call as real providers do: a JSON body, a version, a model, messages. */

import { type FakeRequest, headerOf } from '../http/parse-request.ts';
import { converseTarget, type Endpoint, geminiTarget } from '../protocol.ts';
import { isObject } from './body-part.ts';
import { converseFault } from './converse-answer.ts';
import { signatureFault } from './gemini-answer.ts';

/** The parameters of a call, or why a provider would refuse it. `model` is null if the body names none. */
export type CheckedCall = {
  readonly model: string | null;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly refusal: { readonly status: number; readonly message: string } | null;
};

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function refuse(status: number, message: string, model: string | null = null): CheckedCall {
  return { model, stream: false, includeUsage: false, refusal: { status, message } };
}

function membersAtFault(endpoint: Endpoint, body: Record<string, unknown>): string | null {
  if (endpoint === 'responses') return body.input === undefined ? 'input: required' : null;
  if (!Array.isArray(body.messages) || body.messages.length === 0) return 'messages: a non-empty array is required';
  if (body.stream !== undefined && body.stream !== null && typeof body.stream !== 'boolean') {
    return 'stream: Input should be a valid boolean';
  }
  if (endpoint === 'chat-completions' && isObject(body.stream_options) && body.stream !== true) {
    return "stream_options: only allowed when 'stream' is true";
  }
  if (endpoint === 'messages' && !Number.isInteger(body.max_tokens)) return 'max_tokens: Field required';
  return null;
}

/** Models from Gemini 3 on demand the signatures of their calls. */
function checkGeminiCall(endpoint: Endpoint, request: FakeRequest, body: Record<string, unknown>): CheckedCall {
  const { model, stream } = geminiTarget(request.target);
  if (headerOf(request, 'x-goog-api-key') === null) return refuse(403, 'the request has no API key', model);
  const wrapped = isObject(body.generateContentRequest) ? body.generateContentRequest : null;
  const { contents } = endpoint === 'gemini-count' && wrapped !== null ? wrapped : body;
  if (!Array.isArray(contents) || contents.length === 0) return refuse(400, 'contents is not specified', model);
  const fault = model.startsWith('gemini-3') ? signatureFault(contents) : null;
  if (fault !== null) return refuse(400, fault, model);
  return { model, stream, includeUsage: true, refusal: null };
}

/** Bedrock knows the exact shape of its requests, and Claude its own signatures. */
function checkConverseCall(request: FakeRequest, body: Record<string, unknown>): CheckedCall {
  const { model, stream } = converseTarget(request.target);
  if (headerOf(request, 'authorization') === null) return refuse(403, 'Missing Authentication Token', model);
  const fault = converseFault(body, stream);
  if (fault !== null) return refuse(400, fault, model);
  return { model, stream, includeUsage: true, refusal: null };
}

/** Validates a POST to one of the endpoints. */
export function checkCall(endpoint: Endpoint, request: FakeRequest): CheckedCall {
  if (request.method !== 'POST') return refuse(405, `method ${request.method} is not allowed here, use POST`);
  const contentType = headerOf(request, 'content-type') ?? '';
  if (!/^application\/json\b/i.test(contentType)) {
    return refuse(400, `content-type is ${JSON.stringify(contentType)}, expected application/json`);
  }
  let body: unknown;
  try {
    body = JSON.parse(decoder.decode(request.body));
  } catch (error) {
    return refuse(400, `the body is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isObject(body)) return refuse(400, 'the body is not a JSON object');
  if (endpoint === 'gemini' || endpoint === 'gemini-count') return checkGeminiCall(endpoint, request, body);
  if (endpoint === 'converse') return checkConverseCall(request, body);
  const model = typeof body.model === 'string' && body.model !== '' ? body.model : null;
  if (model === null) return refuse(400, 'model: a non-empty string is required');
  const isAnthropic = endpoint === 'messages' || endpoint === 'count-tokens';
  if (isAnthropic && headerOf(request, 'anthropic-version') === null) {
    return refuse(400, 'anthropic-version: header is required', model);
  }
  const fault = membersAtFault(endpoint, body);
  if (fault !== null) return refuse(400, fault, model);
  const includeUsage = isObject(body.stream_options) && body.stream_options.include_usage === true;
  return { model, stream: body.stream === true, includeUsage, refusal: null };
}

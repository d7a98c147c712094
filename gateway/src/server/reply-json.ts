/** Builds the small replies of routes that are not calls. */
import { baseHeaders, failureReply } from '../call/deliver/reply.ts';
import { CallFailure } from '../errors/call-failure.ts';
import { newRequestId } from '../lib/request-id.ts';
import type { ClientProtocol } from '../protocols/client-protocol.ts';
import { DEFAULT_PROTOCOL } from '../protocols/names.ts';
import { CLIENT_PROTOCOLS } from '../protocols/registry.ts';

/** A JSON reply with a request id, as every reply under `/v1`. */
export function replyJson(body: unknown, status = 200): Response {
  return Response.json(body, { status, headers: baseHeaders(newRequestId()) });
}

/** The same for JSON that is already rendered. */
export function replyRenderedJson(body: Uint8Array<ArrayBuffer>): Response {
  return new Response(body, { headers: { ...baseHeaders(newRequestId()), 'content-type': 'application/json' } });
}

/** An error reply in the protocol that the path or a version header suggests. */
export function replyFailure(failure: CallFailure, path: string, headers: Headers): Response {
  return failureReply(failure, suggestedProtocol(path, headers), newRequestId());
}

const GEMINI_VERSION = /\/v1(?:alpha|beta)\d*(?:\/|$)/;
const MODELS = /\/(?:models|tunedModels)\//;
const METHOD = /(?::|%3A)[a-z]+$/i;

/**
 * Whether only Google's clients use the path: of their versions, or of a method of a model. One pattern for the latter
 * would look at the rest of the path again from each `/models/` in it.
 */
function isOfGemini(path: string): boolean {
  return GEMINI_VERSION.test(path) || (MODELS.test(path) && METHOD.test(path));
}

/** The format whose path or version header the request has; else the default. */
function suggestedProtocol(path: string, headers: Headers): ClientProtocol {
  if (isOfGemini(path) || headers.has('x-goog-api-client')) return CLIENT_PROTOCOLS.gemini;
  const below = path.replace(/^(?:\/v1)*(?=\/)/, '');
  const isAt = (base: string) => below === base || below.startsWith(`${base}/`);
  const suggested = Object.values(CLIENT_PROTOCOLS).find(
    ({ name, versionHeader, endpoints }) =>
      name !== DEFAULT_PROTOCOL &&
      ((versionHeader !== null && headers.has(versionHeader)) || endpoints.some((one) => isAt(one.path))),
  );
  return suggested ?? CLIENT_PROTOCOLS[DEFAULT_PROTOCOL];
}

/** The error for an unknown path; the message names a similar supported path if there is one. */
export function notFound(path: string): CallFailure {
  const near = NEAR.find(([pattern]) => pattern.test(path));
  const advice = near === undefined ? 'GET /openapi.json lists what there is' : near[1];
  return new CallFailure('not_found', `there is no path ${JSON.stringify(path.slice(0, 200))}; ${advice}`);
}

const NEAR: ReadonlyArray<readonly [RegExp, string]> = [
  [/\/v1(?:alpha|beta)\b/, 'use POST /v1beta/models/MODEL:generateContent, :streamGenerateContent or :countTokens'],
  [/\/responses(?:\/|$)/, 'use POST /v1/responses, or GET /v1/responses/ID'],
  [/\/uploads(?:\/|$)/, 'uploads in parts are not served here; use POST /v1/files with the whole file'],
  [
    /\/vector_stores(?:\/|$)/,
    'vector stores are not created here; the operator makes one at the provider and opens it with shared_state',
  ],
  [/\/embeddings$/, 'use POST /v1/embeddings'],
  [/\/images(?:\/|$)/, 'use POST /v1/images/generations, /v1/images/edits or /v1/images/variations'],
  [
    /\/(?:audio|speech|transcriptions)(?:\/|$)/,
    'use POST /v1/audio/speech, /v1/audio/transcriptions or /v1/audio/translations',
  ],
  [/\/completions$/, 'use POST /v1/completions or POST /v1/chat/completions'],
  [/\/(?:chat|message)/, 'use POST /v1/chat/completions or POST /v1/messages'],
];

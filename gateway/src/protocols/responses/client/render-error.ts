/**
 * Renders failed calls as Responses errors: bodies, the two events that end a failed stream, and the keep-alive event.
 * Source: specification of the Responses API, 0.4, C.4 and D.6; contract, 10.11.
 */
import type { CallFailure } from '../../../errors/call-failure.ts';
import { FAILURE_KINDS, type FailureKind } from '../../../errors/failure-kinds.ts';
import { describeFailure, ERROR_WORDS, type ErrorWords } from '../../openai/error-words.ts';
import type { StreamPosition } from '../../upstream-protocol.ts';
import { responseObject } from '../shared/response-object.ts';
import { renderRecord } from '../stream/event-writer.ts';
import { CODE_OF_MEMBER } from './state-members.ts';

const INVALID = 'invalid_request_error';
const NO_MODEL: ErrorWords = [400, INVALID, 'model_not_found'];

/** The failures that have other words than in chat completions. Codex ends the turn on these codes. */
const OWN_WORDS: { readonly [kind in FailureKind]?: ErrorWords } = {
  model_unknown: NO_MODEL,
  model_forbidden: NO_MODEL,
  model_wrong_protocol: NO_MODEL,
  not_found: [404, INVALID, 'not_found'],
  quota_exceeded: [429, 'insufficient_quota', 'insufficient_quota'],
  // No target is left: contract, 10.11.
  targets_full: ERROR_WORDS.upstream_overloaded,
};

function wordsOf({ kind, details }: CallFailure): ErrorWords {
  const [status, type, code] = OWN_WORDS[kind] ?? ERROR_WORDS[kind];
  const ofMember = kind === 'invalid_request' ? CODE_OF_MEMBER.get(details.param ?? '') : undefined;
  return [status, type, details.code ?? ofMember ?? code];
}

/** The HTTP status of a failure: upstream's, if it is passed on. */
export function statusOf(failure: CallFailure): number {
  return failure.details.status ?? wordsOf(failure)[0];
}

/** Codex's timer starts again with any event, not with a comment. Without a number, those of the others have no gap. */
export const KEEP_ALIVE = Buffer.from('event: keepalive\ndata: {"type":"keepalive"}\n\n');

/** `{"error":{"message","type","param","code"}}`; the message of a 5xx repeats the request id. */
export function renderError(failure: CallFailure, requestId: string): string {
  const [, type, code] = wordsOf(failure);
  const message = describeFailure(failure, requestId, statusOf(failure));
  return JSON.stringify({
    error: { type, code, message, param: failure.details.param ?? null, hint: failure.details.hint },
  });
}

/** Codes within a response. Codex ends the turn on all but those of a rate and of a fault. */
const STREAM_CODES: { readonly [kind in FailureKind]?: string } = {
  rate_limited: 'rate_limit_exceeded',
  upstream_rate_limited: 'rate_limit_exceeded',
  quota_exceeded: 'insufficient_quota',
  context_overflow: 'context_length_exceeded',
  output_over_context: 'context_length_exceeded',
  invalid_request: 'invalid_prompt',
  guardrail_blocked: 'invalid_prompt',
  upstream_rejected: 'invalid_prompt',
  upstream_overloaded: 'server_is_overloaded',
};

/** If nothing was sent of an answer, no target is left: a repetition would find the same. */
function streamCode({ kind }: CallFailure, hasBegun: boolean): string {
  const known = STREAM_CODES[kind];
  if (known !== undefined) return known;
  return !hasBegun && FAILURE_KINDS[kind].origin === 'upstream' ? 'server_is_overloaded' : 'server_error';
}

/**
 * `error`, with its details nested and flat, and `response.failed`: clients read one or the other. Without a position they
 * follow a `response.created` of ours.
 */
export function renderStreamError(
  failure: CallFailure,
  requestId: string,
  model: string | null,
  position?: StreamPosition,
): Buffer {
  const head = {
    id: `resp_${requestId.slice('req_'.length)}`,
    createdSeconds: Math.floor(Date.now() / 1000),
    nextSequence: 0,
    ...position,
    model: position?.model ?? model,
  };
  const [, type] = wordsOf(failure);
  const code = streamCode(failure, position !== undefined);
  const message = describeFailure(failure, requestId, 500);
  const param = failure.details.param ?? null;
  const error = { type, code, message, param, hint: failure.details.hint };
  let number = head.nextSequence;
  const record = (name: string, members: object) => {
    const numbered = number === null ? {} : { sequence_number: number++ };
    return renderRecord(name, { type: name, ...numbered, ...members });
  };
  const created =
    position === undefined ? record('response.created', { response: responseObject(head, 'in_progress', {}) }) : '';
  return Buffer.from(
    created +
      record('error', { code, message, param, error }) +
      record('response.failed', { response: responseObject(head, 'failed', { error }) }),
  );
}

/** Whether a streamed request that fails without an answer gets the failure as a stream. Contract, 10.11. */
export function failsAsStream({ kind }: CallFailure): boolean {
  return FAILURE_KINDS[kind].origin === 'upstream' && kind !== 'upstream_rate_limited';
}

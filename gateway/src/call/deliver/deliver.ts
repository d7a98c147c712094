/**
 * Delivers an answer to the client: a stream as it arrives, a folded stream in one piece, a non-streamed answer as
 * upstream wrote it.
 */
import { formatNanoUsd, type NanoUsd } from '../../billing/money.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import type { FailureKind } from '../../errors/failure-kinds.ts';
import type { GenerationEvent } from '../../generation/event.ts';
import { foldGeneration, type Generation } from '../../generation/generation.ts';
import type { Part } from '../../generation/part.ts';
import { isTextCounted } from '../../protocols/answer/is-text-counted.ts';
import { textBytes } from '../../protocols/json.ts';
import type { AnswerFacts, AnswerReading } from '../../protocols/upstream-protocol.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';
import type { Dispatch, Dispatched } from '../attempt/attempt.ts';
import { type CollectedAnswer, readAnswerBody, unsentIn, unsentOf } from '../attempt/collect-answer.ts';
import { credentialOf, scrub, scrubText } from '../attempt/scrub.ts';
import {
  failureOfErrorWords,
  failureOfRefusal,
  failureOfTranslatedError,
  headerOf,
} from '../attempt/upstream-outcome.ts';
import { countTokens } from '../count-call.ts';
import { keptHead } from '../idempotency/idempotency.ts';
import { limitNotEnforceable } from '../money/hold-call.ts';
import { decideUsage, settle } from '../money/settle.ts';
import { refusesStream, type Translation, type UpstreamCall } from '../plan/upstream-call.ts';
import type { StreamRelay } from '../stream/stream-relay.ts';
import { countReply, plainReply, streamReply } from './reply.ts';

const WORDS_BYTES_MAX = 64 * 1024;
/** Statuses of hosts that have no token counter. */
const NO_COUNTER = new Set([404, 405, 501]);
/** A 404 about the model comes from a counter, so the host has one (recorded at Anthropic, 2026). */
const NAMES_MODEL = /"message"\s*:\s*"model:/;

/** The client's response. Throws CallFailure if upstream's answer is not valid; then nothing was settled yet. */
export async function deliver(job: Dispatch, dispatched: Dispatched): Promise<Response> {
  try {
    return await deliverAnswer(job, dispatched);
  } catch (failure) {
    const { call, countOnly } = job;
    if (!call.settled && !countOnly) call.unsent ??= await findUnsent(dispatched);
    throw failure;
  }
}

/** Upstream's facts about an answer that could not be delivered; null for a stream, which settles itself. */
async function findUnsent(dispatched: Dispatched): Promise<AnswerFacts | null> {
  if (dispatched.kind === 'stream') return null;
  if (dispatched.kind === 'folded') return unsentOf(dispatched.folding.observer);
  return unsentIn(dispatched.answer, dispatched.sending.protocol);
}

async function deliverAnswer(job: Dispatch, dispatched: Dispatched): Promise<Response> {
  if (dispatched.kind === 'stream') return deliverStream(job, dispatched.relay);
  if (dispatched.kind === 'folded') return deliverFolded(job, dispatched);
  const { answer, sending } = dispatched;
  if (job.call.folded && refusesStream(answer)) throw limitNotEnforceable(`HTTP ${answer.head.status}: no stream`);
  if (sending.translation !== null) return deliverTranslated(job, answer, sending, sending.translation);
  if (job.countOnly && hasNoCounter(answer)) return countReply(job.call, await countTokens(job));
  if (answer.head.status !== 200) return refuseInUpstreamsWords(job, answer);
  const facts = job.countOnly ? null : factsOf(job, await readAnswerBody(answer.body, sending.protocol));
  if (job.countOnly) {
    if (!isJsonObject(answer.body)) {
      throw new CallFailure('upstream_malformed', 'the model provider answered a count of tokens with no JSON object');
    }
    return plainReply(job.call, answer.head, answer.body, 200, null);
  }
  return settledReply(job, { ...answer, status: 200, failure: null, facts });
}

/** No byte goes out before the hold is durable. */
async function deliverStream({ call }: Dispatch, relay: StreamRelay): Promise<Response> {
  try {
    await call.money?.durable;
  } catch (cause) {
    const failure =
      cause instanceof CallFailure
        ? cause
        : new CallFailure('store_unavailable', 'the call could not be recorded; try again', {
            cause,
            retryAfterSeconds: 1,
          });
    relay.interrupt(failure);
    throw failure;
  }
  return streamReply(call, relay.body());
}

function hasNoCounter({ head, body }: CollectedAnswer): boolean {
  return NO_COUNTER.has(head.status) && !NAMES_MODEL.test(body.toString('latin1', 0, 500));
}

function isJsonObject(body: Buffer): boolean {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  } catch {
    return false;
  }
}

/** Whether a non-JSON body can be quoted in an error message: HTML and XML pages cannot. */
function isPlainText(head: CollectedAnswer['head'], body: Buffer, cut: boolean): boolean {
  if (cut || body.length === 0) return false;
  return !/html|xml/i.test(headerOf(head, 'content-type') ?? '') && !/^\s*</.test(body.toString('latin1', 0, 200));
}

function factsOf(job: Dispatch, reading: AnswerReading): AnswerFacts {
  if (reading.kind === 'nonsense') {
    throw new CallFailure('upstream_malformed', `the model provider sent an answer that is none: ${reading.message}`);
  }
  if (reading.kind === 'error') {
    throw failureOfErrorWords(
      reading.type,
      reading.status,
      scrubText(reading.message, credentialOf(job.route.upstream)),
    );
  }
  if (job.call.facts?.stream === true) {
    throw new CallFailure('upstream_malformed', 'the model provider answered a streamed call in one piece');
  }
  return reading.facts;
}

/**
 * Passes on upstream's refusal of the caller's content: status and body unchanged, except for the operator's data.
 * Other refusals become the gateway's own errors.
 */
async function refuseInUpstreamsWords(job: Dispatch, { head, body, cut }: CollectedAnswer): Promise<Response> {
  const credential = credentialOf(job.route.upstream);
  const words = scrubText(body.subarray(0, 2_000).toString('utf8'), credential);
  const isJson = !cut && isJsonObject(body);
  const shown =
    isJson || isPlainText(head, body, cut) ? words : `the model provider refused the request (HTTP ${head.status})`;
  const error = job.sending.protocol.readError(body.subarray(0, WORDS_BYTES_MAX));
  const said = scrubText(error.message, credential);
  const failure = failureOfRefusal(head.status, headerOf(head, 'retry-after'), error, said, shown);
  // A non-JSON body is never passed on (it may be a proxy's page): it becomes an error body of the gateway.
  if (failure.kind !== 'upstream_rejected' || !isJson) throw failure;
  const shownBody = scrub(body, credential);
  if (job.countOnly) return plainReply(job.call, head, shownBody, head.status, null);
  job.call.failure = failure;
  return settledReply(job, { head, body: shownBody, status: head.status, failure: failure.kind, facts: null });
}

/**
 * The client's response. A stream that was cut because money ran out is charged, and answered as far as it came, as if
 * a token limit had ended it. Throws CallFailure if upstream's answer is not valid; then nothing was settled yet.
 */
async function deliverFolded(
  job: Dispatch,
  { folding, head, cut }: Extract<Dispatched, { kind: 'folded' }>,
): Promise<Response> {
  const { call, deps, protocol } = job;
  const { observer } = folding;
  const facts = observer.facts();
  const outcome = { status: 200, failure: cut ? 'quota_exceeded' : null } as const;
  const counted = cut ? decideUsage(call, { ...outcome, facts }, deps).usage : null;
  const { json, finish_reason, dropped } = folding.finish(counted);
  if (!observer.rewrites) deps.protocolViolations.received[protocol.name] += observer.protocolViolations;
  call.cut = cut;
  if (dropped.length > 0) call.dropped = [...call.dropped, ...dropped];
  const headers = observer.rewrites ? [] : head.headers;
  return settledReply(job, { head: { headers }, body: json, ...outcome, facts: { ...facts, finish_reason } });
}

/**
 * The client's reply, and its fields in the record. `failure`: upstream refused the request, and its refusal is passed
 * on.
 */
interface Reply {
  readonly head: Pick<ResponseHead, 'headers'>;
  readonly body: Buffer | string;
  readonly status: number;
  readonly failure: FailureKind | null;
  readonly facts: AnswerFacts | null;
}

/** Settles the call and returns the reply. Throws `store_unavailable` if the record cannot be kept. */
async function settledReply(
  { call, deps }: Dispatch,
  { head, body, status, failure, facts }: Reply,
): Promise<Response> {
  let cost: NanoUsd | null;
  try {
    cost = await settle(call, { status, failure, facts }, deps);
  } catch (cause) {
    if (cause instanceof CallFailure) throw cause;
    throw new CallFailure('store_unavailable', 'the call could not be recorded; try again', {
      cause,
      retryAfterSeconds: 1,
    });
  }
  call.content?.answered(body);
  const reply = plainReply(call, head, body, status, cost === null ? null : formatNanoUsd(cost));
  // A refusal by upstream is not an answer: the caller may resend or correct the request under the same idempotency
  // key.
  if (status !== 200) await call.run?.end((cost ?? 0n) === 0n);
  else if (call.run !== null) {
    const kept = keptHead(call, { status, failure, facts });
    await call.run.keep(kept, reply.headers, typeof body === 'string' ? Buffer.from(body) : body);
  }
  return reply;
}

/** The client's response. Throws CallFailure if upstream's answer is not valid; then nothing was settled yet. */
async function deliverTranslated(
  job: Dispatch,
  answer: CollectedAnswer,
  { protocol }: UpstreamCall,
  translation: Translation,
): Promise<Response> {
  if (answer.head.status !== 200) throw failureOfTranslatedRefusal(job, answer, protocol.readError);
  if (job.call.facts?.stream === true) {
    const late = protocol.parseAnswer(answer.body).find(({ kind }) => kind === 'error');
    if (late?.kind === 'error') throw failureOfEvent(job, late);
    throw new CallFailure('upstream_malformed', 'the model provider answered a streamed call in one piece');
  }
  const events = translation.readAnswer(answer.body);
  const last = events.at(-1);
  if (last?.kind === 'error') throw failureOfEvent(job, last);
  if (last?.kind !== 'end') {
    const why = last?.kind === 'nonsense' ? last.message : 'it has no end';
    throw new CallFailure('upstream_malformed', `the model provider sent an answer that is none: ${why}`);
  }
  const generation = foldGeneration(events);
  const { json, finish_reason } = translation.client.renderAnswer(generation, translation.context);
  const losses = translation.lossesIn(generation);
  if (losses.length > 0) job.call.dropped = [...job.call.dropped, ...losses];
  translation.listen(generation);
  const facts = factsOfGeneration(generation, finish_reason, answer.body.length);
  return settledReply(job, { head: { headers: [] }, body: json, status: 200, failure: null, facts });
}

function failureOfTranslatedRefusal(
  job: Dispatch,
  { head, body }: CollectedAnswer,
  readError: UpstreamCall['protocol']['readError'],
) {
  const credential = credentialOf(job.route.upstream);
  const error = readError(body.subarray(0, WORDS_BYTES_MAX));
  const words = scrubText(error.message, credential);
  return failureOfTranslatedError(head.status, headerOf(head, 'retry-after'), error, words);
}

function failureOfEvent(job: Dispatch, { type, status, message }: Extract<GenerationEvent, { kind: 'error' }>) {
  return failureOfErrorWords(type, status, scrubText(message, credentialOf(job.route.upstream)));
}

function factsOfGeneration(generation: Generation, finish_reason: string, outputBytesMax: number): AnswerFacts {
  const { usage, usageFlags, model, parts } = generation;
  const counted = isTextCounted(usage, outputBytesMax) ? parts : [];
  const outputBytes = bytesIn(counted);
  const reasoningBytes = bytesIn(counted.filter(({ kind }) => kind === 'reasoning'));
  return {
    usage,
    usageFlags,
    usageSoFar: usage,
    finish_reason,
    model,
    outputBytes,
    reasoningBytes,
    outputBytesMax,
  };
}

function bytesIn(parts: readonly Part[]): number {
  return textBytes(parts.map((part) => ['text' in part && part.text, 'arguments' in part && part.arguments]));
}

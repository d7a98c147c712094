/**
 * Delivers an answer to the client: a stream as it arrives, a folded stream in one piece, a non-streamed answer as
 * upstream wrote it, or translated.
 */
import { formatNanoUsd } from '../../billing/money.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import type { GenerationEvent } from '../../generation/event.ts';
import { foldGeneration, type Generation } from '../../generation/generation.ts';
import type { Part } from '../../generation/part.ts';
import { isTextCounted } from '../../generation/usage.ts';
import { textBytes } from '../../protocols/json.ts';
import type { AnswerFacts, AnswerReading, UpstreamProtocol } from '../../protocols/upstream-protocol.ts';
import { headerOf, type ResponseHead } from '../../upstream/connection.ts';
import type { AttemptOutcome } from '../attempt/attempt.ts';
import {
  type CollectedAnswer,
  readAnswerBody,
  undeliveredAnswer,
  undeliveredStream,
} from '../attempt/collect-answer.ts';
import { scrub, scrubText } from '../attempt/scrub.ts';
import { failureOfErrorWords, failureOfRefusal, failureOfTranslatedError } from '../attempt/upstream-outcome.ts';
import type { Held, Routed } from '../call.ts';
import { storedHead } from '../idempotency/idempotency.ts';
import type { IdempotencyRun } from '../idempotency/idempotency-run.ts';
import { decideUsage } from '../money/decide-usage.ts';
import { limitNotEnforceable } from '../money/hold-call.ts';
import { type Outcome, settle, unrecorded } from '../money/settle.ts';
import { refusesStream, type Translation, type UpstreamCall } from '../plan/upstream-call.ts';
import { countViolations } from '../stream/open-relay.ts';
import type { StreamRelay } from '../stream/stream-relay.ts';
import { plainReply, streamReply } from './reply.ts';

/** Of an error body, the part in which the error is looked for. */
const ERROR_BYTES_MAX = 64 * 1024;

/** The client's response. Throws CallFailure if upstream's answer is not valid; then nothing was settled yet. */
export async function deliver(call: Held, outcome: AttemptOutcome): Promise<Response> {
  try {
    if (outcome.kind === 'stream') return await deliverStream(call, outcome.relay);
    const read = outcome.kind === 'folded' ? readFolded(call, outcome) : readCollected(call, outcome);
    const reply = read instanceof Promise ? await read : read;
    try {
      await settle(call, reply);
    } catch (cause) {
      throw unrecorded(cause);
    }
    call.content?.answered(reply.body);
    const cost = call.charged === null ? null : formatNanoUsd(call.charged);
    const response = plainReply(call, reply.head, reply.body, reply.status, cost);
    if (call.run !== null) await endRun(call, call.run, reply, response);
    return response;
  } catch (failure) {
    if (!call.settled) call.undelivered ??= await undeliveredFacts(outcome);
    throw failure;
  }
}

/** Upstream's facts about an answer that could not be delivered; null for a stream, which settles itself. */
async function undeliveredFacts(outcome: AttemptOutcome): Promise<AnswerFacts | null> {
  if (outcome.kind === 'stream') return null;
  if (outcome.kind === 'folded') return undeliveredStream(outcome.folding.observer);
  return undeliveredAnswer(outcome.answer, outcome.plan.protocol);
}

/** The client's reply to a complete answer. Throws CallFailure if upstream's answer is not valid. */
function readCollected(
  call: Held,
  { answer, plan }: Extract<AttemptOutcome, { kind: 'collected' }>,
): Reply | Promise<Reply> {
  const { head, body } = answer;
  if (call.folded && refusesStream(answer)) throw limitNotEnforceable(`HTTP ${head.status}: no stream`);
  if (plan.translation !== null) return readTranslated(call, answer, plan, plan.translation);
  if (head.status !== 200) {
    const refusal = passRefusal(call, answer, plan.protocol);
    call.failure = refusal.failure;
    return { head, body: refusal.body, status: head.status, failure: refusal.failure.kind, facts: null };
  }
  const reading = readAnswerBody(body, plan.protocol);
  return reading instanceof Promise
    ? reading.then((late) => replyOf(call, answer, late))
    : replyOf(call, answer, reading);
}

function replyOf(call: Held, { head, body }: CollectedAnswer, reading: AnswerReading): Reply {
  return { head, body, status: 200, failure: null, facts: factsOf(call, reading) };
}

/**
 * No byte goes out before the hold is durable. A stream that is complete by then goes out in one piece, once its record
 * is durable too.
 */
async function deliverStream(call: Held, relay: StreamRelay): Promise<Response> {
  try {
    await call.money.whenSaved();
  } catch (cause) {
    const failure = unrecorded(cause);
    relay.interrupt(failure);
    throw failure;
  }
  await relay.ended;
  return streamReply(call, relay.body());
}

export function isJsonObject(body: Buffer): boolean {
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

function factsOf({ target, facts }: Held, reading: AnswerReading): AnswerFacts {
  if (reading.kind === 'malformed') {
    throw new CallFailure('upstream_malformed', `the model provider sent an invalid answer: ${reading.message}`);
  }
  if (reading.kind === 'error') {
    throw failureOfErrorWords(reading.type, reading.status, scrubText(reading.message, target.upstream.secrets));
  }
  if (facts.stream) {
    throw new CallFailure('upstream_malformed', 'the model provider answered a streamed call in one piece');
  }
  return reading.facts;
}

/**
 * Upstream's refusal of the caller's content, to be passed on: status and body unchanged, except for the operator's
 * data. Throws other refusals, which become the gateway's own errors.
 */
export function passRefusal(
  { target }: Routed,
  { head, body, cut }: CollectedAnswer,
  protocol: UpstreamProtocol,
): { readonly body: Buffer; readonly failure: CallFailure } {
  const { secrets } = target.upstream;
  const beginning = scrubText(body.subarray(0, 2_000).toString('utf8'), secrets);
  const isJson = !cut && isJsonObject(body);
  const shown =
    isJson || isPlainText(head, body, cut) ? beginning : `the model provider refused the request (HTTP ${head.status})`;
  const error = protocol.readError(body.subarray(0, ERROR_BYTES_MAX));
  const message = scrubText(error.message, secrets);
  const failure = failureOfRefusal(head.status, headerOf(head, 'retry-after'), error, message, shown);
  // A non-JSON body is never passed on (it may be a proxy's page): it becomes an error body of the gateway.
  if (failure.kind !== 'upstream_rejected' || !isJson) throw failure;
  return { body: scrub(body, secrets), failure };
}

/**
 * The client's reply. A stream that was cut because money ran out is charged, and answered as far as it came, as if
 * a token limit had ended it. Throws CallFailure if upstream's answer is not valid; then nothing was settled yet.
 */
function readFolded(call: Held, { folding, head, cut, plan }: Extract<AttemptOutcome, { kind: 'folded' }>): Reply {
  const { observer } = folding;
  const facts = observer.facts();
  const outcome = { status: 200, failure: cut ? 'quota_exceeded' : null } as const;
  const counted = cut ? decideUsage(call, { ...outcome, facts }).usage : null;
  const { json, finish_reason, dropped } = folding.finish(counted);
  countViolations(call, plan.protocol, observer);
  call.cut = cut;
  if (dropped.length > 0) call.dropped = [...call.dropped, ...dropped];
  const headers = observer.rewrites ? [] : head.headers;
  return { head: { headers }, body: json, ...outcome, facts: { ...facts, finish_reason } };
}

/**
 * The client's reply, and its fields in the record. `failure`: upstream refused the request, and its refusal is passed
 * on.
 */
interface Reply extends Outcome {
  readonly head: Pick<ResponseHead, 'headers'>;
  readonly body: Buffer | string;
}

/**
 * Ends the run of an idempotency key. A refusal by upstream is not an answer: the caller may resend or correct the
 * request under the same key.
 */
function endRun(call: Held, run: IdempotencyRun, reply: Reply, { headers }: Response): Promise<void> {
  const { body, status } = reply;
  if (status !== 200) return run.end((call.charged ?? 0n) === 0n);
  return run.keep(storedHead(call, reply), headers, typeof body === 'string' ? Buffer.from(body) : body);
}

/** The client's reply. Throws CallFailure if upstream's answer is not valid. */
function readTranslated(
  call: Held,
  answer: CollectedAnswer,
  { protocol }: UpstreamCall,
  translation: Translation,
): Reply {
  if (answer.head.status !== 200) throw failureOfTranslatedRefusal(call, answer, protocol);
  if (call.facts.stream) {
    const late = protocol.parseAnswer(answer.body).find(({ kind }) => kind === 'error');
    if (late?.kind === 'error') throw failureOfEvent(call, late);
    throw new CallFailure('upstream_malformed', 'the model provider answered a streamed call in one piece');
  }
  const events = translation.readAnswer(answer.body);
  const last = events.at(-1);
  if (last?.kind === 'error') throw failureOfEvent(call, last);
  if (last?.kind !== 'end') {
    const why = last?.kind === 'malformed' ? last.message : 'it has no end';
    throw new CallFailure('upstream_malformed', `the model provider sent an invalid answer: ${why}`);
  }
  const generation = foldGeneration(events);
  const { json, finish_reason } = translation.client.renderAnswer(generation, translation.context);
  const losses = translation.lossesIn(generation);
  if (losses.length > 0) call.dropped = [...call.dropped, ...losses];
  translation.listen(generation);
  const facts = factsOfGeneration(generation, finish_reason, answer.body.length);
  return { head: { headers: [] }, body: json, status: 200, failure: null, facts };
}

function failureOfTranslatedRefusal(
  { target }: Held,
  { head, body }: CollectedAnswer,
  protocol: UpstreamProtocol,
): CallFailure {
  const error = protocol.readError(body.subarray(0, ERROR_BYTES_MAX));
  const message = scrubText(error.message, target.upstream.secrets);
  return failureOfTranslatedError(head.status, headerOf(head, 'retry-after'), error, message);
}

function failureOfEvent({ target }: Held, { type, status, message }: Extract<GenerationEvent, { kind: 'error' }>) {
  return failureOfErrorWords(type, status, scrubText(message, target.upstream.secrets));
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

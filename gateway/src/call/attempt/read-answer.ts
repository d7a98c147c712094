/**
 * Reads an attempt's complete answer into the reply that the client would get, or into the failure that decides what
 * follows: translated, folded from a stream, or as upstream wrote it. Settles nothing.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import type { GenerationEvent } from '../../generation/event.ts';
import { foldGeneration, type Generation } from '../../generation/generation.ts';
import type { Part } from '../../generation/part.ts';
import { isTextCounted } from '../../generation/usage.ts';
import { textBytes } from '../../protocols/json.ts';
import type { AnswerFacts, AnswerReading, UpstreamProtocol } from '../../protocols/upstream-protocol.ts';
import { headerOf, type ResponseHead } from '../../upstream/response-head.ts';
import type { Held, Routed } from '../call.ts';
import { decideUsage } from '../money/decide-usage.ts';
import { limitNotEnforceable } from '../money/hold-call.ts';
import type { Outcome } from '../money/settle.ts';
import { type Folding, refusesStream, type Translation, type UpstreamCall } from '../plan/upstream-call.ts';
import { countViolations } from '../stream/open-relay.ts';
import { type CollectedAnswer, isText, readAnswerBody, undeliveredStream } from './collect-answer.ts';
import { scrub, scrubText } from './scrub.ts';
import {
  AttemptFailure,
  failureOfErrorWords,
  failureOfHollowAnswer,
  failureOfOnePiece,
  failureOfRefusal,
  failureOfTranslatedError,
  retryAfterOf,
} from './upstream-outcome.ts';

/** The client's reply, and its fields in the record. `failure`: upstream's refusal, which is passed on. */
export interface Reply extends Outcome {
  readonly head: Pick<ResponseHead, 'headers'>;
  readonly body: Buffer | string;
  /** The body is plain text. Absent: JSON. */
  readonly isText?: boolean;
  /** The body is a response that goes on in the background. Absent: it is whole. */
  readonly goesOn?: true;
}

/** An answer that the client may get. */
export interface Answered {
  readonly kind: 'answered';
  readonly reply: Reply;
}

/** An answer that the client does not get, unless nothing better comes. */
export interface NotAnswered {
  readonly kind: 'not_answered';
  readonly failure: CallFailure;
  /** Upstream's refusal of the caller's content, as the client gets it if it is final; null: an error of the gateway. */
  readonly reply: Reply | null;
  /** Upstream's facts about its answer; null: it reported none. */
  readonly facts: AnswerFacts | null;
}

export type ReadAnswer = Answered | NotAnswered;

/** Of an error body, the part in which the error is looked for. */
const ERROR_BYTES_MAX = 64 * 1024;

/**
 * Reads a complete answer of any status. `late`: the client was promised a stream, so a refusal can no longer be passed
 * on in upstream's own words.
 */
export function readCollected(
  call: Held,
  answer: CollectedAnswer,
  plan: UpstreamCall,
  late: boolean,
): ReadAnswer | Promise<ReadAnswer> {
  const { protocol, translation } = plan;
  const isOwn = protocol.name === call.protocol.name;
  if (call.folded && refusesStream(answer)) {
    return notAnswered(limitNotEnforceable(`HTTP ${answer.head.status}: no stream`), null);
  }
  if (answer.head.status !== 200) {
    if (!isOwn || late) return notAnswered(failureOfTranslatedRefusal(call, answer, protocol), null);
    return readRefusal(call, answer, protocol);
  }
  if (protocol.readText !== undefined && isText(call.facts, answer)) {
    return readPassed(call, answer, plan, protocol.readText(answer.body));
  }
  const reading = translation === null || call.facts.stream ? readAnswerBody(answer.body, protocol) : null;
  if (reading instanceof Promise) return reading.then((read) => readPassed(call, answer, plan, read));
  return reading === null ? readTranslated(call, answer, plan, translation) : readPassed(call, answer, plan, reading);
}

/** Upstream's refusal: of the caller's content, with its own body; else an error of the gateway. */
function readRefusal(call: Held, answer: CollectedAnswer, protocol: UpstreamProtocol): NotAnswered {
  const { failure, body } = readOwnRefusal(call, answer, protocol);
  if (body === null) return notAnswered(failure, null);
  const { head } = answer;
  const reply = { head, body, status: head.status, failure: failure.kind, facts: null };
  return { kind: 'not_answered', failure, reply, facts: null };
}

/**
 * Upstream's refusal of a request in the client's own format. `body`: upstream's, to be passed on with its status, without
 * the operator's data; null: the failure becomes an error of the gateway. `status`: by which it is judged, if not its own.
 */
export function readOwnRefusal(
  { target }: Pick<Routed, 'target'>,
  { head, body, cut }: CollectedAnswer,
  protocol: UpstreamProtocol,
  status = head.status,
): { readonly failure: CallFailure; readonly body: Buffer | null } {
  const { secrets } = target.upstream;
  const beginning = scrubText(body.subarray(0, 2_000).toString('utf8'), secrets);
  const isJson = !cut && isJsonObject(body);
  const shown =
    isJson || isPlainText(head, body, cut) ? beginning : `the model provider refused the request (HTTP ${head.status})`;
  const error = protocol.readError(body.subarray(0, ERROR_BYTES_MAX), head.headers);
  const message = scrubText(error.message, secrets);
  const failure = failureOfRefusal(status, retryAfterOf(head), error, message, shown);
  // A non-JSON body is never passed on (it may be a proxy's page): it becomes an error body of the gateway.
  return { failure, body: failure.kind === 'upstream_rejected' && isJson ? scrub(body, secrets) : null };
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

const NO_HEADERS = { headers: [] } as const;

/** An answer in the client's format or a form of it, or any answer in one piece to a streamed call, which is no answer. */
function readPassed(
  call: Held,
  answer: CollectedAnswer,
  { protocol, renderAnswer }: UpstreamCall,
  reading: AnswerReading,
): ReadAnswer {
  const { facts = null } = reading;
  if (reading.kind === 'malformed') {
    if (reading.isUnfinished !== true || call.facts.background !== true || call.facts.stream)
      return notAnswered(invalid(reading.message), facts);
    const { head, body } = answer;
    const reply = { head, body, status: 200, failure: null, facts: null, isText: false, goesOn: true } as const;
    return { kind: 'answered', reply };
  }
  if (reading.kind === 'error') {
    const words = scrubText(reading.message, call.target.upstream.secrets);
    return notAnswered(failureOfErrorWords(reading.type, reading.status, words), facts);
  }
  if (call.facts.stream) return notAnswered(failureOfOnePiece(), facts);
  if (protocol.translates && isHollow(reading.facts)) return notAnswered(failureOfHollowAnswer(), facts);
  let body: Buffer | string;
  try {
    body = renderAnswer === null ? answer.body : renderAnswer(answer.body);
  } catch (failure) {
    if (!(failure instanceof CallFailure)) throw failure;
    return notAnswered(failure, facts);
  }
  // The headers of a head are parsed each time they are read.
  const head = body === answer.body ? answer.head : NO_HEADERS;
  const reply = { head, body, status: 200, failure: null, facts: reading.facts, isText: isText(call.facts, answer) };
  return { kind: 'answered', reply };
}

function isHollow({ usage, finish_reason, outputBytes }: AnswerFacts): boolean {
  return usage === null && finish_reason === null && outputBytes === 0;
}

function readTranslated(
  call: Held,
  { body }: CollectedAnswer,
  { protocol }: UpstreamCall,
  translation: Translation | null,
): ReadAnswer | Promise<ReadAnswer> {
  if (translation === null) throw new Error('a call of one format is not translated');
  const events = translation.readAnswer(body);
  // Usage and the end may follow what a filter finds malformed.
  const broken = events.find(({ kind }) => kind === 'error' || kind === 'malformed');
  if (broken?.kind === 'error') return withBilledFacts(failureOfEvent(call, broken), body, protocol);
  if (broken !== undefined || events.at(-1)?.kind !== 'end') {
    return withBilledFacts(invalid(broken?.kind === 'malformed' ? broken.message : 'it has no end'), body, protocol);
  }
  const generation = foldGeneration(events);
  const { json, finish_reason } = translation.client.renderAnswer(generation, translation.context);
  const losses = translation.lossesIn(generation);
  if (losses.length > 0) call.dropped = [...call.dropped, ...losses];
  translation.listen(generation);
  const facts = factsOfGeneration(generation, finish_reason, body.length);
  return { kind: 'answered', reply: { head: { headers: [] }, body: json, status: 200, failure: null, facts } };
}

/** What a stream that was folded for the client makes of its records. Throws CallFailure if they are no answer. */
export function readFolded(
  call: Held,
  folding: Folding,
  head: ResponseHead,
  cut: boolean,
  plan: UpstreamCall,
): ReadAnswer {
  const { observer } = folding;
  const facts = observer.facts();
  const outcome = { status: 200, failure: cut ? 'quota_exceeded' : null } as const;
  // A stream that was cut because money ran out is charged, and answered as far as it came, as if a limit had ended it.
  const counted = cut ? decideUsage(call, { ...outcome, facts }).usage : null;
  if (!cut && !observer.begun && facts.usage === null) return notAnswered(failureOfHollowAnswer(), null);
  const { json, finish_reason, dropped } = folding.finish(counted);
  countViolations(call, plan.protocol, observer);
  call.cut = cut;
  if (dropped.length > 0) call.dropped = [...call.dropped, ...dropped];
  const headers = observer.rewrites ? [] : head.headers;
  const reply = { head: { headers }, body: json, ...outcome, facts: { ...facts, finish_reason } };
  return { kind: 'answered', reply };
}

/** Something that came in place of an answer. `facts`: what upstream reported of it. */
export function notAnswered(failure: CallFailure, facts: AnswerFacts | null): NotAnswered {
  const billed = facts === null || facts.usage === null ? null : { ...facts, finish_reason: null };
  return { kind: 'not_answered', failure, reply: null, facts: billed };
}

/** A stream that did not become an answer. */
export function brokenStream(failure: CallFailure, observer: Parameters<typeof undeliveredStream>[0]): NotAnswered {
  return { kind: 'not_answered', failure, reply: null, facts: undeliveredStream(observer) };
}

function withBilledFacts(failure: CallFailure, body: Buffer, protocol: UpstreamProtocol) {
  const reading = readAnswerBody(body, protocol);
  return reading instanceof Promise
    ? reading.then(({ facts = null }) => notAnswered(failure, facts))
    : notAnswered(failure, reading.facts ?? null);
}

function invalid(why: string): CallFailure {
  return new AttemptFailure('upstream_malformed', 'fault', `the model provider sent an invalid answer: ${why}`);
}

function failureOfTranslatedRefusal(
  { target }: Held,
  { head, body }: CollectedAnswer,
  protocol: UpstreamProtocol,
): CallFailure {
  const error = protocol.readError(body.subarray(0, ERROR_BYTES_MAX), head.headers);
  const message = scrubText(error.message, target.upstream.secrets);
  return failureOfTranslatedError(head.status, retryAfterOf(head), error, message);
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

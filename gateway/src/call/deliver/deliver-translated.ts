/** Delivers a non-streamed answer to a client of another format than upstream's. */
import { CallFailure } from '../../errors/call-failure.ts';
import type { GenerationEvent } from '../../generation/event.ts';
import { foldGeneration, type Generation } from '../../generation/generation.ts';
import type { Part } from '../../generation/part.ts';
import { isTextCounted } from '../../protocols/answer/is-text-counted.ts';
import { textBytes } from '../../protocols/json.ts';
import type { AnswerFacts } from '../../protocols/protocol.ts';
import type { Dispatch } from '../attempt/attempt.ts';
import type { CollectedAnswer } from '../attempt/collect-answer.ts';
import { credentialOf, scrubText } from '../attempt/scrub.ts';
import { failureOfErrorWords, failureOfTranslatedError, headerOf } from '../attempt/upstream-outcome.ts';
import type { Translation, UpstreamCall } from '../plan/upstream-call.ts';
import { settledReply } from './settled-reply.ts';

const WORDS_BYTES_MAX = 64 * 1024;

/** The client's response. Throws CallFailure if upstream's answer is not valid; then nothing was settled yet. */
export async function deliverTranslated(
  job: Dispatch,
  answer: CollectedAnswer,
  { protocol }: UpstreamCall,
  translation: Translation,
): Promise<Response> {
  if (answer.head.status !== 200) throw failureOfRefusal(job, answer, protocol.codec.readError);
  if (job.call.facts?.stream === true) {
    const late = protocol.codec.parseAnswer(answer.body).find(({ kind }) => kind === 'error');
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
  const { json, finish_reason } = translation.client.codec.renderAnswer(generation, translation.context);
  const losses = translation.lossesIn(generation);
  if (losses.length > 0) job.call.dropped = [...job.call.dropped, ...losses];
  translation.listen(generation);
  const facts = factsOf(generation, finish_reason, answer.body.length);
  return settledReply(job, { head: { headers: [] }, body: json, status: 200, failure: null, facts });
}

function failureOfRefusal(
  job: Dispatch,
  { head, body }: CollectedAnswer,
  readError: UpstreamCall['protocol']['codec']['readError'],
) {
  const credential = credentialOf(job.route.upstream);
  const error = readError(body.subarray(0, WORDS_BYTES_MAX));
  const words = scrubText(error.message, credential);
  return failureOfTranslatedError(head.status, headerOf(head, 'retry-after'), error, words);
}

function failureOfEvent(job: Dispatch, { type, status, message }: Extract<GenerationEvent, { kind: 'error' }>) {
  return failureOfErrorWords(type, status, scrubText(message, credentialOf(job.route.upstream)));
}

function factsOf(generation: Generation, finish_reason: string, outputBytesMax: number): AnswerFacts {
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

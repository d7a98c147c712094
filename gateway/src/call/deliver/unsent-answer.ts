/** Reads the facts of an answer that the client did not get, because upstream bills it anyway. Contract, 10.3. */
import type { AnswerFacts, Protocol, StreamObserver } from '../../protocols/protocol.ts';
import type { CollectedAnswer } from '../attempt/collect-answer.ts';
import { readAnswerBody } from './read-answer-body.ts';

/**
 * For a stream, as far as it arrived. Chat hosts may report usage in every chunk: it is final only if the answer had
 * finished.
 */
export function unsentOf(observer: Pick<StreamObserver, 'facts' | 'rewrites'>): AnswerFacts {
  const facts = observer.facts();
  const isFinal = observer.rewrites || facts.finish_reason !== null;
  return { ...facts, usage: isFinal ? facts.usage : null, finish_reason: null };
}

/** For a non-streamed answer, in upstream's format; null: it reports no usage or is not a valid answer. */
export async function unsentIn({ head, body }: CollectedAnswer, upstream: Protocol): Promise<AnswerFacts | null> {
  if (head.status !== 200) return null;
  const { facts } = await readAnswerBody(body, upstream);
  return facts === undefined || facts.usage === null ? null : { ...facts, finish_reason: null };
}

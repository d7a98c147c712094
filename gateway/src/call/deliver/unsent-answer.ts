/** Reads what upstream told of an answer that its client did not get: upstream bills it all the same. Contract, 10.3. */
import type { AnswerFacts, Protocol, StreamObserver } from '../../protocols/protocol.ts';
import type { CollectedAnswer } from '../attempt/collect-answer.ts';
import { readAnswerBody } from './read-answer-body.ts';

/** Of a stream, as far as it came. Chat hosts may tell usage in every chunk: it is final only where the answer had finished. */
export function unsentOf(observer: Pick<StreamObserver, 'facts' | 'rewrites'>): AnswerFacts {
  const facts = observer.facts();
  const isFinal = observer.rewrites || facts.finish_reason !== null;
  return { ...facts, usage: isFinal ? facts.usage : null, finish_reason: null };
}

/** Of an answer in one piece, in upstream's format; null: it tells no usage, or is none. */
export async function unsentIn({ head, body }: CollectedAnswer, upstream: Protocol): Promise<AnswerFacts | null> {
  if (head.status !== 200) return null;
  const { facts } = await readAnswerBody(body, upstream);
  return facts === undefined || facts.usage === null ? null : { ...facts, finish_reason: null };
}

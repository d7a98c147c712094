/** Reads the facts of answers of embeddings. */
import { factsWithoutOutput, readInputUsage } from '../../answer/answer-facts.ts';
import { asName, asObject } from '../../json.ts';
import type { AnswerReading } from '../../upstream-protocol.ts';

/** `bodyBytes`: the length of the body that `answer` was parsed from. */
export function readAnswer(answer: unknown, bodyBytes: number): AnswerReading {
  const body = asObject(answer);
  if (!Array.isArray(body?.data)) return { kind: 'malformed', message: 'the answer has no list of embeddings' };
  return { kind: 'answer', facts: factsWithoutOutput(readInputUsage(body.usage), asName(body.model), bodyBytes) };
}

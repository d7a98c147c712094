/** Reads the facts of rankings, which are billed by searches or by tokens. */
import { type Usage, ZERO_USAGE } from '../../../generation/usage.ts';
import { factsWithoutOutput, readInputUsage } from '../../answer/answer-facts.ts';
import { asCount, asName, asObject, type JsonObject } from '../../json.ts';
import type { AnswerReading } from '../../upstream-protocol.ts';

/** `bodyBytes`: the length of the body that `answer` was parsed from. */
export function readAnswer(answer: unknown, bodyBytes: number): AnswerReading {
  const body = asObject(answer);
  // Voyage names the list as OpenAI names lists.
  if (body === null || !Array.isArray(body.results ?? body.data)) {
    return { kind: 'malformed', message: 'the answer has no results' };
  }
  return { kind: 'answer', facts: factsWithoutOutput(readUsage(body), asName(body.model), bodyBytes) };
}

/** Cohere counts searches, OpenRouter reports them in `usage`, the others count tokens. Null: none of them. */
function readUsage({ meta, usage }: JsonObject): Usage | null {
  const billed = asObject(asObject(meta)?.billed_units)?.search_units ?? asObject(usage)?.search_units;
  const search_units = asCount(billed);
  const tokens = readInputUsage(usage);
  if (typeof search_units !== 'number' || search_units === 0) return tokens;
  return { ...(tokens ?? ZERO_USAGE), extras: { search_units } };
}

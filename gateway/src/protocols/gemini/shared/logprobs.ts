/** Parses and renders the log probabilities of an answer's tokens. https://ai.google.dev/api/generate-content, read 2026-11-22. */
import type { TokenLogprob } from '../../../generation/event.ts';
import type { WritableJson } from '../../../wire/json-writer.ts';
import { asArray, asObject, type JsonObject } from '../../json.ts';

/** The chosen tokens, each with the likeliest in its place; skips anything else. `result`: a `logprobsResult`. */
export function parseLogprobs(result: JsonObject | null): TokenLogprob[] {
  const likeliest = asArray(result?.topCandidates);
  return asArray(result?.chosenCandidates).flatMap((chosen, index) =>
    parseToken(chosen).map((one) => ({
      ...one,
      top: asArray(asObject(likeliest[index])?.candidates).flatMap(parseToken),
    })),
  );
}

/** Absent: 0, as in every number of Google's JSON. */
function parseToken(candidate: unknown): Array<Omit<TokenLogprob, 'top'>> {
  const { token, logProbability = 0 } = asObject(candidate) ?? {};
  return typeof token === 'string' && typeof logProbability === 'number' ? [{ token, logprob: logProbability }] : [];
}

/** A `logprobsResult`. */
export function renderLogprobs(tokens: readonly TokenLogprob[]): WritableJson {
  const candidate = ({ token, logprob }: Pick<TokenLogprob, 'token' | 'logprob'>) => ({
    token,
    logProbability: logprob,
  });
  return {
    chosenCandidates: tokens.map(candidate),
    topCandidates: tokens.map(({ top }) => ({ candidates: top.map(candidate) })),
  };
}

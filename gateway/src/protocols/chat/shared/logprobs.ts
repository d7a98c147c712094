/** Parses and renders the log probabilities of tokens: `logprobs` of a choice. Wire reference A.6. */
import type { TokenLogprob } from '../../../generation/event.ts';
import type { WritableJson } from '../../../wire/json-writer.ts';
import { asArray, asObject } from '../../json.ts';

/** The tokens of `logprobs.content`; skips anything else. */
export function parseLogprobs(logprobs: unknown): TokenLogprob[] {
  return asArray(asObject(logprobs)?.content).flatMap((entry) =>
    parseToken(entry).map((one) => ({ ...one, top: asArray(asObject(entry)?.top_logprobs).flatMap(parseToken) })),
  );
}

function parseToken(entry: unknown): Array<Omit<TokenLogprob, 'top'>> {
  const { token, logprob } = asObject(entry) ?? {};
  return typeof token === 'string' && typeof logprob === 'number' ? [{ token, logprob }] : [];
}

/** No provider of another format tells the bytes of a token. */
export function renderLogprobs(tokens: readonly TokenLogprob[]): WritableJson {
  const content = tokens.map(({ token, logprob, top }) => ({
    token,
    logprob,
    bytes: null,
    top_logprobs: top.map((other) => ({ ...other, bytes: null })),
  }));
  return { content, refusal: null };
}

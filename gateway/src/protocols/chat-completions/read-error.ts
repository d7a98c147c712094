/** Owns what a chat-completions host's error body says, with the members that only single hosts add. */
import type { UpstreamError } from '../codec.ts';
import { describeError, type ErrorBody, readErrorBody } from '../error-body.ts';
import { asCount, asObject, asText } from '../json.ts';

/** Never throws, whatever the bytes are. `message` is not scrubbed. Wire reference A.9 and C.6. */
export function readError(body: Buffer): UpstreamError {
  const outer = readErrorBody(body);
  const inner = readForwarded(outer);
  const error = describeError(
    inner?.message ?? outer.message,
    inner?.code ?? outer.code,
    asText((inner ?? outer).error?.param),
  );
  if (error.condition !== 'context_overflow') return error;
  return {
    ...error,
    promptTokens: error.promptTokens ?? countOf(outer, 'n_prompt_tokens'),
    tokensMax: error.tokensMax ?? countOf(outer, 'n_ctx'),
  };
}

/** OpenRouter says only that its provider failed; that one's own body stands in `metadata.raw`, often JSON in a text. */
function readForwarded({ error }: ErrorBody): ErrorBody | null {
  const raw = asText(asObject(error?.metadata)?.raw);
  const inner = raw === null ? null : readErrorBody(Buffer.from(raw));
  return inner === null || inner.message === '' ? null : inner;
}

/** llama.cpp counts in members beside its words. */
function countOf({ error }: ErrorBody, member: string): number | null {
  const count = asCount(error?.[member]);
  return typeof count === 'number' ? count : null;
}

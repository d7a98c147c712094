/** Renders chat-completions error bodies, in-band stream errors and the keep-alive. Contract, 5 and 6. */
import type { CallFailure, TokenCounts } from '../../../errors/call-failure.ts';
import { FAILURE_KINDS } from '../../../errors/failure-kinds.ts';

/** Clients skip SSE comments. */
export const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');

/** `{"error":{"message","type","param","code"}}`; the message of a 5xx repeats the request id. */
export function renderError(failure: CallFailure, requestId: string): string {
  const { type, code } = FAILURE_KINDS[failure.kind].chat;
  const message = withRequestId(failure, requestId);
  return JSON.stringify({ error: { message, type, param: failure.details.param ?? null, code } });
}

/** The last record of a stream that failed: never followed by `[DONE]`. */
export function renderStreamError(failure: CallFailure, requestId: string): Buffer {
  return Buffer.from(`data: ${renderError(failure, requestId)}\n\n`);
}

/** The failure's message; with the request id for support if the fault is not the caller's (5xx). */
function withRequestId(failure: CallFailure, requestId: string): string {
  const { tokens } = failure.details;
  const words = tokens === undefined ? failure.message : overContext(tokens);
  return failure.status('chat') >= 500 ? `${words} (request id ${requestId})` : words;
}

/**
 * Contains "maximum context length", which LangChain (1.6, November 2026) and others search for; the counts are where
 * OpenAI puts them, for clients that parse them. Wire reference C.6 and E.5.
 */
function overContext({ prompt, output, max }: TokenCounts): string {
  if (max === null) {
    const found = prompt === null ? '' : `: your messages resulted in ${prompt} tokens`;
    return `The maximum context length of this model is exceeded${found}. Please reduce the length of the messages.`;
  }
  const limit = `This model's maximum context length is ${max} tokens.`;
  if (prompt === null) return `${limit} Please reduce the length of the messages.`;
  if (output === null || prompt >= max) {
    return `${limit} However, your messages resulted in ${prompt} tokens. Please reduce the length of the messages.`;
  }
  return (
    `${limit} However, you requested ${prompt + output} tokens (${prompt} in the messages, ${output} in the completion). ` +
    'Please reduce the length of the messages or completion.'
  );
}

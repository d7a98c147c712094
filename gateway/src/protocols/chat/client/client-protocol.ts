/** Assembles the half of the chat-completions format that clients use. */
import type { ClientProtocol } from '../../client-protocol.ts';
import { checkRequest } from './check-request.ts';
import { parseRequest } from './parse-request.ts';
import { renderAnswer } from './render-answer.ts';
import { KEEP_ALIVE, renderError, renderStreamError, statusOf } from './render-error.ts';
import { startStreamRenderer } from './render-stream.ts';

export const chatClient: ClientProtocol = {
  name: 'chat',
  endpoints: [{ path: '/chat/completions', countOnly: false }],
  versionHeader: null,
  readVersion: () => null,
  prefersApiKeyHeader: false,
  checkRequest,
  parseRequest,
  startsWithInputTokens: false,
  startStreamRenderer,
  renderAnswer,
  cutReason: 'length',
  statusOf,
  renderError,
  renderStreamError,
  keepAlive: KEEP_ALIVE,
  // Source: wire reference A.10.
  limitHeader: (unit, member) => `x-ratelimit-${member}-${unit}`,
  renderReset: spanText,
};

/** `6m0s`, `59s`, `120ms`, `0s`: milliseconds only below a second, else seconds rounded up. */
function spanText(spanMs: number): string {
  if (spanMs <= 0) return '0s';
  if (spanMs < 1_000) return `${spanMs}ms`;
  const seconds = Math.ceil(spanMs / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const [ofHours, ofMinutes] = [hours > 0 ? `${hours}h` : '', seconds >= 60 ? `${minutes}m` : ''];
  return `${ofHours}${ofMinutes}${seconds % 60}s`;
}

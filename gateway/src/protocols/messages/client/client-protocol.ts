/** Assembles the half of the messages format that clients use. */
import { invalidRequest } from '../../../errors/call-failure.ts';
import type { ClientProtocol } from '../../client-protocol.ts';
import { checkRequest } from './check-request.ts';
import { parseRequest } from './parse-request.ts';
import { renderAnswer } from './render-answer.ts';
import { KEEP_ALIVE, renderError, renderStreamError, statusOf } from './render-error.ts';
import { startStreamRenderer } from './render-stream.ts';

export const messagesClient: ClientProtocol = {
  name: 'messages',
  endpoints: [
    { path: '/messages', countOnly: false },
    { path: '/messages/count_tokens', countOnly: true },
  ],
  versionHeader: 'anthropic-version',
  readVersion,
  prefersApiKeyHeader: true,
  checkRequest,
  parseRequest,
  startsWithInputTokens: true,
  startStreamRenderer,
  renderAnswer,
  cutReason: 'max_tokens',
  statusOf,
  renderError,
  renderStreamError,
  keepAlive: KEEP_ALIVE,
  // Source: wire reference B.8.
  limitHeader: (unit, member) => `anthropic-ratelimit-${unit}-${member}`,
  renderReset: (leftMs, nowMs) => momentText(leftMs + nowMs),
};

/** `provider-version` and `anthropic-version` are synonyms; absent means 2023-06-01, any other value is refused. */
function readVersion(headers: Headers): string {
  const found = headers.get('anthropic-version') ?? headers.get('provider-version');
  if (found === null) return '2023-06-01';
  if (found === '2023-06-01' || found === '2026-10-21') return found;
  throw invalidRequest(
    `anthropic-version is ${JSON.stringify(found.slice(0, 80))}; expected 2023-06-01 or 2026-10-21`,
    'anthropic-version',
  );
}

/** RFC 3339 to the second, rounded up. */
function momentText(atMs: number): string {
  return new Date(Math.ceil(atMs / 1_000) * 1_000).toISOString().replace('.000Z', 'Z');
}

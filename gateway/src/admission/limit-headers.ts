/** Renders the response headers with the remaining limits of a caller. Contract, 8; wire reference A.10 and B.8. */
import type { ProtocolName } from '../protocols/protocol.ts';
import type { RateLimitStatus } from '../store/ports/limits.ts';

/**
 * `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` for chat,
 * `anthropic-ratelimit-{requests,tokens}-{limit,remaining,reset}` for messages; none for requests or tokens without a
 * limit. A reset is when the full limit is available again. `nowMs` is the current time on the limits' own clock,
 * `shownMs` on the caller's.
 */
export function limitHeaders(
  rateLimitStatus: RateLimitStatus,
  protocol: ProtocolName,
  nowMs: number,
  shownMs: number,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const sort of ['requests', 'tokens'] as const) {
    const left = rateLimitStatus[sort];
    if (left === null) continue;
    const name =
      protocol === 'chat'
        ? (member: string) => `x-ratelimit-${member}-${sort}`
        : (member: string) => `anthropic-ratelimit-${sort}-${member}`;
    headers[name('limit')] = String(left.limit);
    headers[name('remaining')] = String(left.remaining);
    headers[name('reset')] =
      protocol === 'chat' ? spanText(left.resetMs - nowMs) : momentText(left.resetMs - nowMs + shownMs);
  }
  return headers;
}

/** `6m0s`, `59s`, `120ms`, `0s`: milliseconds only below a second, else seconds rounded up. */
function spanText(spanMs: number): string {
  if (spanMs <= 0) return '0s';
  if (spanMs < 1_000) return `${spanMs}ms`;
  const seconds = Math.ceil(spanMs / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const [ofHours, ofMinutes] = [hours > 0 ? `${hours}h` : '', seconds >= 60 ? `${minutes}m` : ''];
  return `${ofHours}${ofMinutes}${seconds % 60}s`;
}

/** RFC 3339 to the second, rounded up. */
function momentText(atMs: number): string {
  return new Date(Math.ceil(atMs / 1_000) * 1_000).toISOString().replace('.000Z', 'Z');
}

/** Renders the headers about limits per minute in OpenAI's two formats. Source: wire reference A.10. */
import type { LimitMember } from '../client-protocol.ts';

export function limitHeader(unit: 'requests' | 'tokens', member: LimitMember): string {
  return `x-ratelimit-${member}-${unit}`;
}

/** `6m0s`, `59s`, `120ms`, `0s`: milliseconds only below a second, else seconds rounded up. */
export function spanText(spanMs: number): string {
  if (spanMs <= 0) return '0s';
  if (spanMs < 1_000) return `${spanMs}ms`;
  const seconds = Math.ceil(spanMs / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const [ofHours, ofMinutes] = [hours > 0 ? `${hours}h` : '', seconds >= 60 ? `${minutes}m` : ''];
  return `${ofHours}${ofMinutes}${seconds % 60}s`;
}

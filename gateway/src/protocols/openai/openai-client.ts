/** Defines what clients of all formats that OpenAI defined have in common: headers. Source: wire reference A.10. */
import type { ClientProtocol } from '../client-protocol.ts';

/** The common members of a format's client half. */
export const OPENAI_CLIENT: Pick<
  ClientProtocol,
  'versionHeader' | 'readVersion' | 'prefersApiKeyHeader' | 'limitHeader' | 'renderReset'
> = {
  versionHeader: null,
  readVersion: () => null,
  prefersApiKeyHeader: false,
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

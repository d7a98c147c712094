/** Recognizes Claude Code's attribution among the instructions of a request. */
import type { Part } from '../../generation/part.ts';

const ATTRIBUTION = 'x-anthropic-billing-header:';

/** It changes with each request and would defeat prompt caching, so other formats are not sent it. Wire reference C.2. */
export function isAttribution(part: Part): boolean {
  return part.kind === 'text' && part.text.startsWith(ATTRIBUTION);
}

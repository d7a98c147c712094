/** Renders cache marks as `cache_control` and limits their number per request. Source: wire reference B.3 and C.7. */
import type { CacheMark } from '../../../generation/part.ts';
import { RawJson, type WritableJson } from '../../../wire/json-writer.ts';

/** A block or tool of ours, which may lose its mark again; RawJson came in this format and stays unchanged. */
export interface MarkableBlock {
  readonly [member: string]: WritableJson | undefined;
  cache_control?: WritableJson | undefined;
}

export type WrittenBlock = RawJson | MarkableBlock;

const MARKS_MAX = 4;
const SHORT_TTL_MINUTES = 5;

/** Anthropic supports five minutes, the default, and an hour. */
export function renderCacheMark(mark: CacheMark | null): WritableJson | undefined {
  if (mark === null) return undefined;
  const short = mark.ttlMinutes === null || mark.ttlMinutes <= SHORT_TTL_MINUTES;
  return short ? { type: 'ephemeral' } : { type: 'ephemeral', ttl: '1h' };
}

/**
 * Removes the first marks until no more remain than Anthropic accepts; `reserved` of those are used elsewhere. `blocks`
 * are in prompt order. Returns the number of removed marks.
 */
export function keepLastMarks(blocks: readonly WrittenBlock[], reserved: number): number {
  const marked = blocks.filter(isMarked);
  const surplus = marked.slice(0, Math.max(0, marked.length + reserved - MARKS_MAX));
  for (const block of surplus) block.cache_control = undefined;
  return surplus.length;
}

function isMarked(block: WrittenBlock): block is MarkableBlock {
  return !(block instanceof RawJson) && block.cache_control !== undefined;
}

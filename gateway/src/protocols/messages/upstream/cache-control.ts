/**
 * Owns writing cache marks as `cache_control`, and keeping no more of them than a request may have. Source: wire
 * reference B.3 and C.7.
 */
import type { CacheMark } from '../../../generation/part.ts';
import { RawJson, type WritableJson } from '../../../wire/json-writer.ts';

/**
 * A block or tool of ours, which may lose its mark again; RawJson is one that came in this format and stays as it was.
 */
export interface MarkableBlock {
  readonly [member: string]: WritableJson | undefined;
  cache_control?: WritableJson | undefined;
}

export type WrittenBlock = RawJson | MarkableBlock;

const MARKS_MAX = 4;
const SHORT_TTL_MINUTES = 5;

/** The host knows five minutes, which it keeps without being told, and an hour. */
export function renderCacheMark(mark: CacheMark | null): WritableJson | undefined {
  if (mark === null) return undefined;
  const short = mark.ttlMinutes === null || mark.ttlMinutes <= SHORT_TTL_MINUTES;
  return short ? { type: 'ephemeral' } : { type: 'ephemeral', ttl: '1h' };
}

/**
 * Takes the first marks away until the last ones are as many as the host takes; `reserved` of those are used elsewhere.
 * `blocks` stand in the order of the prompt. Answers how many were taken.
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

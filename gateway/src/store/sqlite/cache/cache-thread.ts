/** Defines what the thread that stores cached answers is asked, and answers. */
import type { CacheCutoff, CachedAnswer, CachedAnswerName, CacheLimits } from '../../ports/cache/answer-cache.ts';

export type CacheRequest =
  | { readonly kind: 'open'; readonly path: string; readonly key: Uint8Array }
  | { readonly kind: 'keep'; readonly answer: CachedAnswer; readonly limits: CacheLimits }
  | { readonly kind: 'find'; readonly name: CachedAnswerName; readonly sinceMs: number }
  /** One step: deletes a bounded number of answers, and returns how many. */
  | { readonly kind: 'sweep'; readonly cutoffs: readonly CacheCutoff[] }
  | { readonly kind: 'close' };

/** The answer to each kind of request. */
export interface CacheReplies {
  readonly open: null;
  readonly keep: null;
  readonly find: CachedAnswer | null;
  readonly sweep: number;
  readonly close: null;
}

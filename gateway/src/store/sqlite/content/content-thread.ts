/** Defines what the thread that stores content is asked, and answers. */
import type { QueryWord } from '../../../lib/query/call-query.ts';
import type { CallContent, ContentCutoff, ContentMatches, ContentRange } from '../../ports/content.ts';
import type { ThreadReply } from '../database/store-thread.ts';

export type ContentRequest =
  | { readonly kind: 'open'; readonly path: string; readonly key: Uint8Array }
  | { readonly kind: 'keep'; readonly contents: readonly CallContent[]; readonly bytesMax: number }
  | { readonly kind: 'find' | 'read'; readonly account: string; readonly requestId: string }
  | { readonly kind: 'list'; readonly range: ContentRange; readonly limit: number }
  | {
      readonly kind: 'search';
      readonly account: string;
      readonly requestIds: readonly string[];
      readonly words: readonly QueryWord[];
      readonly timeMs: number;
    }
  /** Those with content. */
  | { readonly kind: 'workspaces' }
  /** One step: deletes a bounded number of calls, and returns how many. */
  | { readonly kind: 'sweep'; readonly cutoff: ContentCutoff; readonly bytesMax: number }
  | { readonly kind: 'close' };

/** The answer to each kind of request. */
export interface ContentAnswers {
  readonly open: null;
  readonly keep: null;
  readonly find: string | null;
  readonly read: CallContent | null;
  readonly list: readonly string[];
  readonly search: ContentMatches;
  readonly workspaces: readonly string[];
  readonly sweep: number;
  readonly close: null;
}

export type ContentReply = ThreadReply<ContentAnswers>;

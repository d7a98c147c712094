/** Owns the words between the request thread and the thread that keeps content. Every request is answered once, by its number. */
import type { CallContent, ContentCutoff } from '../../content-port.ts';

export type ContentRequest =
  | { readonly kind: 'open'; readonly path: string; readonly key: Uint8Array }
  | { readonly kind: 'keep'; readonly contents: readonly CallContent[]; readonly bytesMax: number }
  | { readonly kind: 'find' | 'read'; readonly account: string; readonly requestId: string }
  /** A step: takes away a bounded number, and answers how many. */
  | { readonly kind: 'sweep'; readonly cutoff: ContentCutoff; readonly bytesMax: number }
  | { readonly kind: 'close' };

/** What each kind of request is answered with. */
export interface ContentAnswers {
  readonly open: null;
  readonly keep: null;
  readonly find: string | null;
  readonly read: CallContent | null;
  readonly sweep: number;
  readonly close: null;
}

export type ContentReply =
  | { readonly number: number; readonly answer: ContentAnswers[keyof ContentAnswers] }
  | { readonly number: number; readonly fault: string };

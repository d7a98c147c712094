/** Owns the words between the request thread and the thread that runs queries for it. */
import type { WriterFault } from './writer-messages.ts';

export interface QueryQuestion {
  readonly path: string;
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

export type QueryReply = { readonly rows: readonly unknown[] } | { readonly failed: WriterFault };

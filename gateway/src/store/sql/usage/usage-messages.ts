/** Owns the words between the request thread and a thread that reads usage. */

import type { CallRecord } from '../../ports.ts';
import type {
  CallDetail,
  LogPage,
  LogQuestion,
  ProofQuestion,
  TailQuestion,
  UsageProof,
  UsageQuestions,
  UsageRefusal,
  UsageTenant,
} from '../../usage-port.ts';
import type { StoreFailureKind } from '../store-failure.ts';
import type { PackedAnswer } from './pack-buckets.ts';

export type ReadQuestion =
  | { readonly kind: 'usage'; readonly questions: UsageQuestions }
  | { readonly kind: 'proof'; readonly question: ProofQuestion }
  | { readonly kind: 'logs'; readonly question: LogQuestion }
  | { readonly kind: 'tail'; readonly question: TailQuestion }
  | { readonly kind: 'call'; readonly tenant: UsageTenant; readonly requestId: string };

export interface ReadAnswers {
  /** By the names of the questions. */
  readonly usage: Readonly<Record<string, PackedAnswer | null>>;
  readonly proof: UsageProof;
  readonly logs: LogPage;
  readonly tail: readonly CallRecord[];
  readonly call: CallDetail | null;
}

export interface ReadRequest {
  /** The database's file. */
  readonly path: string;
  readonly asked: ReadQuestion;
}

export type ReadReply =
  | { readonly answer: ReadAnswers[keyof ReadAnswers] }
  | { readonly refused: { readonly kind: UsageRefusal['kind']; readonly message: string } }
  | { readonly failed: { readonly kind: StoreFailureKind; readonly message: string } };

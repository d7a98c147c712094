/**
 * Implements the usage port over reading threads. Proofs and costs of attempts take long, charges do after an upgrade: they
 * have a thread of their own, so that pages do not wait for them.
 */

import type { SessionReader, SessionsPage, SessionsQuestion } from '../../ports/calls/sessions.ts';
import type { WhatIfAnswer, WhatIfQuestion, WhatIfReader } from '../../ports/calls/what-if.ts';
import type { CallRecord } from '../../ports/records.ts';
import {
  type AttemptCosts,
  type AttemptCostsQuestion,
  type CallDetail,
  type LogPage,
  type LogQuestion,
  type ProofQuestion,
  type ReasonsAnswer,
  type ReasonsQuestion,
  type TailQuestion,
  type UsageAnswers,
  type UsageProof,
  type UsageQuestions,
  type UsageReader,
  UsageRefusal,
  type UsageTenant,
} from '../../ports/usage.ts';
import { createReadingThread, type ReadingThread } from '../database/reading-thread.ts';
import { errorOf, type Fault } from '../sqlite-fault.ts';
import { openAnswer, type PackedAnswer } from './gather-usage.ts';
import type { ChargesAnswer, ChargesQuestion } from './read-charges.ts';

export interface UsageThreads extends UsageReader, WhatIfReader, SessionReader {
  readCharges(question: ChargesQuestion): Promise<ChargesAnswer>;
  close(): void;
}

type Thread = ReadingThread<ReadRequest, ReadReply>;

/** `program`: the thread's program. Starts no thread yet. */
export function createUsageReader(path: string, program: URL): UsageThreads {
  const pages: Thread = createReadingThread(program);
  const proofs: Thread = createReadingThread(program);

  async function ask<Kind extends keyof ReadAnswers>(
    thread: Thread,
    asked: Extract<ReadQuestion, { kind: Kind }>,
  ): Promise<ReadAnswers[Kind]> {
    const reply = await thread.ask({ path, asked });
    if ('refused' in reply) throw new UsageRefusal(reply.refused.kind, reply.refused.message);
    if ('failed' in reply) throw errorOf(reply.failed);
    // The kind of the answer matches the kind of the question.
    return reply.answer as ReadAnswers[Kind];
  }

  return {
    async readUsage<Asked extends UsageQuestions>(questions: Asked) {
      const answers = Object.entries(await ask(pages, { kind: 'usage', questions })).map(
        ([name, answer]) => [name, answer === null ? null : openAnswer(answer)] as const,
      );
      // Each answer has the name of its question.
      return Object.fromEntries(answers) as UsageAnswers<Asked>;
    },
    proveUsage: (question) => ask(proofs, { kind: 'proof', question }),
    readAttemptCosts: (question) => ask(proofs, { kind: 'attempts', question }),
    readCharges: (question) => ask(proofs, { kind: 'charges', question }),
    readLogs: (question) => ask(pages, { kind: 'logs', question }),
    readTail: (question) => ask(pages, { kind: 'tail', question }),
    readReasons: (question) => ask(pages, { kind: 'reasons', question }),
    readWhatIf: (question) => ask(pages, { kind: 'what_if', question }),
    readSessions: (question) => ask(pages, { kind: 'sessions', question }),
    readCall: (tenant, requestId) => ask(pages, { kind: 'call', tenant, requestId }),
    close() {
      pages.close();
      proofs.close();
    },
  };
}

export type ReadQuestion =
  | { readonly kind: 'usage'; readonly questions: UsageQuestions }
  | { readonly kind: 'proof'; readonly question: ProofQuestion }
  | { readonly kind: 'attempts'; readonly question: AttemptCostsQuestion }
  | { readonly kind: 'charges'; readonly question: ChargesQuestion }
  | { readonly kind: 'logs'; readonly question: LogQuestion }
  | { readonly kind: 'tail'; readonly question: TailQuestion }
  | { readonly kind: 'reasons'; readonly question: ReasonsQuestion }
  | { readonly kind: 'what_if'; readonly question: WhatIfQuestion }
  | { readonly kind: 'sessions'; readonly question: SessionsQuestion }
  | { readonly kind: 'call'; readonly tenant: UsageTenant; readonly requestId: string };

export interface ReadAnswers {
  /** By the names of the questions. */
  readonly usage: Readonly<Record<string, PackedAnswer | null>>;
  readonly proof: UsageProof;
  readonly attempts: readonly AttemptCosts[];
  readonly charges: ChargesAnswer;
  readonly logs: LogPage;
  readonly tail: readonly CallRecord[];
  readonly reasons: ReasonsAnswer;
  readonly what_if: WhatIfAnswer;
  readonly sessions: SessionsPage;
  readonly call: CallDetail | null;
}

export interface ReadRequest {
  /** The path of the database file. */
  readonly path: string;
  readonly asked: ReadQuestion;
}

export type ReadReply =
  | { readonly answer: ReadAnswers[keyof ReadAnswers] }
  | { readonly refused: { readonly kind: UsageRefusal['kind']; readonly message: string } }
  | { readonly failed: Fault };

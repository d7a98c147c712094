/** Answers one question about usage or logs on a connection of its own, so that an idle thread keeps none open. */
import type { Database } from 'bun:sqlite';
import { type UsageQuestion, type UsageQuestions, UsageRefusal } from '../../ports/usage.ts';
import { readSessions } from '../calls/read-sessions.ts';
import { readWhatIf } from '../calls/read-what-if.ts';
import { readAttemptCosts } from '../ledger/attempt-costs.ts';
import { callRecordOfRow } from '../ledger/call-record-row.ts';
import { readReasons } from '../reasons/read-reasons.ts';
import { faultOf } from '../sqlite-fault.ts';
import { packAnswer } from './gather-usage.ts';
import { proveUsage } from './prove-usage.ts';
import { readCharges } from './read-charges.ts';
import { readCall, readLogs, readTail } from './read-logs.ts';
import { readUsage } from './read-usage.ts';
import { openUnfolded, startDeadline } from './scan-records.ts';
import type { ReadAnswers, ReadQuestion, ReadReply, ReadRequest } from './usage-reader.ts';

/** A list page that takes longer is returned incomplete, with the position to continue from. */
const PAGE_PACE_MS = 150;
/** 64 MiB of pages: a long range is read more than once. */
const CACHE_KIB = 65_536;

export function answerRead({ path, asked }: ReadRequest, open: (path: string) => Database): ReadReply {
  try {
    const database = open(path);
    try {
      database.run(`PRAGMA cache_size = -${CACHE_KIB}`);
      database.run('BEGIN');
      return { answer: answer(database, asked) };
    } finally {
      database.close();
    }
  } catch (fault) {
    if (fault instanceof UsageRefusal) return { refused: { kind: fault.kind, message: fault.message } };
    return { failed: faultOf(fault) };
  }
}

function answer(database: Database, asked: ReadQuestion): ReadAnswers[keyof ReadAnswers] {
  switch (asked.kind) {
    case 'usage':
      return readAll(database, asked.questions);
    case 'proof':
      return proveUsage(database, asked.question);
    case 'attempts':
      return readAttemptCosts(database, asked.question);
    case 'charges':
      return readCharges(database, asked.question);
    case 'logs':
      return readLogs(database, asked.question, startDeadline(PAGE_PACE_MS), startDeadline(asked.question.timeMsMax));
    case 'tail':
      return readTail(database, asked.question).map(callRecordOfRow);
    case 'reasons':
      return readReasons(database, asked.question, startDeadline(asked.question.timeMsMax));
    case 'what_if':
      return readWhatIf(database, asked.question, startDeadline(asked.question.timeMsMax));
    case 'sessions':
      return readSessions(database, asked.question, startDeadline(asked.question.timeMsMax));
    case 'call':
      return readCall(database, asked.tenant, asked.requestId);
  }
}

/** Reads the records that are not rolled up yet once for all questions. */
function readAll(database: Database, questions: UsageQuestions): ReadAnswers['usage'] {
  const unfolded = openUnfolded(database);
  const answerTo = (question: UsageQuestion) =>
    packAnswer(readUsage(database, question, startDeadline(question.timeMsMax), unfolded));
  return Object.fromEntries(
    Object.entries(questions).map(([name, question]) => [name, question === null ? null : answerTo(question)]),
  );
}

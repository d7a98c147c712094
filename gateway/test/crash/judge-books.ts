/** Compares the gateway's books with the ground truth of the crash loop. */
import type { AccountBalance } from '../../src/store/ports/ledger.ts';
import type { CallRecord } from '../../src/store/ports/records.ts';
import type { GroundTruth, Sent } from './ground-truth.ts';
import type { Books } from './read-books.ts';
import { DEAREST_ANSWER, PAYERS, type Payer } from './roles.ts';

/**
 * Refusals that the loop's own callers cause: low balances, exhausted budgets, and runs cut by a kill and requested
 * again.
 */
const EXPECTED_STATUSES: ReadonlySet<number> = new Set([409, 429]);
const EXPECTED_ERRORS: ReadonlySet<string | null> = new Set([
  null,
  'gateway_crashed',
  'quota_exceeded',
  'idempotency_lost',
]);

/** A checkpoint's tokens are our own count: it may be wrong, but not by more than this. */
const CHECKPOINT_COST_MAX = 2n * DEAREST_ANSWER;

/**
 * Returns all problems, one sentence each, starting with `lost`, `double`, `wrong`, `held`, `overspent`, `unexpected`
 * or `disproved`. `books` were read after a restart, before any call. `budget`: of the account `capped`, nano-USD.
 */
export function judgeBooks(truth: GroundTruth, books: Books, budget: bigint): string[] {
  return judgeAdmitted(...withoutTurnedAway(truth, books), budget);
}

/**
 * Without the calls that a busy machine made the gateway turn away before it read them: their records have no label, and
 * cost nothing. One without its record stays.
 */
function withoutTurnedAway(truth: GroundTruth, books: Books): [GroundTruth, Books] {
  const isTurnedAway = ({ error, end_user, cost_nano_usd }: CallRecord) =>
    error === 'over_capacity' && end_user === null && cost_nano_usd === '0';
  const ids = new Set(books.records.filter(isTurnedAway).map(({ request_id }) => request_id));
  const sent = truth.sent.filter(({ received }) => received?.status !== 503 || !ids.has(received.requestId));
  const records = books.records.filter((record) => !isTurnedAway(record));
  return [
    { ...truth, sent },
    { ...books, records },
  ];
}

function judgeAdmitted(truth: GroundTruth, books: Books, budget: bigint): string[] {
  const problems = books.disproof === null ? [] : [`disproved: ${books.disproof}`];
  const sentBy = groupBy(truth.sent, ({ label }) => label);
  const recordsBy = groupBy(books.records, ({ end_user }) => end_user ?? '');
  const ids = groupBy(books.records, ({ request_id }) => request_id);
  for (const [id, { length }] of ids) if (length > 1) problems.push(`double: ${length} records of call ${id}`);
  for (const label of recordsBy.keys()) {
    if (!sentBy.has(label)) problems.push(`unexpected: a record of ${JSON.stringify(label)}, which nobody sent`);
  }
  for (const [label, sent] of sentBy) {
    const facts = { label, sent, arrived: truth.arrived.get(label) ?? [], records: recordsBy.get(label) ?? [] };
    problems.push(...judgeArrivals(facts), ...judgeRecords(facts), ...judgeAnswers(facts));
  }
  for (const payer of PAYERS) problems.push(...judgeAccount(payer, truth, books, budget));
  return problems;
}

/** All that is known of a label. */
interface ReceivedPart {
  readonly label: string;
  readonly sent: readonly Sent[];
  readonly arrived: readonly (bigint | null)[];
  readonly records: readonly CallRecord[];
}

/** One label is one call or one named run: upstream gets it at most once, and it is charged at most once. */
function judgeArrivals({ label, sent, arrived, records }: ReceivedPart): string[] {
  const charged = records.filter(({ cost_nano_usd }) => cost_nano_usd !== '0');
  const problems: string[] = [];
  if (arrived.length > 1) problems.push(`double: ${label} reached the upstream ${arrived.length} times`);
  if (records.length > sent.length) {
    problems.push(`double: ${label} was sent ${sent.length} times and has ${records.length} records`);
  }
  if (charged.length > 1) problems.push(`double: ${label} is charged ${charged.length} times`);
  if (charged.length > arrived.length) problems.push(`double: ${label} is charged and never reached the upstream`);
  return problems;
}

function judgeRecords({ label, sent, arrived, records }: ReceivedPart): string[] {
  const payer = sent[0]?.role.payer;
  return records.flatMap((record) => {
    const { error, usage_source, account, cost_nano_usd } = record;
    const what = `the record ${record.request_id} of ${label}`;
    const problems: string[] = [];
    if (account !== payer) problems.push(`wrong: ${what} is of account ${account}, expected ${payer}`);
    if (!EXPECTED_ERRORS.has(error)) problems.push(`unexpected: ${what} says ${error}`);
    const isFree = usage_source === 'void' || usage_source === 'cache';
    if (isFree && cost_nano_usd !== '0') problems.push(`wrong: ${what} is ${usage_source} and costs ${cost_nano_usd}`);
    if (error === null && usage_source !== 'cache') {
      const expected = arrived[0]?.toString();
      if (usage_source !== 'upstream' || cost_nano_usd !== expected) {
        problems.push(`wrong: ${what} costs ${cost_nano_usd} (${usage_source}), the upstream counted ${expected}`);
      }
    }
    if (error === 'gateway_crashed' && usage_source !== 'void' && usage_source !== 'checkpoint') {
      problems.push(`wrong: ${what} ended with the process and is charged by ${usage_source}`);
    }
    if (usage_source === 'checkpoint' && BigInt(cost_nano_usd ?? '0') > CHECKPOINT_COST_MAX) {
      problems.push(`wrong: ${what} is charged ${cost_nano_usd} by a checkpoint, above ${CHECKPOINT_COST_MAX}`);
    }
    return problems;
  });
}

/** Compares what each client received with the records. */
function judgeAnswers({ label, sent, records }: ReceivedPart): string[] {
  const byId = new Map(records.map((record) => [record.request_id, record]));
  const first = sent.find(({ received }) => received?.end === 'complete' && received.replayOf === null)?.received;
  return sent.flatMap(({ received }, nth) => {
    if (received === null) return [];
    const { requestId, status, end, replayOf, refusal } = received;
    const what = `${label}, sending ${nth + 1}, call ${requestId}`;
    const record = byId.get(requestId);
    // A call gets no byte before its hold is durable, so recovery has ended every call that was cut off after its head.
    if (record === undefined) return [`lost: ${what} was answered (${status}, ${end}) and has no record`];
    if (end === 'cut') {
      const isKnown = record.usage_source !== 'checkpoint' || record.status === status;
      return isKnown ? [] : [`wrong: ${what} heard ${status} and then output, its record says ${record.status}`];
    }
    if (end === 'refused') {
      const isExpected = (status === 200 && record.error === 'quota_exceeded') || EXPECTED_STATUSES.has(status);
      return isExpected ? [] : [`unexpected: ${what} was refused: ${status} ${refusal}`];
    }
    if (record.status !== 200 || record.error !== null) {
      return [`lost: ${what} was answered whole, its record says ${record.status} ${record.error}`];
    }
    if ((replayOf === null) !== (record.usage_source !== 'cache')) {
      return [`wrong: ${what} is charged by ${record.usage_source}, and replayed was ${replayOf}`];
    }
    if (replayOf === null) return [];
    const origin = byId.get(replayOf);
    if (origin === undefined || origin.error !== null)
      return [`lost: ${what} replays ${replayOf}, which has no record`];
    if (first && received.bodyHash !== first.bodyHash)
      return [`wrong: ${what} replays another answer than ${replayOf} had`];
    return [];
  });
}

function judgeAccount(payer: Payer, truth: GroundTruth, { records, balances }: Books, budget: bigint): string[] {
  const balance = balances.find(({ account }) => account === payer);
  if (balance === undefined) return [`lost: the account ${payer}`];
  const { held, available, charged, writtenOff, toppedUp, mode } = balance;
  const problems: string[] = [];
  if (held !== 0n) problems.push(`held: account ${payer} holds ${held} after a restart`);
  if (mode === 'prepaid' && available < 0n) problems.push(`overspent: account ${payer} has ${available}`);
  if (payer === 'capped' && charged > budget) problems.push(`overspent: ${charged} of a budget of ${budget}`);
  if (available + held + charged !== toppedUp) problems.push(`wrong: ${renderBalance(balance)} does not add up`);
  const own = records.filter(({ account }) => account === payer);
  const cost = sum(own.map(({ cost_nano_usd }) => BigInt(cost_nano_usd ?? '0')));
  if (cost !== charged + writtenOff) {
    problems.push(`wrong: the records of ${payer} cost ${cost}, charged and absorbed are ${charged} + ${writtenOff}`);
  }
  const ordered = truth.topups.filter(({ account }) => account === payer);
  const known = sum(ordered.filter(({ isOpen }) => !isOpen).map(({ amount }) => amount));
  const most = sum(ordered.map(({ amount }) => amount));
  if (toppedUp < known) problems.push(`lost: top-ups of ${payer}: ${toppedUp} of ${known} acknowledged`);
  if (toppedUp > most) problems.push(`double: top-ups of ${payer}: ${toppedUp} of ${most} asked for`);
  return problems;
}

function renderBalance({ account, available, held, charged, toppedUp }: AccountBalance): string {
  return `account ${account} (${available} available, ${held} held, ${charged} charged, ${toppedUp} topped up)`;
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

function groupBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const name = nameOf(item);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [item]);
    else group.push(item);
  }
  return groups;
}

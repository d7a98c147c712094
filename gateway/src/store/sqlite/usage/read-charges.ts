/**
 * Sums up what calls charged by the day on which they ended: from rolled-up sums where they exist, from records for the
 * rest, in one state of the database. Sums up all that came before and after too: together they are what the ledger
 * charged to the account, which the caller checks.
 */
import type { Database } from 'bun:sqlite';
import { dayAt } from '../../../admission/window.ts';
import { requestIdFloor } from '../../../lib/request-id.ts';
import { CHARGED_TOKENS, type ChargedTokens } from '../../ports/ledger.ts';
import {
  addColumns,
  addWholeColumns,
  COST_AT,
  COUNTERS,
  MONEY_UNIT,
  moneyOf,
  newTally,
  requestsOf,
  type Tally,
} from '../rollup/tally.ts';
import { readUsageAccount } from '../rollup/usage-accounts.ts';
import { readUsageMark } from '../rollup/usage-mark.ts';
import type { Parameter } from './conditions.ts';
import { planSpans, QUARTER_MS, type Span } from './plan-spans.ts';
import { partsOf, type RolledPart, readBlocks } from './read-blocks.ts';
import { ID_SLACK_MS } from './scan-records.ts';

/** Unix ms; `toMs` is exclusive. */
export interface ChargesQuestion {
  readonly account: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** The rows are those of a day in this time zone; null: of the whole range. */
  readonly zone: string | null;
}

/** The start of the day in the question's zone that contains a moment: cheap for moments of the same day. */
export function dayOf({ fromMs, zone }: Pick<ChargesQuestion, 'fromMs' | 'zone'>): (atMs: number) => number {
  if (zone === null) return () => fromMs;
  let day = { startMs: 0, endMs: 0 };
  return (atMs) => {
    if (atMs < day.startMs || atMs >= day.endMs) day = dayAt(zone, atMs);
    return day.startMs;
  };
}

/** What the calls of a day, workspace, model and key charged, under one name of the key. */
export interface ChargeRow {
  /** As `dayOf`. */
  readonly dayMs: number;
  /** Null, as the following: the call has no record. */
  readonly workspace: string | null;
  readonly keyId: string | null;
  readonly keyName: string | null;
  /** Null: the calls named none. */
  readonly model: string | null;
  /** When the last of them ended, to the precision of the sums. */
  readonly lastMs: number;
  readonly calls: number;
  readonly tokens: ChargedTokens;
  /** Nano-USD. */
  readonly amount: bigint;
}

export interface ChargesAnswer {
  /** Of the same key with several names, the later one comes later. */
  readonly rows: readonly ChargeRow[];
  /** Nano-USD that calls of the journal charged before `fromMs`, and from `toMs` on. */
  readonly before: bigint;
  readonly after: bigint;
  /** Nano-USD that all calls charged to the account, with those from before the journal, by the ledger. */
  readonly charged: bigint;
  /** The last block of the journal in the tables. */
  readonly throughSeq: number;
  /** The last ledger entry from before the journal; 0: none. */
  readonly lastEntry: number;
}

/** Calls that ended further from their arrival are in the index `call_record_long`. */
const LONG_MS = 3_600_000;
/** Planned spans end with whole quarters: nothing is rolled up beyond a range and subtracted again. */
const NEVER_CUT = Number.POSITIVE_INFINITY;

/** Within the caller's transaction. */
export function readCharges(database: Database, question: ChargesQuestion): ChargesAnswer {
  const { account, fromMs, toMs, zone } = question;
  const mark = readUsageMark(database);
  const kept = readUsageAccount(database, account);
  const sums = new Charges(question);
  if (kept !== null) {
    const { timeZone } = kept;
    const ranges = [
      { fromMs: 0, toMs: fromMs, buckets: [0], timeZone },
      // Days of another zone are added up from quarters.
      { fromMs, toMs, buckets: [fromMs], timeZone: zone ?? timeZone },
      { fromMs: toMs, toMs: Math.max(toMs, readLastMs(database, kept)), buckets: [toMs], timeZone },
    ];
    for (const plan of ranges.map((range) => planSpans(range, true, kept, NEVER_CUT))) {
      for (const part of partsOf(plan)) sums.addBlocks(database, kept.id, part);
      for (const span of plan.records) sums.addRows(readRolled(database, question, span, mark.charges));
    }
  }
  // After an upgrade most records are left: reading them in their own order takes a tenth of the time.
  const order = mark.charges < mark.block ? 'NOT INDEXED' : 'INDEXED BY call_record_block';
  const rest = `call_record ${order} WHERE block > ? AND account = ? AND posted > 0`;
  sums.addRows(readRecords(database, question, rest, [mark.charges, account]));
  return { ...sums.answer(database), ...readState(database, account) };
}

function readState(database: Database, account: string): Pick<ChargesAnswer, 'charged' | 'throughSeq' | 'lastEntry'> {
  const state = database
    .query<{ charged: string; throughSeq: number; lastEntry: number }, [string]>(
      `SELECT coalesce((SELECT cast(charged AS TEXT) FROM account_balance WHERE account = ?), '0') AS charged,
        (SELECT seq FROM stream) AS throughSeq, (SELECT coalesce(max(seq), 0) FROM ledger_entry) AS lastEntry`,
    )
    .get(account);
  if (state === null) throw new Error('a query without a table returned no row');
  return { ...state, charged: BigInt(state.charged) };
}

/** The end of the last day with sums: all of them are before it. */
function readLastMs(database: Database, { id, timeZone }: { readonly id: number; readonly timeZone: string }): number {
  const last = database
    .query<{ startMs: number | null }, [number]>(
      "SELECT max(start_ms) AS startMs FROM usage_block WHERE account = ? AND kind = 'charge' AND step = 'quarter'",
    )
    .get(id);
  return last?.startMs == null ? 0 : dayAt(timeZone, last.startMs).endMs;
}

interface RecordRow extends ChargedTokens {
  readonly workspace: string;
  readonly model: string | null;
  readonly keyId: string;
  readonly keyName: string;
  readonly lastMs: number;
  readonly calls: number;
  readonly units: number;
  readonly left: number;
}

/** Charges of records by quarter of an hour of their end, which the range divides, workspace, model, key and its name. */
function readRecords(
  database: Database,
  { fromMs, toMs }: Pick<ChargesQuestion, 'fromMs' | 'toMs'>,
  from: string,
  parameters: readonly Parameter[],
): RecordRow[] {
  const read = database.prepare<RecordRow, Parameter[]>(
    `SELECT workspace, model, key_id AS keyId, key_name AS keyName, max(ended_ms) AS lastMs, count(*) AS calls,
      ${CHARGED_TOKENS.map((kind) => `sum(${kind}) AS ${kind}`).join(', ')},
      sum(posted / ${MONEY_UNIT}) AS units, sum(posted % ${MONEY_UNIT}) AS "left"
      FROM ${from} GROUP BY ended_ms / ${QUARTER_MS}, ended_ms >= ?, ended_ms >= ?, workspace, model, key_id, key_name
      ORDER BY max(ended_ms), max(request_id)`,
  );
  try {
    return read.all(...parameters, fromMs, toMs);
  } finally {
    read.finalize();
  }
}

/** Of calls that ended within a part of a quarter of an hour, those whose charges are rolled up. */
function readRolled(
  database: Database,
  question: ChargesQuestion,
  { startMs, endMs }: Span,
  through: number,
): RecordRow[] {
  const first = requestIdFloor(startMs - LONG_MS - ID_SLACK_MS);
  const end = requestIdFloor(endMs + LONG_MS + ID_SLACK_MS);
  // The plus sign keeps SQLite from the index of blocks, which has nearly all records.
  const own = 'account = ? AND ended_ms >= ? AND ended_ms < ? AND posted > 0 AND +block <= ?';
  const long = `abs(ended_ms - at_ms) > ${LONG_MS}`;
  const values = [question.account, startMs, endMs, through];
  return [
    ...readRecords(
      database,
      question,
      `call_record WHERE request_id >= ? AND request_id < ? AND ${own} AND abs(ended_ms - at_ms) <= ${LONG_MS}`,
      [first, end, ...values],
    ),
    ...readRecords(database, question, `call_record INDEXED BY call_record_long WHERE ${own} AND ${long}`, values),
  ];
}

/** The names of a series. */
type Named = Pick<ChargeRow, 'workspace' | 'model' | 'keyId' | 'keyName'>;

class Charges {
  readonly #question: ChargesQuestion;
  readonly #dayOf: (atMs: number) => number;
  /** Series → start of the day → its sum. */
  readonly #series = new Map<number, Map<number, { readonly tally: Tally; lastMs: number }>>();
  readonly #rows: ChargeRow[] = [];
  #before = 0n;
  #after = 0n;

  constructor(question: ChargesQuestion) {
    this.#question = question;
    this.#dayOf = dayOf(question);
  }

  addBlocks(database: Database, account: number, part: RolledPart): void {
    for (const block of readBlocks(database, { account, kind: 'charge' }, part, 'sums')) {
      if (!this.#isInside(block.startMs)) {
        const whole = newTally();
        addWholeColumns(whole, block.sums);
        this.#addOutside(block.startMs, chargedOf(whole));
        continue;
      }
      const dayMs = this.#dayOf(block.startMs);
      for (let nth = 0; nth < block.series.length; nth++) this.#add(block.series[nth] ?? 0, dayMs, block, nth);
    }
  }

  addRows(rows: readonly RecordRow[]): void {
    for (const { units, left, workspace, model, keyId, keyName, lastMs, calls, ...tokens } of rows) {
      const amount = moneyOf(units, left);
      if (!this.#isInside(lastMs)) this.#addOutside(lastMs, amount);
      else {
        const dayMs = this.#dayOf(lastMs);
        this.#rows.push({ dayMs, workspace, model, keyId, keyName, lastMs, calls, tokens, amount });
      }
    }
  }

  /** Reads the names of the series. */
  answer(database: Database): Pick<ChargesAnswer, 'rows' | 'before' | 'after'> {
    const { account } = this.#question;
    const rolled: ChargeRow[] = [];
    const read = database.prepare<Named & { readonly id: number }, [string]>(
      `SELECT id, workspace, model, key_id AS keyId, key_name AS keyName FROM usage_series
        WHERE account = ? AND kind = 'charge' ORDER BY id`,
    );
    for (const { id, ...named } of read.iterate(account)) {
      for (const [dayMs, { tally, lastMs }] of this.#series.get(id) ?? []) {
        const [calls, tokens, amount] = [requestsOf(tally), tokensOf(tally), chargedOf(tally)];
        rolled.push({ ...named, dayMs, lastMs, calls, tokens, amount });
      }
    }
    read.finalize();
    return { rows: [...rolled, ...this.#rows], before: this.#before, after: this.#after };
  }

  #isInside(atMs: number): boolean {
    return atMs >= this.#question.fromMs && atMs < this.#question.toMs;
  }

  #addOutside(atMs: number, amount: bigint): void {
    if (atMs < this.#question.fromMs) this.#before += amount;
    else this.#after += amount;
  }

  #add(
    series: number,
    dayMs: number,
    block: { readonly startMs: number; readonly sums: readonly ArrayLike<number>[] },
    nth: number,
  ): void {
    let days = this.#series.get(series);
    if (days === undefined) {
      days = new Map();
      this.#series.set(series, days);
    }
    const sum = days.get(dayMs) ?? { tally: newTally(), lastMs: block.startMs };
    addColumns(sum.tally, block.sums, nth);
    sum.lastMs = Math.max(sum.lastMs, block.startMs);
    days.set(dayMs, sum);
  }
}

function chargedOf(tally: Tally): bigint {
  return moneyOf(tally[COST_AT] ?? 0, tally[COST_AT + 1] ?? 0);
}

function tokensOf(tally: Tally): ChargedTokens {
  return Object.fromEntries(
    CHARGED_TOKENS.map((kind) => [kind, tally[COUNTERS.indexOf(kind)] ?? 0]),
  ) as unknown as ChargedTokens;
}

/**
 * Reconciles usage, records and ledger over a range: the ledger's part comes from the blocks of the journal and, for what
 * came before it, from ledger entries. Verifies that these are unchanged.
 */
import type { Database } from 'bun:sqlite';
import { hashEpochStart, parseBlock } from '../../journal/block.ts';
import { decodeFrames } from '../../journal/decode-frames.ts';
import type { EndFrame } from '../../ports/journal.ts';
import type { ProofQuestion, UsageProof } from '../../ports/usage.ts';
import { readMark } from '../ingest/mark.ts';
import { findEntryRanges } from '../ledger/entry-ranges.ts';
import { proveChainBetween } from '../prove/prove-chain.ts';
import { type Condition, recordCondition } from './conditions.ts';
import { readUsage } from './read-usage.ts';
import { type Deadline, idsOf, startDeadline } from './scan-records.ts';

const EVERY_CALL = {
  model: null,
  provider: null,
  keys: null,
  workspace: null,
  end_user: null,
  session: null,
  protocol: null,
} as const;

/** Records summed between two checks of the clock. */
const PAGE_ROWS = 5_000;
const ENTRY_PAGE = 50_000;
/** Fraction of the time limit for verifying the chain: it can be checked in part, sums cannot. */
const CHAIN_PART = 0.4;

/** Within the caller's transaction. @throws UsageRefusal */
export function proveUsage(database: Database, question: ProofQuestion): UsageProof {
  const { tenant, fromMs, toMs, timeZone, timeMsMax } = question;
  const deadline = startDeadline(timeMsMax * (1 - CHAIN_PART));
  const usage = readUsage(
    database,
    {
      tenant,
      fromMs,
      toMs,
      timeZone,
      timeMsMax,
      condition: EVERY_CALL,
      buckets: [fromMs],
      by: [],
      owners: null,
      latencies: 'none',
      rankedBy: 'cost',
      drawn: 0,
    },
    deadline,
  );
  const sums = sumUp(database, question, recordCondition(tenant, EVERY_CALL), deadline);
  const blocks =
    sums.firstBlock === null || sums.lastBlock === null
      ? { ledger: 0n, ends: 0, holds: true, blocks: 0 }
      : sumBlocks(database, { first: sums.firstBlock, last: sums.lastBlock }, question, deadline);
  const chain = checkChain(database, sums, startDeadline(timeMsMax * CHAIN_PART));
  return {
    usage: usage.total.cost,
    records: sums.records,
    ledger: sums.ledger + blocks.ledger,
    beforeLedger: sums.beforeLedger,
    calls: sums.calls,
    entries: sums.entries + blocks.ends,
    chain: {
      holds: chain.holds && blocks.holds,
      checked: chain.checked + blocks.blocks,
      of: chain.of + blocks.blocks,
    },
  };
}

interface ProvenSums {
  records: bigint;
  beforeLedger: bigint;
  ledger: bigint;
  calls: number;
  entries: number;
  /** Of the entries; 0: no entries. */
  firstSeq: number;
  lastSeq: number;
  /** The blocks in which the calls ended; null: none did. */
  firstBlock: number | null;
  lastBlock: number | null;
}

interface PageRow {
  readonly last: string | null;
  readonly calls: number;
  readonly records: string;
  readonly beforeLedger: string;
  readonly firstBlock: number | null;
  readonly lastBlock: number | null;
}

interface EntryPageRow {
  readonly ledger: string;
  readonly entries: number;
  readonly firstSeq: number | null;
  readonly lastSeq: number | null;
}

/** An absorb accompanies a post or a void; holds move money within the account and are not part of its cost. */
const END_KINDS = "('post', 'void', 'absorb')";

function sumUp(
  database: Database,
  { fromMs, toMs }: ProofQuestion,
  condition: Condition,
  deadline: Deadline,
): ProvenSums {
  const read = database.prepare<PageRow, (string | number | null)[]>(
    `WITH page AS MATERIALIZED (
        SELECT request_id, coalesce(cost_nano_usd, 0) AS cost, CASE WHEN held IS NOT NULL THEN block END AS block
        FROM call_record
        WHERE request_id >= ?1 AND request_id > ?2 AND request_id < ?3 AND at_ms >= ?4 AND at_ms < ?5 AND ${numbered(condition.sql, 6)}
        ORDER BY request_id LIMIT ${PAGE_ROWS}),
      before AS (SELECT cast(value AS TEXT) AS id FROM meta WHERE name = 'records_before_ledger')
      SELECT (SELECT max(request_id) FROM page) AS last, (SELECT count(*) FROM page) AS calls,
        (SELECT cast(coalesce(sum(cost), 0) AS TEXT) FROM page) AS records,
        (SELECT cast(coalesce(sum(cost), 0) AS TEXT) FROM page WHERE request_id <= (SELECT id FROM before)) AS beforeLedger,
        (SELECT min(block) FROM page) AS firstBlock, (SELECT max(block) FROM page) AS lastBlock`,
  );
  const [from, to] = idsOf({ startMs: fromMs, endMs: toMs });
  const sums: ProvenSums = {
    records: 0n,
    beforeLedger: 0n,
    ledger: 0n,
    calls: 0,
    entries: 0,
    firstSeq: 0,
    lastSeq: 0,
    firstBlock: null,
    lastBlock: null,
  };
  try {
    for (let last: string | null = ''; last !== null; ) {
      const page: PageRow | null = read.get(from, last, to, fromMs, toMs, ...condition.parameters);
      if (page === null || page.calls === 0) break;
      sums.records += BigInt(page.records);
      sums.beforeLedger += BigInt(page.beforeLedger);
      sums.calls += page.calls;
      sums.firstBlock = lowest(sums.firstBlock, page.firstBlock);
      sums.lastBlock = highest(sums.lastBlock, page.lastBlock);
      last = page.calls < PAGE_ROWS ? null : page.last;
      deadline.check();
    }
  } finally {
    read.finalize();
  }
  addEntries(database, { fromMs, toMs }, condition, deadline, sums);
  return sums;
}

/**
 * Matches entries by the ids of their calls, since their times do not tell the arrival: calls end late, and clocks are
 * set.
 */
function addEntries(
  database: Database,
  { fromMs, toMs }: Pick<ProofQuestion, 'fromMs' | 'toMs'>,
  condition: Condition,
  deadline: Deadline,
  sums: ProvenSums,
): void {
  // The account comes first among the condition's values: entries of others are skipped before their calls are looked
  // up.
  const read = database.prepare<EntryPageRow, (string | number | null)[]>(
    `SELECT cast(coalesce(sum(e.amount), 0) AS TEXT) AS ledger, count(*) AS entries, min(seq) AS firstSeq, max(seq) AS lastSeq
      FROM ledger_entry e CROSS JOIN call_record ON request_id = e.ref AND call_record.account = e.account
      WHERE seq >= ?1 AND seq <= ?2 AND e.kind IN ${END_KINDS} AND e.ref >= ?3 AND e.ref < ?4 AND e.account = ?7
        AND call_record.at_ms >= ?5 AND call_record.at_ms < ?6 AND ${numbered(condition.sql, 7)}`,
  );
  const [from, to] = idsOf({ startMs: fromMs, endMs: toMs });
  try {
    for (const { first, last } of findEntryRanges(database, from, to, ENTRY_PAGE)) {
      const page = read.get(first, last, from, to, fromMs, toMs, ...condition.parameters);
      if (page !== null && page.firstSeq !== null && page.lastSeq !== null) {
        sums.ledger += BigInt(page.ledger);
        sums.entries += page.entries;
        if (sums.firstSeq === 0) sums.firstSeq = page.firstSeq;
        sums.lastSeq = page.lastSeq;
      }
      deadline.check();
    }
  } finally {
    read.finalize();
  }
}

function lowest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

function highest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

/** Numbers the placeholders of a condition from `first`, for a statement with numbered parameters. */
function numbered(sql: string, first: number): string {
  let next = first;
  return sql.replaceAll('?', () => `?${next++}`);
}

/** Goes backwards from the newest entry, as far as the time allows. */
function checkChain(database: Database, { firstSeq, lastSeq }: ProvenSums, deadline: Deadline): UsageProof['chain'] {
  const of = firstSeq === 0 ? 0 : lastSeq - firstSeq + 1;
  let checked = 0;
  while (checked < of && !deadline.isOver()) {
    const upTo = lastSeq - checked;
    const from = Math.max(firstSeq, upTo - PAGE_ROWS + 1);
    if (proveChainBetween(database, from, upTo) !== null) return { holds: false, checked, of };
    checked += upTo - from + 1;
  }
  return { holds: true, checked, of };
}

interface BlockSums {
  /** Nano-USD posted and written off by the tenant's calls that arrived in the range. */
  readonly ledger: bigint;
  /** How many of them ended in the blocks. */
  readonly ends: number;
  readonly holds: boolean;
  readonly blocks: number;
}

interface BlockRow {
  readonly seq: number;
  readonly epoch: number;
  readonly bytes: Uint8Array;
}

/**
 * Sums up what calls cost by the frames of the blocks from `first` to `last`, and checks that these are unchanged and
 * follow each other. @throws UsageRefusal once the time is over
 */
function sumBlocks(
  database: Database,
  { first, last }: { readonly first: number; readonly last: number },
  question: ProofQuestion,
  deadline: Deadline,
): BlockSums {
  const read = database.prepare<BlockRow, [number, number]>(
    'SELECT seq, epoch, bytes FROM block WHERE seq >= ? AND seq <= ? ORDER BY seq',
  );
  const { stream } = readMark(database);
  const sums = { ledger: 0n, ends: 0, holds: true, blocks: 0 };
  let before: { readonly seq: number; readonly epoch: number; readonly hash: Uint8Array } | null = null;
  try {
    for (const { seq, epoch, bytes } of read.iterate(first, last)) {
      deadline.check();
      const block = parseBlock(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), 0, epoch);
      if (block?.seq !== seq) return { ...sums, holds: false };
      if (before !== null) {
        const prev = before.epoch === epoch ? before.hash : hashEpochStart(stream, epoch, before.hash);
        if (before.seq !== seq - 1 || !block.prev.equals(prev)) return { ...sums, holds: false };
      }
      before = block;
      sums.blocks += 1;
      for (const frame of decodeFrames(block.body, block.frames)) {
        if (frame.kind !== 'end' || !isAsked(frame, question)) continue;
        sums.ledger += frame.posted + frame.writtenOff;
        sums.ends += 1;
      }
    }
  } finally {
    read.finalize();
  }
  return { ...sums, holds: sums.blocks === last - first + 1 };
}

function isAsked({ record }: EndFrame, { tenant, fromMs, toMs }: ProofQuestion): boolean {
  const { account, workspace, at_ms } = record;
  return (
    account === tenant.account &&
    at_ms >= fromMs &&
    at_ms < toMs &&
    (tenant.workspaces === null || tenant.workspaces.includes(workspace))
  );
}

/** Sums up what calls cost by the frames of their blocks, and checks that these blocks are unchanged and follow each other. */
import type { Database } from 'bun:sqlite';
import { hashEpochStart, parseBlock } from '../../journal/block.ts';
import { decodeFrames } from '../../journal/decode-frames.ts';
import type { EndFrame } from '../../ports/journal.ts';
import type { ProofQuestion } from '../../ports/usage.ts';
import { readMark } from '../ingest/mark.ts';
import type { Deadline } from './scan-records.ts';

export interface BlockSums {
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

/** Reads the blocks from `first` to `last`. @throws UsageRefusal once the time is over */
export function sumBlocks(
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

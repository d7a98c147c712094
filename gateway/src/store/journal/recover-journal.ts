/**
 * Checks the journal's segments at a start: finds the last block, cuts a torn tail, and refuses damage. A block counts as
 * damaged, not torn, if something written later says that it was durable: a later block's `synced`, or the `after` of a
 * later segment.
 */
import { randomBytes } from 'node:crypto';
import type { JournalEnd } from '../ports/journal.ts';
import { StoreError, Unavailable } from '../ports/store-errors.ts';
import { type Block, findBlock, HASH_BYTES } from './block.ts';
import { ChainReader } from './block-cursor.ts';
import { DISK, type FilePort } from './file-port.ts';
import { SEGMENT_HEAD_BYTES, type Segment, STREAM_BYTES } from './segments.ts';

export interface RecoveredJournal {
  readonly stream: Uint8Array;
  /** The last block that counts; all up to it are durable. */
  readonly end: JournalEnd;
  /** The highest epoch that was seen; a start takes the next. */
  readonly epoch: number;
  /** Sentences for the operator. */
  readonly problems: readonly string[];
}

/**
 * Checks the segments from the database's mark on, and makes durable what it found. `end`: the mark; null: the database
 * has none. `stream`: the database's stream, if it has one; without one and without segments the stream is new. Cuts
 * nothing itself: the head of the next segment makes the cut final, so that a start may be repeated.
 *
 * @throws Unavailable `incompatible` for damage, missing segments, or segments of another stream; it names the place
 */
export function recoverJournal(
  folder: string,
  end: JournalEnd | null,
  stream: Uint8Array | null = null,
  files: FilePort = DISK,
): RecoveredJournal {
  const { spans, ...found } = inspectJournal(folder, end, stream, files);
  for (const span of spans.values()) makeDurable(files, span);
  return found;
}

/** Part of a segment. */
interface Span {
  readonly path: string;
  readonly fromByte: number;
  readonly toByte: number;
}

/**
 * As `recoverJournal`, but changes nothing: for a look at the segments beside a server. `spans`: where the blocks after
 * the mark are, by segment.
 */
function inspectJournal(
  folder: string,
  end: JournalEnd | null,
  stream: Uint8Array | null = null,
  files: FilePort = DISK,
): RecoveredJournal & { readonly spans: ReadonlyMap<string, Span> } {
  const mark = end ?? { epoch: 0, seq: 0, head: new Uint8Array(HASH_BYTES) };
  const chain = new ChainReader(files, folder, mark);
  try {
    chain.refresh();
    const heads = chain.segments.flatMap(({ head, path }) => (head === null ? [] : [{ ...head, path }]));
    const ours = stream ?? heads[0]?.stream ?? randomBytes(STREAM_BYTES);
    const foreign = heads.find((head) => Buffer.compare(head.stream, ours) !== 0);
    if (foreign !== undefined) {
      throw damaged(
        `${foreign.path} belongs to another database`,
        'Move the segments that are not of this data folder.',
      );
    }
    const spans = new Map<string, Span>();
    for (let block = chain.next(); block !== null; block = chain.next()) {
      const { path, at: toByte } = chain.place;
      const startByte = toByte - block.bytes.length;
      // The head of a segment became durable with its first block, or not at all.
      const fromByte = spans.get(path)?.fromByte ?? (startByte === SEGMENT_HEAD_BYTES ? 0 : startByte);
      spans.set(path, { path, fromByte, toByte });
    }
    return {
      stream: ours,
      problems: [...describeLag(mark, chain), ...cutTail(files, chain)],
      end: { epoch: chain.epoch, seq: chain.seq, head: Uint8Array.from(chain.head) },
      epoch: heads.reduce((highest, head) => Math.max(highest, head.epoch), mark.epoch),
      spans,
    };
  } finally {
    chain.close();
  }
}

/** Returns a sentence for the operator if the database has blocks that the segments do not have. */
function describeLag(mark: JournalEnd, { segments, seq, passedSeq }: ChainReader): readonly string[] {
  if (mark.seq === 0 || seq > mark.seq) return [];
  if (segments.every(({ head }) => head === null)) {
    return [
      `The journal has no segments. It continues after block ${mark.seq}, the last one in the database; blocks after it, if there were any, are lost.`,
    ];
  }
  if (passedSeq === 0 || passedSeq >= mark.seq) return [];
  return [
    `The journal's segments end at block ${passedSeq}, before the database's last block ${mark.seq}. The journal continues after block ${mark.seq}.`,
  ];
}

/** Returns a sentence for the operator if something is cut after the last block. Throws where it was durable. */
function cutTail(files: FilePort, chain: ChainReader): readonly string[] {
  const { segments } = chain;
  const next = chain.seq + 1;
  if (chain.isForked) throw damaged(`its block ${chain.seq} is not the one in the database`);
  const stray = chain.peek();
  if (stray !== null) throw damaged(`block ${next} (${chain.where()}) does not follow block ${chain.seq}`);
  const later = segments.find(({ head }) => head !== null && head.after >= next);
  if (later?.head) {
    throw damaged(
      `block ${next} is missing or damaged (${chain.where()}), although ${later.path} begins after block ${later.head.after}`,
    );
  }
  const { number, at } = chain.place;
  let isTorn = false;
  for (const segment of segments) {
    if (segment.number < number) continue;
    const rest = readFrom(files, segment, segment.number === number ? at : 0);
    if (isBlank(rest)) continue;
    isTorn = true;
    for (let place = findBlock(rest, 0, 0); place !== null; place = findBlock(rest, place.at + 1, 0)) {
      const { seq, synced } = place.block;
      if (synced < next) continue;
      throw damaged(
        `block ${next} is missing or damaged (${chain.where()}), although block ${seq} in ${segment.path} was written after block ${synced} was durable`,
      );
    }
  }
  if (!isTorn) return [];
  return [
    `The journal ends with a torn block (${chain.where()}), as after a power loss. It was cut after block ${chain.seq}. If the power went off, nothing that was confirmed is lost.`,
  ];
}

function readFrom(files: FilePort, segment: Segment, at: number): Buffer {
  const file = files.open(segment.path, 'read');
  try {
    const parts: Buffer[] = [];
    for (let from = at; ; ) {
      const part = Buffer.alloc(1024 * 1024);
      const count = files.read(file, part, from);
      parts.push(part.subarray(0, count));
      from += count;
      if (count < part.length) return Buffer.concat(parts);
    }
  } finally {
    files.close(file);
  }
}

const ZEROS = Buffer.alloc(64 * 1024);

function isBlank(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += ZEROS.length) {
    const part = bytes.subarray(at, at + ZEROS.length);
    if (part.compare(ZEROS, 0, part.length) !== 0) return false;
  }
  return true;
}

/**
 * Writes what was read once more and syncs it: after a failed sync the system takes bytes as written that the disk does
 * not have.
 */
function makeDurable(files: FilePort, { path, fromByte, toByte }: Span): void {
  const file = files.open(path, 'change');
  try {
    const bytes = Buffer.alloc(toByte - fromByte);
    files.read(file, bytes, fromByte);
    for (let done = 0; done < bytes.length; ) done += files.write(file, bytes.subarray(done), fromByte + done);
    files.datasyncNow(file);
  } finally {
    files.close(file);
  }
}

function damaged(what: string, remedy = 'Restore the data folder from a backup, or its disk.'): Unavailable {
  return new Unavailable('incompatible', `The journal cannot be read: ${what}. ${remedy}`);
}

/**
 * Yields the blocks after `mark`, as far as the segments in the folder have them. `readMarkNow`: the last block that is in
 * the database by now; the segments may have lost the blocks up to it. A torn block at the end was never confirmed and is
 * left out, as at a start.
 *
 * @throws Unavailable `incompatible` where a block that was durable is missing or damaged, or the segments are of another
 * stream
 */
export function* readTail(
  folder: string,
  stream: Uint8Array,
  mark: JournalEnd,
  readMarkNow: () => number,
): Iterable<Block> {
  const chain = new ChainReader(DISK, folder, mark);
  try {
    chain.refresh();
    for (let block = chain.next(); block !== null; block = chain.next()) yield block;
    const damage = findDamage(folder, stream, { epoch: chain.epoch, seq: chain.seq, head: chain.head });
    if (damage === null) return;
    // While a server writes, the next block may have been incomplete when it was read, and the one after it there since.
    // And the server may have moved the next block into the database, and used its space again.
    chain.refresh();
    if (chain.next() === null && readMarkNow() <= chain.seq) throw damage;
  } finally {
    chain.close();
  }
}

function findDamage(folder: string, stream: Uint8Array, end: JournalEnd): StoreError | null {
  try {
    inspectJournal(folder, end, stream);
    return null;
  } catch (fault) {
    if (fault instanceof StoreError) return fault;
    throw fault;
  }
}

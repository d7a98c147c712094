/** Tests what a start makes of damaged, torn, missing and foreign segments: it cuts a torn tail and refuses damage. */
import { expect, test } from 'bun:test';
import { EXHAUSTIVE } from '../../../test/fault/calls.ts';
import type { JournalEnd } from '../ports/journal.ts';
import { Unavailable } from '../ports/store-errors.ts';
import { type Block, sealBlock } from './block.ts';
import { readBlocks } from './block-cursor.ts';
import { recoverJournal } from './recover-journal.ts';
import { renderHead, SEGMENT_HEAD_BYTES } from './segments.ts';
import { FOLDER, idsOf, JournalTrial, NO_MARK, turn } from './testing/journal-trial.ts';
import { createMemoryFiles, type MemoryFiles } from './testing/memory-files.ts';
import { drawBy } from './testing/run-schedule.ts';

const FIRST = '00000001.seg';

interface Written {
  readonly files: MemoryFiles;
  readonly blocks: readonly Block[];
  readonly stream: Uint8Array;
  /** Copies of the files, to be changed. */
  copy(): MemoryFiles;
}

/** A closed journal with a block for each frame of so many bytes. */
async function write(...bytes: number[]): Promise<Written> {
  const trial = new JournalTrial();
  await trial.open();
  for (const length of bytes) {
    trial.append(length);
    const seq = trial.journal?.durableSeq ?? 0;
    while (trial.journal?.durableSeq === seq) await turn();
  }
  await trial.journal?.close();
  const { files } = trial;
  const { end, stream } = recoverJournal(FOLDER, null, null, files);
  return {
    files,
    blocks: [...readBlocks(FOLDER, NO_MARK, end.seq, files)],
    stream,
    copy: () => files.afterKill(),
  };
}

function endAt(block: Block | undefined): JournalEnd {
  if (block === undefined) throw new Error('there is no such block');
  return { epoch: block.epoch, seq: block.seq, head: block.hash };
}

interface Start {
  /** Null: the start was refused. */
  readonly ids: readonly number[] | null;
  readonly words: string;
}

function start(files: MemoryFiles, mark: JournalEnd | null = null, stream: Uint8Array | null = null): Start {
  try {
    const { end, problems } = recoverJournal(FOLDER, mark, stream, files);
    return { ids: idsOf(readBlocks(FOLDER, mark ?? NO_MARK, end.seq, files)), words: problems.join(' ') };
  } catch (fault) {
    if (fault instanceof Unavailable && fault.kind === 'incompatible') return { ids: null, words: fault.message };
    throw fault;
  }
}

const idsUpTo = (count: number) => Array.from({ length: count }, (_, id) => id);

test('a block torn at any byte, whatever follows, is cut and told', async () => {
  const { blocks, copy } = await write(10, 300, 900);
  const random = drawBy(1);
  let at = SEGMENT_HEAD_BYTES;
  for (const [index, block] of blocks.entries()) {
    for (let cut = at; cut < at + block.bytes.length; cut++) {
      for (const rest of ['zeros', 'noise']) {
        const files = copy();
        const bytes = files.bytesOf(FIRST);
        for (let byte = cut; byte < bytes.length; byte++) bytes[byte] = rest === 'zeros' ? 0 : random() * 256;
        const { ids, words } = start(files);
        expect(ids).toEqual(idsUpTo(index));
        const isClean = rest === 'zeros' && cut === at;
        expect(words).toContain(isClean ? '' : 'torn block');
        expect(words === '').toBe(isClean);
      }
    }
    at += block.bytes.length;
  }
});

test('any flipped bit is refused; in the last block, which nothing proves, it is cut and told', async () => {
  const { blocks, copy } = await write(10, 200, 30);
  const last = SEGMENT_HEAD_BYTES + (blocks[0]?.bytes.length ?? 0) + (blocks[1]?.bytes.length ?? 0);
  const end = last + (blocks[2]?.bytes.length ?? 0);
  const files = copy();
  const bytes = files.bytesOf(FIRST);
  for (let at = 0; at < end; at++) {
    // The rest of the head is empty.
    if (at >= 80 && at < SEGMENT_HEAD_BYTES) continue;
    for (let bit = 0; bit < 8; bit++) {
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
      const { ids, words } = start(files);
      expect(ids).toEqual(at < last ? null : [0, 1]);
      expect(words).toContain(at < last ? FIRST : 'torn block');
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
    }
  }
  expect(start(files)).toEqual({ ids: [0, 1, 2], words: '' });
});

test('any changed byte in a journal of many segments is refused, or cuts what it cannot prove', async () => {
  const { files: whole, blocks, copy } = await write(...Array.from({ length: 14 }, (_, index) => 100 + index * 250));
  const random = drawBy(2);
  const names = whole.list(FOLDER).toSorted();
  expect(names.length).toBeGreaterThan(3);
  const files = copy();
  const outcomes = { refused: 0, cut: 0, whole: 0 };
  for (const name of names) {
    const bytes = files.bytesOf(name);
    for (let at = 0; at < bytes.length; at += EXHAUSTIVE ? 1 : 311) {
      const before = bytes[at] ?? 0;
      bytes[at] = before ^ (1 + random() * 255);
      const { ids, words } = start(files);
      bytes[at] = before;
      if (ids === null) {
        outcomes.refused += 1;
        expect(words).toContain('.seg');
      } else {
        expect(ids).toEqual(idsUpTo(ids.length));
        expect(ids.length).toBeGreaterThanOrEqual(blocks.length - 1);
        if (ids.length < blocks.length) expect(words).toContain('torn block');
        outcomes[ids.length < blocks.length ? 'cut' : 'whole'] += 1;
      }
    }
  }
  for (const count of Object.values(outcomes)) expect(count).toBeGreaterThan(0);
});

test('old blocks in recycled space never count', async () => {
  const { files, blocks, copy } = await write(10, 10, 10, 10);
  const lengths = blocks.map(({ bytes }) => bytes.length);
  const end = SEGMENT_HEAD_BYTES + lengths.reduce((sum, length) => sum + length, 0);
  for (const block of blocks.slice(0, 3)) {
    const recycled = copy();
    recycled.bytesOf(FIRST).set(block.bytes, end);
    expect(start(recycled)).toEqual({ ids: [0, 1, 2, 3], words: expect.stringContaining('torn block') });
  }
  expect(start(files).words).toBe('');
});

test('a block with the next number that follows another one is refused', async () => {
  const { blocks, copy } = await write(10, 10);
  const end = SEGMENT_HEAD_BYTES + blocks.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const forged = Buffer.from(blocks[1]?.bytes ?? []);
  sealBlock(forged, 1, 3, 2, new Uint8Array(32).fill(7), new Uint8Array(32));
  const files = copy();
  files.bytesOf(FIRST).set(forged, end);
  expect(start(files)).toEqual({ ids: null, words: expect.stringContaining('block 3') });
});

test('damage before the database’s mark stops nothing', async () => {
  const { blocks, copy } = await write(10, 300, 20, 20);
  let begin = SEGMENT_HEAD_BYTES;
  for (const { bytes } of blocks.slice(0, 3)) {
    for (const at of [begin, begin + 5, begin + 40, begin + bytes.length - 1]) {
      const files = copy();
      const damaged = files.bytesOf(FIRST);
      damaged[at] = 0xff ^ (damaged[at] ?? 0);
      expect(start(files, endAt(blocks[2]))).toEqual({ ids: [3], words: '' });
      expect(start(files).ids).toBeNull();
    }
    begin += bytes.length;
  }
});

test('a database whose last block is not the journal’s is refused', async () => {
  const { blocks, copy } = await write(10, 10, 10);
  for (const seq of [2, 3]) {
    const mark = { epoch: 1, seq, head: new Uint8Array(32).fill(9) };
    expect(start(copy(), mark)).toEqual({ ids: null, words: expect.stringMatching(/block [23]/) });
  }
  expect(start(copy(), endAt(blocks[2]))).toEqual({ ids: [], words: '' });
});

test('a missing segment is refused if blocks are missing, and its name is told', async () => {
  const { files, blocks } = await write(...Array.from({ length: 14 }, () => 2_500));
  const names = files.list(FOLDER).toSorted().slice(0, -1);
  expect(names.length).toBeGreaterThan(3);
  for (const [index, name] of names.entries()) {
    const left = files.afterKill();
    left.drop(name);
    const { ids, words } = start(left);
    if (index < names.length - 1) {
      expect(ids).toBeNull();
      expect(words).toContain(names[index + 1] ?? '');
      // The database has all the blocks of the missing segment, but for the last segment's.
      expect(start(left, endAt(blocks[blocks.length - 2]))).toEqual({ ids: [13], words: '' });
    }
  }
});

test('the head of the next segment proves the blocks before it', async () => {
  const { files, blocks } = await write(10, 10);
  const trial = new JournalTrial();
  trial.files = files;
  await trial.open();
  await trial.journal?.close();
  expect(start(files).ids).toEqual([0, 1]);
  const damaged = files.bytesOf(FIRST);
  const at = SEGMENT_HEAD_BYTES + (blocks[0]?.bytes.length ?? 0) + 50;
  damaged[at] = 0xff ^ (damaged[at] ?? 0);
  expect(start(files)).toEqual({ ids: null, words: expect.stringContaining('begins after block 2') });
});

test('a release keeps every block that the database lacks', async () => {
  const { files, blocks } = await write(...Array.from({ length: 14 }, () => 2_500));
  const trial = new JournalTrial();
  trial.files = files;
  await trial.open();
  const counts: number[] = [];
  for (const [index, block] of blocks.entries()) {
    trial.journal?.release(block.seq);
    for (let count = 0; count < 4; count++) await turn();
    expect(start(files.afterKill(), endAt(block)).ids).toEqual(idsUpTo(blocks.length).slice(index + 1));
    counts.push(files.list(FOLDER).length);
  }
  // The segment in use, and a spare.
  expect(counts.at(-1)).toBe(2);
  expect(new Set(counts).size).toBeGreaterThan(3);
  await trial.journal?.close();
});

test('a database without segments goes on at its last block, in a new epoch, and says so', async () => {
  const { blocks, stream } = await write(10, 10, 10);
  const mark = endAt(blocks[2]);
  const found = recoverJournal(FOLDER, mark, stream, createMemoryFiles());
  expect(found).toEqual({
    stream,
    end: mark,
    epoch: 1,
    problems: [expect.stringContaining('has no segments. It continues after block 3')],
  });
});

test('a database ahead of its segments goes on at its last block, and says so', async () => {
  const { files, blocks, stream, copy } = await write(10, 10, 10);
  const torn = copy();
  torn.bytesOf(FIRST).fill(0, SEGMENT_HEAD_BYTES + (blocks[0]?.bytes.length ?? 0));
  const found = recoverJournal(FOLDER, endAt(blocks[2]), stream, torn);
  expect(found.end.seq).toBe(3);
  expect(found.problems).toEqual([expect.stringContaining("end at block 1, before the database's last block 3")]);
  expect(recoverJournal(FOLDER, endAt(blocks[2]), stream, files).problems).toEqual([]);
});

test('segments of another database or a newer version are refused, those of an earlier version are read', async () => {
  const { copy, stream } = await write(10);
  expect(start(copy(), null, new Uint8Array(16).fill(3)).words).toContain('belongs to another database');
  expect(start(copy(), null, stream).ids).toEqual([0]);
  const files = copy();
  const head = renderHead({ stream, epoch: 1, number: 1, after: 0 });
  for (const [version, words] of [
    [3, 'another version (its format is 3, expected 1 to 2)'],
    [1, ''],
  ] as const) {
    head.writeUInt32LE(version, 4);
    head.set(Bun.SHA256.hash(head.subarray(0, 48)) as Uint8Array, 48);
    files.bytesOf(FIRST).set(head);
    expect(start(files).words).toContain(words);
  }
  expect(start(files).ids).toEqual([0]);
});

test('a start after a database that comes from before the journal continues its chain', async () => {
  const legacy = { epoch: 0, seq: 0, head: new Uint8Array(32).fill(5) };
  const files = createMemoryFiles();
  const found = recoverJournal(FOLDER, legacy, null, files);
  expect([found.end, found.epoch, found.problems, found.stream.length]).toEqual([legacy, 0, [], 16]);
});

/** Tests outbox.ts: the bytes come out in order, and are the outbox's own copy. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Backlog } from './outbox.ts';

function drain(backlog: Backlog): Buffer {
  const pieces: Uint8Array[] = [];
  for (let piece = backlog.shift(); piece !== undefined; piece = backlog.shift()) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('a backlog', () => {
  test('returns exactly the appended bytes and counts the waiting ones, for any sizes and order', () => {
    const sizes = fc.array(fc.tuple(fc.integer({ min: 0, max: 40_000 }), fc.boolean()), { maxLength: 12 });
    fc.assert(
      fc.property(sizes, (turns) => {
        const backlog = new Backlog();
        const given: Buffer[] = [];
        const taken: Uint8Array[] = [];
        for (const [index, [size, takes]] of turns.entries()) {
          const bytes = Buffer.alloc(size, 97 + index);
          given.push(bytes);
          backlog.append(bytes);
          const piece = takes ? backlog.shift() : undefined;
          if (piece !== undefined) taken.push(piece);
          const waits =
            given.reduce((sum, one) => sum + one.length, 0) - taken.reduce((sum, one) => sum + one.length, 0);
          expect(backlog.byteCount).toBe(waits);
        }
        expect(Buffer.concat([...taken, drain(backlog)]).equals(Buffer.concat(given))).toBe(true);
      }),
    );
  });

  test('copies appended bytes: a later change of them has no effect', () => {
    const backlog = new Backlog();
    const read = Buffer.from('carts');
    backlog.append(read.subarray(0, 4));
    read.fill(0);
    expect(drain(backlog).toString()).toBe('cart');
  });

  test('does not write into memory that it returned', () => {
    const backlog = new Backlog();
    backlog.append(Buffer.from('one'));
    const first = backlog.shift();
    backlog.append(Buffer.from('two'));
    expect(Buffer.from(first ?? []).toString()).toBe('one');
  });

  test('is empty once it was cleared', () => {
    const backlog = new Backlog();
    backlog.append(Buffer.from('one'));
    backlog.clear();
    expect([backlog.byteCount, backlog.shift()]).toEqual([0, undefined]);
  });
});

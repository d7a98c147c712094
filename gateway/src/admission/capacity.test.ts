/** Tests the accounting of request-body bytes: as they arrive, per key and for the process. */
import { describe, expect, test } from 'bun:test';
import { BodyBytes } from './capacity.ts';

const bodies = () => new BodyBytes(() => ({ process: 1_000, key: 400 }));

describe('bytes that arrive', () => {
  test('of a key: limit − 1, limit, limit + 1; another key has its own room', () => {
    const held = bodies();
    const share = held.open('a');
    expect(share.take(399)).toBe('taken');
    expect(share.take(1)).toBe('taken');
    expect(held.open('a').take(1)).toBe('key_full');
    expect(held.open('b').take(400)).toBe('taken');
    expect(held.held).toBe(800);
  });

  test('of the process: what one key may still hold is refused where all keys together hold too much', () => {
    const held = bodies();
    for (const key of ['a', 'b']) expect(held.open(key).take(400)).toBe('taken');
    expect(held.open('c').take(201)).toBe('process_full');
    expect(held.open('c').take(200)).toBe('taken');
  });

  test('are given back once, however often that is asked; what comes after the end is not counted', () => {
    const held = bodies();
    const share = held.open('a');
    share.take(300);
    share.release();
    share.release();
    expect(share.take(300)).toBe('taken');
    expect(held.held).toBe(0);
    expect(held.open('a').take(400)).toBe('taken');
  });
});

describe('a declared length', () => {
  test('is counted at once for an eighth of the room; the others count as they arrive', () => {
    const held = bodies();
    expect(held.open('a').takeDeclared(125)).toBe(true);
    expect(held.open('b').takeDeclared(1)).toBe(false);
    expect(held.held).toBe(125);
  });

  test('makes room for the next once its body is here, and its bytes stay counted', () => {
    const held = bodies();
    const share = held.open('a');
    share.takeDeclared(125);
    share.arrived();
    expect(held.open('b').takeDeclared(125)).toBe(true);
    expect(held.held).toBe(250);
    share.release();
    expect(held.held).toBe(125);
  });

  test('that its key has no room for is not counted at all', () => {
    const held = bodies();
    held.open('a').take(300);
    expect(held.open('a').takeDeclared(101)).toBe(false);
    expect(held.held).toBe(300);
    expect(held.open('b').takeDeclared(125)).toBe(true);
  });
});

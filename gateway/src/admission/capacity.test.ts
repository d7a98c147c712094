/** Tests the accounting of request-body bytes: as they arrive, per key and for the process. */
import { describe, expect, test } from 'bun:test';
import { BodyBytes, type BodyShare } from './capacity.ts';

const bodies = () => new BodyBytes({ process: 1_000, key: 400 });

describe('bytes that arrive', () => {
  test('respect the limit of a key at limit − 1, limit and limit + 1; another key has its own', () => {
    const held = bodies();
    const share = held.open('a');
    expect(share.take(399)).toBe('taken');
    expect(share.take(1)).toBe('taken');
    expect(held.open('a').take(1)).toBe('key_full');
    expect(held.open('b').take(400)).toBe('taken');
    expect(held.held).toBe(800);
  });

  test('respect the limit of the process for all keys together', () => {
    const held = bodies();
    for (const key of ['a', 'b']) expect(held.open(key).take(400)).toBe('taken');
    expect(held.open('c').take(201)).toBe('process_full');
    expect(held.open('c').take(200)).toBe('taken');
  });

  test('are released once; later bytes are not counted', () => {
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

test('a reload changes the bounds of bodies that are counted already', () => {
  const held = bodies();
  const share = held.open('a');
  share.take(300);
  held.bound({ process: 500, key: 350 });
  expect(share.take(51)).toBe('key_full');
  expect(share.take(50)).toBe('taken');
  expect(held.open('b').take(151)).toBe('process_full');
  expect(held.open('b').takeDeclared(63)).toBe(false);
  expect(held.open('b').take(150)).toBe('taken');
});

describe('a declared length', () => {
  test('is counted in advance within an eighth of the limit', () => {
    const held = bodies();
    expect(held.open('a').takeDeclared(125)).toBe(true);
    expect(held.open('b').takeDeclared(1)).toBe(false);
    expect(held.held).toBe(125);
  });

  test('no longer counts as declared once its body has arrived', () => {
    const held = bodies();
    const share = held.open('a');
    share.takeDeclared(125);
    share.arrived();
    expect(held.open('b').takeDeclared(125)).toBe(true);
    expect(held.held).toBe(250);
    share.release();
    expect(held.held).toBe(125);
  });

  test('beyond the limit of its key is not counted', () => {
    const held = bodies();
    held.open('a').take(300);
    expect(held.open('a').takeDeclared(101)).toBe(false);
    expect(held.held).toBe(300);
    expect(held.open('b').takeDeclared(125)).toBe(true);
  });
});

describe('the memory of a body', () => {
  const released = (bytes: Buffer, release: (share: BodyShare) => void = (share) => share.release()) => {
    const share = bodies().open('a');
    share.own(bytes);
    release(share);
    return bytes.length;
  };

  test('is freed when the body is released, so that nothing can read it', () => {
    expect(released(Buffer.from(new ArrayBuffer(200_000)))).toBe(0);
    expect(released(Buffer.from(new ArrayBuffer(200_000)), () => {})).toBe(200_000);
  });

  test('is left alone if other bytes are in it, or if it is small', () => {
    const shared = Buffer.from(new ArrayBuffer(200_000));
    expect(released(shared.subarray(0, 100_000))).toBe(100_000);
    expect(shared.length).toBe(200_000);
    expect(released(Buffer.from(new ArrayBuffer(300)))).toBe(300);
  });
});

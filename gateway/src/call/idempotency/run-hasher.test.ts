/** Tests which idempotency keys are accepted, and what their hashes distinguish. */
import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { CallFailure } from '../../errors/call-failure.ts';
import { Secret } from '../../lib/secret.ts';
import { readIdempotencyName } from '../request/identify.ts';
import { createRunHasher } from './idempotency-seal.ts';

const read = (name: string) => readIdempotencyName(new Headers({ 'idempotency-key': name }));

function refusalOf(name: string): string {
  try {
    read(name);
  } catch (error) {
    if (error instanceof CallFailure && error.kind === 'invalid_request') return error.message;
    throw error;
  }
  throw new Error(`${name} was taken`);
}

describe('the name of a run', () => {
  test('has 1 to 255 printable characters, including quotes and spaces', () => {
    expect(readIdempotencyName(new Headers())).toBeNull();
    for (const name of ['a', '"8e03978e-40d5"', 'two words', 'x'.repeat(254), '~'.repeat(255)]) {
      expect(read(name)).toBe(name);
    }
  });

  test('is refused otherwise, with found and expected characters', () => {
    expect(refusalOf('x'.repeat(256))).toContain('has 256 characters; expected 1 to 255 printable ASCII characters');
    expect(refusalOf('')).toContain('has 0 characters');
    for (const name of ['caf\u00e9', 'a\tb', 'a\u007fb']) {
      expect(refusalOf(name)).toContain('a character that cannot be printed');
    }
  });
});

describe('the hashes of a run', () => {
  const hasher = createRunHasher(new Secret('ab'.repeat(32)));

  test('distinguish keys, names, endpoints and bodies without revealing them', async () => {
    const body = Buffer.from('{"model":"a"}');
    const hashes = [
      hasher.hashName('key_1', 'a'),
      hasher.hashName('key_2', 'a'),
      hasher.hashName('key_1', 'b'),
      await hasher.hashBody('chat', body),
      await hasher.hashBody('messages', body),
      await hasher.hashBody('chat', Buffer.from('{"model":"b"}')),
      await createRunHasher(new Secret('cd'.repeat(32))).hashBody('chat', body),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await hasher.hashBody('chat', Buffer.from(body))).toBe(hashes[3] ?? '');
  });

  test('cover a large body to its last byte and yield to other calls', async () => {
    const body = randomBytes(3 * 1024 * 1024);
    let turns = 0;
    const turn = () => {
      turns += 1;
      timer = setImmediate(turn);
    };
    let timer = setImmediate(turn);
    const whole = await hasher.hashBody('chat', body);
    clearImmediate(timer);
    expect(turns).toBeGreaterThan(3);
    body.writeUInt8(body.readUInt8(body.length - 1) ^ 1, body.length - 1);
    expect(await hasher.hashBody('chat', body)).not.toBe(whole);
  });
});

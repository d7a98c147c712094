/** Tests that a sealed answer opens only for its own run, unchanged, and reveals nothing. */
import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Secret } from '../../lib/secret.ts';
import { createAnswerSeal, type StoredAnswer } from './idempotency-seal.ts';

const RUN = { keyId: 'key_1', nameHash: 'aa', bodyHash: 'bb', callId: 'req_1' };
const ANSWER: StoredAnswer = {
  head: {
    status: 200,
    headers: [
      ['content-type', 'application/json'],
      ['x-tollgate-model', 'h%C3%A4user'],
    ],
    stream: false,
    error: null,
    finish_reason: 'stop',
    served_model: 'größer ☂',
    provider: 'lab',
  },
  body: Buffer.from('the quick brown fox, a secret'),
};
const seal = createAnswerSeal(new Secret('ab'.repeat(32)));
const sealAnswer = () => seal.seal(RUN, ANSWER.head, [ANSWER.body]);

describe('a sealed answer', () => {
  test('decrypts to the original, however it was collected', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 1_000 })), async (pieces) => {
        const sealed = await seal.seal(RUN, ANSWER.head, pieces);
        expect(seal.open(RUN, sealed)).toEqual({ ...ANSWER, body: Buffer.concat(pieces) });
      }),
    );
  });

  test('of several megabytes decrypts to the original and yields to other calls', async () => {
    const body = randomBytes(4 * 1024 * 1024 + 1);
    let turns = 0;
    const turn = () => {
      turns += 1;
      timer = setImmediate(turn);
    };
    let timer = setImmediate(turn);
    const sealed = await seal.seal(RUN, ANSWER.head, [body]);
    clearImmediate(timer);
    expect(turns).toBeGreaterThan(4);
    expect(seal.open(RUN, sealed)?.body.equals(body)).toBe(true);
  });

  test('reveals nothing and differs each time', async () => {
    const [one, other] = [await sealAnswer(), await sealAnswer()];
    expect(one.includes('quick')).toBe(false);
    expect(one.includes('application')).toBe(false);
    expect(one.equals(other)).toBe(false);
  });

  test('does not decrypt for another key, name, body, call or master key', async () => {
    const sealed = await sealAnswer();
    for (const member of ['keyId', 'nameHash', 'bodyHash', 'callId']) {
      expect(seal.open({ ...RUN, [member]: 'other' }, sealed)).toBeNull();
    }
    expect(createAnswerSeal(new Secret('cd'.repeat(32))).open(RUN, sealed)).toBeNull();
  });

  test('does not decrypt after any change or truncation', async () => {
    const sealed = await sealAnswer();
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(seal.open(RUN, changed)).toBeNull();
    }
    for (let length = 0; length < sealed.length; length++) {
      expect(seal.open(RUN, sealed.subarray(0, length))).toBeNull();
    }
  });
});

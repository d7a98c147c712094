/** Tests that messages are read the same however their bytes arrive, and that a body of unknown end is refused. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createMessageReader, type Unframed } from './message-reader.ts';

function read(pieces: readonly Buffer[], unframed: Unframed): { messages: string[]; idle: boolean } {
  const messages: string[] = [];
  let current = '';
  const reader = createMessageReader(
    {
      onHead: (head) => {
        current = `${head.split('\r\n')[0]}|`;
      },
      onBody: (bytes) => {
        current += bytes.toString('latin1');
      },
      onEnd: () => messages.push(current),
    },
    unframed,
  );
  for (const piece of pieces) reader.push(piece);
  return { messages, idle: reader.idle };
}

const ANSWERS = Buffer.from(
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst' +
    'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n' +
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nsec\r\n3\r\nond\r\n0\r\n\r\n' +
    'HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n',
);

describe('messages on one connection', () => {
  test('are the same whatever the pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: ANSWERS.length }), { maxLength: 6 }), (cuts) => {
        const bounds = [0, ...cuts.sort((a, b) => a - b), ANSWERS.length];
        const pieces = bounds.slice(1).map((end, at) => ANSWERS.subarray(bounds[at], end));
        expect(read(pieces, 'refuse')).toEqual({
          messages: ['HTTP/1.1 200 OK|first', 'HTTP/1.1 200 OK|second', 'HTTP/1.1 204 No Content|'],
          idle: true,
        });
      }),
    );
  });

  test('a request without framing has no body', () => {
    expect(read([Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n')], 'empty').messages).toEqual(['GET / HTTP/1.1|']);
  });

  test('an answer without framing is refused, for its end cannot be told', () => {
    expect(() => read([Buffer.from('HTTP/1.1 200 OK\r\n\r\nabc')], 'refuse')).toThrow(
      'neither content-length nor chunked',
    );
  });

  test('a head without end is refused at 64 KiB', () => {
    expect(() => read([Buffer.alloc(70_000, 97)], 'refuse')).toThrow('no end of the head');
  });

  test('a message that is not over is not idle', () => {
    expect(read([ANSWERS.subarray(0, 40)], 'refuse').idle).toBe(false);
  });
});

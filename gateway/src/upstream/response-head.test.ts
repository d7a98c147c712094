/** Tests the parsing of response heads: what HTTP/1.1 allows is accepted, and an ambiguous end of the body is refused. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseResponseHead } from './response-head.ts';

const head = (...lines: readonly string[]) => parseResponseHead(['HTTP/1.1 200 OK', ...lines].join('\r\n'));

describe('a response head', () => {
  test.each([
    [['content-length: 5'], { framing: 'length', lengthBytes: 5, keepAlive: true }],
    [['Content-Length: 5', 'content-length:5'], { framing: 'length', lengthBytes: 5 }],
    [['transfer-encoding: Chunked'], { framing: 'chunked', keepAlive: true }],
    [[], { framing: 'close', keepAlive: false }],
    [['content-length: 0', 'connection: Close'], { framing: 'length', keepAlive: false }],
    [['content-length: 0', 'connection: x, close'], { keepAlive: false }],
    [['content-length: 0', 'connection: x', 'connection: close'], { keepAlive: false }],
  ] as const)('%j says where the body ends', (lines, wanted) => {
    expect(head(...lines)).toMatchObject({ status: 200, ...wanted });
  });

  test.each([204, 304])('a response of status %d has no body, whatever its headers say', (status) => {
    expect(parseResponseHead(`HTTP/1.1 ${status} x\r\ncontent-length: 9`)).toMatchObject({
      framing: 'none',
      keepAlive: true,
    });
  });

  test('after 101 the connection is of another protocol, and not kept', () => {
    expect(parseResponseHead('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x')).toMatchObject({
      status: 101,
      framing: 'none',
      keepAlive: false,
    });
  });

  test('an HTTP/1.0 response keeps the connection only if it says so', () => {
    expect(parseResponseHead('HTTP/1.0 200 OK\r\ncontent-length: 1')).toMatchObject({ keepAlive: false });
    expect(parseResponseHead('HTTP/1.0 200 OK\r\ncontent-length: 1\r\nconnection: keep-alive')).toMatchObject({
      keepAlive: true,
    });
  });

  test('accepts any reason phrase, or none', () => {
    expect(parseResponseHead('HTTP/1.1 529\r\ncontent-length: 0')).toMatchObject({ status: 529 });
    expect(parseResponseHead('HTTP/1.1 200 Très bien\r\ncontent-length: 0')).toMatchObject({ status: 200 });
  });

  test('has lowercase names and trimmed values in line order', () => {
    expect(head('X-One:  a b\t', 'x-one: c', 'x-empty:')).toMatchObject({
      headers: [
        ['x-one', 'a b'],
        ['x-one', 'c'],
        ['x-empty', ''],
      ],
    });
  });
});

describe('refused is', () => {
  test.each([
    ['another protocol', 'SSH-2.0-x'],
    ['HTTP/2', 'HTTP/2 200 OK'],
    ['a status below 100', 'HTTP/1.1 099 x'],
    ['a long status', 'HTTP/1.1 2000 x'],
    ['a line without a colon', 'HTTP/1.1 200 OK\r\ncontent-length 5'],
    ['a space before the colon', 'HTTP/1.1 200 OK\r\ncontent-length : 5'],
    ['a folded line', 'HTTP/1.1 200 OK\r\nx-a: 1\r\n more'],
    ['a name with odd characters', 'HTTP/1.1 200 OK\r\nx(a): 1'],
    ['a NUL in a value', 'HTTP/1.1 200 OK\r\nx-a: a\0b'],
    ['a bare LF', 'HTTP/1.1 200 OK\r\nx-a: a\nx-b: c'],
    ['a bare LF around a value', 'HTTP/1.1 200 OK\r\ncontent-length: \n5'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6'],
    ['a length in a list', 'HTTP/1.1 200 OK\r\ncontent-length: 5, 5'],
    ['a negative length', 'HTTP/1.1 200 OK\r\ncontent-length: -5'],
    ['a hexadecimal length', 'HTTP/1.1 200 OK\r\ncontent-length: 0x5'],
    ['a length beyond any number', `HTTP/1.1 200 OK\r\ncontent-length: ${'9'.repeat(16)}`],
    ['an empty length', 'HTTP/1.1 200 OK\r\ncontent-length:'],
    ['both framings', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked'],
    ['a coding before chunked', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked'],
    ['chunked twice', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked'],
    ['another coding', 'HTTP/1.1 200 OK\r\ntransfer-encoding: identity'],
    ['more lines than anybody needs', `HTTP/1.1 200 OK${'\r\nx: y'.repeat(257)}`],
  ])('%s, in words', (_, text) => {
    expect(parseResponseHead(text)).toEqual(expect.any(String));
  });

  test('nothing by an exception', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, plausible) => {
        const given = plausible ? `HTTP/1.1 200 OK\r\n${text}` : text;
        const parsed = parseResponseHead(given);
        if (typeof parsed !== 'string') expect(parsed.lengthBytes).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

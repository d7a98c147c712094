/** Shows that requests are read whole from any split of their bytes, and that what is no request is named. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { headerOf, type ParsedRequest, parseRequest } from './parse-request.ts';
import { rawRequest } from './raw-client.ts';

function request(parsed: ParsedRequest): { method: string; target: string; body: string; taken: number } {
  if (parsed.kind !== 'request') throw new Error(`expected a request, got ${JSON.stringify(parsed)}`);
  const { method, target, body } = parsed.request;
  return { method, target, body: Buffer.from(body).toString(), taken: parsed.taken };
}

const chunked = (body: string): Buffer =>
  Buffer.from(`POST /v1/messages HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);

describe('reading a request', () => {
  test('asks for more, and never for more than the request has, until it is whole', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (body) => {
        const bytes = Buffer.from(rawRequest('POST', '/v1/x', body));
        for (let held = 0; held < bytes.byteLength; held += 1) {
          const parsed = parseRequest(bytes.subarray(0, held));
          if (parsed.kind !== 'more') throw new Error(`${held} of ${bytes.byteLength} bytes gave ${parsed.kind}`);
          expect(parsed.needed).toBeGreaterThan(held);
          expect(parsed.needed).toBeLessThanOrEqual(bytes.byteLength);
        }
        expect(request(parseRequest(bytes))).toEqual({
          method: 'POST',
          target: '/v1/x',
          body,
          taken: bytes.byteLength,
        });
      }),
      { numRuns: 30 },
    );
  });

  test('takes only its own bytes from a pipeline', () => {
    const first = rawRequest('POST', '/one', 'abc');
    const parsed = parseRequest(Buffer.concat([first, rawRequest('GET', '/two')]));
    expect(request(parsed)).toEqual({ method: 'POST', target: '/one', body: 'abc', taken: first.byteLength });
  });

  test('joins a chunked body, extensions aside', () => {
    const bytes = chunked('3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n');
    expect(request(parseRequest(bytes)).body).toBe('abc0123456789');
    for (let held = 0; held < bytes.byteLength; held += 1) {
      expect(parseRequest(bytes.subarray(0, held)).kind).toBe('more');
    }
  });

  test('gives header names in lower case and values without the space around them', () => {
    const parsed = parseRequest(Buffer.from('GET / HTTP/1.1\r\nHost: a\r\nX-Odd:  b c \r\n\r\n'));
    if (parsed.kind !== 'request') throw new Error(parsed.kind);
    expect(headerOf(parsed.request, 'x-odd')).toBe('b c');
    expect(parsed.request.requestLine).toBe('GET / HTTP/1.1');
    expect(parsed.request.headLines).toEqual(['Host: a', 'X-Odd:  b c ']);
  });

  const cases: Record<string, [Buffer | string, string]> = {
    'an old version': ['GET / HTTP/1.0\r\nhost: a\r\n\r\n', 'HTTP/1.1'],
    'a spaced target': ['GET /a b HTTP/1.1\r\nhost: a\r\n\r\n', 'request line'],
    'no host': ['GET / HTTP/1.1\r\n\r\n', '0 host headers'],
    'two hosts': ['GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n', '2 host headers'],
    'a header without a colon': ['GET / HTTP/1.1\r\nhost: a\r\nodd\r\n\r\n', 'colon'],
    'a space before the colon': ['GET / HTTP/1.1\r\nhost: a\r\nodd : 1\r\n\r\n', 'colon'],
    'two lengths': ['POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\na', 'more than one'],
    'a length and chunks': [
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      'more than one',
    ],
    'a length that is no number': ['POST / HTTP/1.1\r\nhost: a\r\ncontent-length: +1\r\n\r\na', 'content-length'],
    'another coding': ['POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n', 'not chunked'],
    'a chunk size that is not hexadecimal': [chunked('zz\r\n'), 'hexadecimal'],
    'a chunk longer than its size': [chunked('1\r\nabc\r\n'), 'CRLF'],
  };
  for (const [name, [bytes, reason]] of Object.entries(cases)) {
    test(`refuses ${name}`, () => {
      const parsed = parseRequest(Buffer.from(bytes));
      if (parsed.kind !== 'malformed') throw new Error(`expected malformed, got ${parsed.kind}`);
      expect(parsed.reason).toContain(reason);
    });
  }
});

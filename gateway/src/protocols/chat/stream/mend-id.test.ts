/** Tests observe-stream.ts: the id changes and no other byte does. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { recordsOf } from '../../testing/outline-of.ts';
import { withId } from './observe-stream.ts';

function mended(text: string): string | undefined {
  const [record] = recordsOf(text);
  return record === undefined ? undefined : withId(record, 'new')?.toString();
}

test.each([
  ['data: {"id":"old","n":1.0}\n\n', 'data: {"id":"new","n":1.0}\n\n'],
  ['data:{"a":{"id":"in"}, "id" : null }\r\n\r\n', 'data:{"a":{"id":"in"}, "id" : "new" }\r\n\r\n'],
  ['event: x\nid: 7\ndata: {}\n\n', 'event: x\nid: 7\ndata: {"id":"new"}\n\n'],
  [': c\ndata: {"n":9007199254740993}\n\n', ': c\ndata: {"n":9007199254740993,"id":"new"}\n\n'],
])('%j becomes %j', (given, wanted) => {
  expect(mended(given)).toBe(wanted);
});

test('data in several lines is sent in several lines, after the other lines', () => {
  expect(mended('data: {"a":\nevent: e\ndata: "é"}\n\n')).toBe('event: e\ndata: {"a":\ndata: "é","id":"new"}\n\n');
});

test('data of two meanings is left alone', () => {
  expect(mended('data: {"id":"a","id":"b"}\n\n')).toBeUndefined();
});

test('any chunk comes out as the same chunk with the new id', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom('\n', '\r\n', '\r'), (chunk, lineEnd) => {
      const text = mended(`data: ${JSON.stringify(chunk)}${lineEnd}${lineEnd}`) ?? '';
      const parsed: unknown = JSON.parse(text.slice('data: '.length));
      expect(parsed).toEqual(JSON.parse(JSON.stringify({ ...chunk, id: 'new' })));
      expect(text.endsWith(lineEnd + lineEnd)).toBe(true);
    }),
  );
});

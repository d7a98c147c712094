/** Tests which bodies are pretty-printed, and that no other body changes. */
import { describe, expect, test } from 'bun:test';
import { readableText, streamEvents } from './json-text.ts';

describe('readableText', () => {
  test('indents JSON', () => {
    expect(readableText('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
  });
  test.each(['{"a":', 'plain words', '"text"', '', '{"id":12345678901234567890}'])('leaves %p unchanged', (text) => {
    expect(readableText(text)).toBe(text);
  });
});

describe('streamEvents', () => {
  test('splits a stream at blank lines with any line ending', () => {
    expect(streamEvents('event: a\ndata: {}\n\ndata: [DONE]\r\n\r\n')).toEqual(['event: a\ndata: {}', 'data: [DONE]']);
  });
  test('a comment is a separate event', () => {
    expect(streamEvents(': waiting\n\ndata: 1\n\n')).toEqual([': waiting', 'data: 1']);
  });
  test('JSON and text aren’t streams', () => {
    expect(streamEvents('{"data: ":1}')).toBeNull();
    expect(streamEvents('Bad gateway')).toBeNull();
  });
});

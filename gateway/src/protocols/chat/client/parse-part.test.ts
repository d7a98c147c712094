/** Tests how content parts are parsed: data URLs, files, audio. Whole messages are tested in parse-turns.test.ts. */
import { describe, expect, test } from 'bun:test';
import { textPart } from '../../../generation/part.ts';
import { parse, refusalOf } from '../testing/chat-request.ts';

const partOf = (part: unknown) => parse({ messages: [{ role: 'user', content: [part] }] }).request.turns[0]?.parts[0];
const image = (url: unknown, more: object = {}) => ({ type: 'image_url', image_url: { url, ...more } });
const file = (members: object) => ({ type: 'file', file: members });

describe('images', () => {
  test('vector 39: a data URL’s parameters go, and image/jpg is image/jpeg', () => {
    expect(partOf(image('data:image/jpg;name=a.jpg;base64,/9j/4AAQ', { detail: 'low' }))).toEqual({
      kind: 'image',
      source: { kind: 'base64', media_type: 'image/jpeg', base64: '/9j/4AAQ' },
      detail: 'low',
      cache_mark: null,
    });
    expect(partOf(image('DATA:image/JPEG;name=a.jpg;BASE64,AA'))).toMatchObject({
      source: { media_type: 'image/jpeg', base64: 'AA' },
    });
  });

  test('a web address stays one', () => {
    expect(partOf(image('https://a.example/b.png'))).toMatchObject({
      source: { kind: 'url', url: 'https://a.example/b.png' },
      detail: null,
    });
  });

  test('a bare URL in the place of the object is taken', () => {
    expect(partOf({ type: 'image_url', image_url: 'data:image/png;base64,AA' })).toMatchObject({
      source: { media_type: 'image/png', base64: 'AA' },
    });
  });

  test.each([
    'data:image/png,AA',
    'data:;base64,AA',
    'data:base64,AA',
    'data:image/png;base64',
    'file:///etc/passwd',
    'AAAA',
    '',
    7,
  ])('%j is refused by its path', (url) => {
    expect(refusalOf(() => partOf(image(url))).param).toBe('messages.0.content.0.image_url.url');
  });
});

describe('files', () => {
  test('a PDF is a document with its name as title', () => {
    expect(partOf(file({ filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' }))).toEqual({
      kind: 'document',
      source: { kind: 'base64', media_type: 'application/pdf', base64: 'JVBE' },
      title: 'a.pdf',
      context: null,
      cites: false,
      cache_mark: null,
    });
  });

  test('a text is decoded', () => {
    const written = Buffer.from('grüße 😀').toString('base64');
    expect(partOf(file({ file_data: `data:text/plain;charset=utf-8;base64,${written}` }))).toMatchObject({
      source: { kind: 'text', text: 'grüße 😀' },
      title: null,
    });
  });

  test('a text that is no UTF-8 is refused', () => {
    const refusal = refusalOf(() => partOf(file({ file_data: 'data:text/plain;base64,/w==' })));
    expect(refusal.param).toBe('messages.0.content.0.file.file_data');
  });

  test('an id and a web address are where the file is', () => {
    expect(partOf(file({ file_id: 'file-1' }))).toMatchObject({ source: { kind: 'file', id: 'file-1' } });
    expect(partOf(file({ file_data: 'https://a.example/b.pdf' }))).toMatchObject({ source: { kind: 'url' } });
  });

  test('a file without bytes and without id is refused', () => {
    expect(refusalOf(() => partOf(file({ filename: 'a.pdf' }))).param).toBe('messages.0.content.0.file');
  });
});

test.each([
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
])('sound in %s is %s', (format, media_type) => {
  expect(partOf({ type: 'input_audio', input_audio: { data: 'AA', format } })).toEqual({
    kind: 'audio',
    source: { kind: 'base64', media_type, base64: 'AA' },
    detail: null,
    cache_mark: null,
  });
});

test('a bare string among parts is a text', () => {
  expect(partOf('hi')).toEqual(textPart('hi'));
});

test('results may hold images and files', () => {
  const content = [{ type: 'text', text: 'a' }, image('https://a.example/b.png'), file({ file_id: 'f' })];
  const { turns } = parse({ messages: [{ role: 'tool', tool_call_id: 'c1', content }] }).request;
  const [result] = turns[0]?.parts ?? [];
  expect(result?.kind === 'tool_result' && result.parts.map(({ kind }) => kind)).toEqual(['text', 'image', 'document']);
});

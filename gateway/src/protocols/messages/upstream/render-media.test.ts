/** Tests the rendering of images and documents against the wire reference, B.3 and C.1. */
import { expect, test } from 'bun:test';
import type { DocumentPart, MediaPart, Source } from '../../../generation/part.ts';
import { CAPABLE, withMessagesTraits } from '../../testing/capable-upstream.ts';
import { refusal, render, requestWith } from '../testing/request-rig.ts';
import { renderDocument, renderMedia } from './render-part.ts';

const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64');
const PNG = base64('89504e470d0a1a0a0000000d49484452');
const JPEG = base64('ffd8ffe000104a464946');
const GIF = base64('474946383961010001000000');
const WEBP = base64('524946462400000057454250565038');
const PDF = base64('255044462d312e34');

const image = (source: Source, kind: MediaPart['kind'] = 'image'): MediaPart => ({
  kind,
  source,
  detail: 'high',
  cache_mark: null,
});
const document = (source: Source, changes: Partial<DocumentPart> = {}): DocumentPart => ({
  kind: 'document',
  source,
  title: null,
  context: null,
  cites: false,
  cache_mark: null,
  ...changes,
});
const sourceOf = (source: Source) => renderMedia(image(source), 'p', CAPABLE).source;
const documentOf = (source: Source) => renderDocument(document(source), 'p', CAPABLE).source;

test.each([
  ['image/png', PNG],
  ['image/jpeg', JPEG],
  ['image/gif', GIF],
  ['image/webp', WEBP],
])('an image of type %s is known by its bytes, whatever it was called', (media_type, bytes) => {
  for (const called of [media_type, 'image/jpg', 'application/octet-stream', '']) {
    expect(sourceOf({ kind: 'base64', media_type: called, base64: bytes })).toEqual({
      type: 'base64',
      media_type,
      data: bytes,
    });
  }
});

test('vector 39: image/jpg is image/jpeg', () => {
  expect(sourceOf({ kind: 'base64', media_type: 'image/jpg', base64: JPEG })).toMatchObject({
    media_type: 'image/jpeg',
  });
});

test.each(['424d46', '', '3c737667'])('bytes %j of another format are refused', (hex) => {
  const found = refusal(() => sourceOf({ kind: 'base64', media_type: 'image/png', base64: base64(hex) }));
  expect(found).toEqual({
    param: 'p',
    message:
      'p: found image/png whose bytes are none of those; expected the bytes of a JPEG, PNG, GIF or WebP image in base64',
  });
});

test('a URL is sent unchanged, with its mark; the detail level is not', () => {
  const part = { ...image({ kind: 'url', url: 'https://x.example/a.png' }), cache_mark: { ttlMinutes: 30 } };
  expect(renderMedia(part, 'p', CAPABLE)).toEqual({
    type: 'image',
    source: { type: 'url', url: 'https://x.example/a.png' },
    cache_control: { type: 'ephemeral', ttl: '1h' },
  });
});

test('files are taken only where Anthropic keeps them', () => {
  expect(sourceOf({ kind: 'file', id: 'file_011' })).toEqual({ type: 'file', file_id: 'file_011' });
  expect(refusal(() => sourceOf({ kind: 'file', id: 'file-abc' }))?.message).toContain('send the file itself');
  expect(refusal(() => documentOf({ kind: 'file', id: 'file-abc' }))?.param).toBe('p');
});

test('sound is refused, and so are images and PDF at models without them', () => {
  const sound = image({ kind: 'base64', media_type: 'audio/wav', base64: 'AAAA' }, 'audio');
  expect(refusal(() => renderMedia(sound, 'p', CAPABLE))?.message).toContain('no audio');
  const blind = withMessagesTraits({}, { image: false, pdf: false });
  expect(
    refusal(() => renderMedia(image({ kind: 'base64', media_type: 'image/png', base64: PNG }), 'p', blind))?.message,
  ).toContain('takes no images');
  const pdf = document({ kind: 'base64', media_type: 'application/pdf', base64: PDF });
  expect(refusal(() => renderDocument(pdf, 'p', blind))?.message).toContain('takes no PDF');
  expect(renderDocument(document({ kind: 'text', text: 'a' }), 'p', blind).source).toEqual({
    type: 'text',
    media_type: 'text/plain',
    data: 'a',
  });
});

test('refuses nothing for an unknown property of a model', () => {
  const unknown = withMessagesTraits({}, { image: null, pdf: null });
  expect(renderMedia(image({ kind: 'url', url: 'u' }), 'p', unknown).type).toBe('image');
  expect(renderDocument(document({ kind: 'url', url: 'u' }), 'p', unknown).source).toEqual({ type: 'url', url: 'u' });
});

test('refuses addresses where the host fetches nothing', () => {
  const blind = withMessagesTraits({ mediaUrls: false });
  const words = 'fetches nothing from addresses; send the bytes in base64';
  expect(refusal(() => renderMedia(image({ kind: 'url', url: 'u' }), 'p', blind))?.message).toContain(words);
  expect(refusal(() => renderDocument(document({ kind: 'url', url: 'u' }), 'p', blind))?.message).toContain(words);
  expect(renderMedia(image({ kind: 'base64', media_type: 'image/png', base64: PNG }), 'p', blind).type).toBe('image');
});

test('a PDF keeps its title, context and request for citations', () => {
  const part = document(
    { kind: 'base64', media_type: 'application/pdf', base64: PDF },
    { title: 'a.pdf', context: 'c', cites: true },
  );
  expect(renderDocument(part, 'p', CAPABLE)).toEqual({
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: PDF },
    title: 'a.pdf',
    context: 'c',
    citations: { enabled: true },
    cache_control: undefined,
  });
});

test('a plain text in base64 is a text; any other file is refused', () => {
  const coded = Buffer.from('grüß').toString('base64');
  expect(documentOf({ kind: 'base64', media_type: 'text/plain;charset=utf-8', base64: coded })).toMatchObject({
    data: 'grüß',
  });
  expect(
    refusal(() => documentOf({ kind: 'base64', media_type: 'application/zip', base64: 'UEs=' }))?.message,
  ).toContain('found a file of type application/zip');
});

test('the detail level of an image cannot be carried and is reported, unless it is auto', () => {
  const droppedWith = (detail: string | null) => {
    const part = { ...image({ kind: 'url', url: 'https://x/y.png' }), detail };
    return render(requestWith({ turns: [{ role: 'user', name: null, path: 'messages.0', parts: [part] }] })).dropped;
  };
  expect([droppedWith('high'), droppedWith('auto'), droppedWith(null)]).toEqual([['image_url.detail'], [], []]);
});

/** Tests the token cost of media, with recorded numbers where available. */
import { expect, test } from 'bun:test';
import type { MediaPart, Source } from '../generation/part.ts';
import { estimateDocumentTokens, estimateMediaTokens } from './estimate-tokens.ts';
import type { TokenFamily } from './token-families.ts';

function png(width: number, height: number): Source {
  const bytes = Buffer.alloc(32);
  bytes.write('\u0089PNG', 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return { kind: 'base64', media_type: 'image/png', base64: bytes.toString('base64') };
}

function image(source: Source, detail: string | null = null): MediaPart {
  return { kind: 'image', source, detail, cache_mark: null };
}

test.each([
  ['claude', 1001, 1001, 1337],
  ['claude', 4000, 4000, 1600],
  ['claude_5', 4000, 4000, 4784],
  ['gpt', 1, 1, 255],
  ['gpt', 1024, 1024, 765],
  ['gpt', 4096, 8192, 1105],
  ['gemini', 128, 128, 1120],
  ['llama', 400, 301, 435],
  ['llama', 597, 566, 725],
  ['grok', 128, 128, 256],
  ['grok', 896, 448, 768],
  ['mistral', 280, 280, 110],
  ['qwen', 280, 280, 110],
  ['other', 1024, 1024, 765],
] as const)('%s: an image of %d × %d costs %#d tokens', (family, width, height, tokens) => {
  expect(estimateMediaTokens(image(png(width, height)), family)).toBe(tokens);
});

test('an image to be looked at in low detail costs the same at any size', () => {
  expect(estimateMediaTokens(image(png(4096, 4096), 'low'), 'gpt')).toBe(85);
});

test('an image that cannot be seen is taken for one of 1,024 × 1,024', () => {
  for (const source of [
    { kind: 'url', url: 'https://example.com/a.png' },
    { kind: 'file', id: 'file_1' },
  ] as const) {
    expect(estimateMediaTokens(image(source), 'gpt')).toBe(765);
  }
});

test.each([
  ['gpt', 1_000],
  ['gemini', 1_300],
  ['claude', 2_700],
] as const)('%s: a document costs its pages, guessed from its bytes', (family: TokenFamily, page) => {
  const document = (source: Source) =>
    estimateDocumentTokens(
      { kind: 'document', source, title: null, context: null, cites: false, cache_mark: null },
      family,
    );
  const bytes = (count: number) => Buffer.alloc(count).toString('base64');
  expect(document({ kind: 'base64', media_type: 'application/pdf', base64: bytes(100) })).toBe(page);
  expect(document({ kind: 'base64', media_type: 'application/pdf', base64: bytes(90_000) })).toBe(3 * page);
  expect(document({ kind: 'url', url: 'https://example.com/a.pdf' })).toBe(3 * page);
});

test('a sound costs by its bytes', () => {
  const base64 = Buffer.alloc(50_000).toString('base64');
  const source: Source = { kind: 'base64', media_type: 'audio/mp3', base64 };
  expect(estimateMediaTokens({ ...image(source), kind: 'audio' }, 'gpt')).toBe(101);
});

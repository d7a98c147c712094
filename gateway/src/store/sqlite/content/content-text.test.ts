/** Tests what a search finds in bodies of every shape, and that hostile ones cost no more than their length. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { textOf } from './content-text.ts';

const kept = (text: string) => ({ bytes: new TextEncoder().encode(text), totalBytes: text.length });
const answer = (response: string, stream: boolean) => textOf({ request: kept(''), response: kept(response), stream });

test('a text is whole again, however a stream of any format divided it', () => {
  const formats: Readonly<Record<string, (text: string) => object>> = {
    chat: (text) => ({ choices: [{ index: 0, delta: { content: text } }] }),
    messages: (text) => ({ type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text } }),
    responses: (delta) => ({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta }),
    gemini: (text) => ({ candidates: [{ content: { parts: [{ text }] } }] }),
  };
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }), { minLength: 1, maxLength: 20 }),
      fc.constantFrom(...Object.keys(formats)),
      (pieces, name) => {
        const stream = pieces.map((piece) => `data: ${JSON.stringify(formats[name]?.(piece))}\n\n`).join('');
        expect(answer(stream, true)).toContain(pieces.join('').toLowerCase());
      },
    ),
  );
});

test('parts that a stream interleaves stay apart', () => {
  const piece = (index: number, partial_json: string) =>
    `data: ${JSON.stringify({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } })}\n\n`;
  const text = answer(piece(0, 'one') + piece(1, 'two') + piece(0, ' three') + piece(1, ' four'), true);
  expect(text).toContain('one three');
  expect(text).toContain('two four');
});

test('a truncated body is searched as a reader sees it', () => {
  expect(answer('{"a":"Line one\\nline \\u0041pples \\"quoted', false)).toContain('line one\nline apples "quoted');
});

test('deep, wide and broken bodies are read', () => {
  const deep = '['.repeat(100_000);
  expect(answer(deep, false)).toBe(`\n${deep}`);
  expect(answer(`${'['.repeat(5_000)}"deep"${']'.repeat(5_000)}`, false)).toContain('deep');
  expect(
    answer(`{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":"v"`).join(',')},"last":"found"}`, false),
  ).toContain('found');
  expect(answer('data: {"broken\ndata: [DONE]\n: ping\n', true)).toContain('broken');
});

/** Tests that edits change texts only: every other byte stays, the JSON stays valid, and nothing signed is read. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { SEED } from '../../test/harness/exhaustive.ts';
import { scanJson } from '../wire/json-scan.ts';
import { textsOfAnswer, textsOfRequest } from './format-texts.ts';
import { type JsonText, spliceTexts, type TextEdit } from './json-texts.ts';

function outlineOf(json: string) {
  const outline = scanJson(Buffer.from(json));
  if (!outline.ok) throw new Error(outline.message);
  return outline;
}

/** The request with each match replaced, as texts and as bytes. */
function replaceIn(protocol: Parameters<typeof textsOfRequest>[0], json: string, match: RegExp, to: string): string {
  const outline = outlineOf(json);
  const edits = new Map<JsonText, TextEdit[]>();
  for (const text of textsOfRequest(protocol, outline.root)) {
    const found = [...text.text.matchAll(match)].map((one) => ({
      start: one.index,
      end: one.index + one[0].length,
      to,
    }));
    if (found.length > 0) edits.set(text, found);
  }
  return Buffer.from(spliceTexts(outline, edits)).toString();
}

test('only the changed spans of a text change, whatever its escapes', () => {
  // A text of these, written with escapes or without.
  const unit = fc.constantFrom('a', '\\n', '\\u00e9', 'é', '😀', '\\ud83d\\ude00', '\\"', '\\\\', 'SECRET', ' ');
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 20 }), fc.array(unit, { maxLength: 20 }), (one, two) => {
      const json = `{ "model":"SECRET", "messages" : [{"role":"user","content":"${one.join('')}"},{"content":[{"type":"text","text":"${two.join('')}"}]}]}`;
      const expected = json.replaceAll('SECRET', 'M').replace('"model":"M"', '"model":"SECRET"');
      expect(replaceIn('chat', json, /SECRET/g, 'M')).toBe(expected);
    }),
    { seed: SEED },
  );
});

test('a mask in tool arguments keeps both JSON texts valid', () => {
  const args = JSON.stringify({ to: 'a "SECRET"\n', SECRET: 1, nested: [{ id: 'SECRET' }] });
  const call = { id: 'SECRET', type: 'function', function: { name: 'SECRET', arguments: args } };
  const json = JSON.stringify({ messages: [{ role: 'assistant', tool_calls: [call] }] });
  const got = JSON.parse(replaceIn('chat', json, /SECRET/g, '[M"\n]')).messages[0].tool_calls[0];
  expect(got).toEqual({
    ...call,
    function: { name: 'SECRET', arguments: expect.any(String) },
  });
  expect(JSON.parse(got.function.arguments)).toEqual({ to: 'a "[M"\n]"\n', SECRET: 1, nested: [{ id: '[M"\n]' }] });
});

const UNTOUCHED: readonly (readonly [Parameters<typeof textsOfRequest>[0], object])[] = [
  [
    'chat',
    {
      model: 'S',
      user: 'S',
      messages: [{ role: 'S', name: 'S', content: [{ type: 'image_url', image_url: { url: 'S' } }] }],
    },
  ],
  ['chat', { tools: [{ function: { name: 'S', parameters: { properties: { S: { type: 'S', enum: ['S'] } } } } }] }],
  [
    'messages',
    {
      messages: [
        {
          content: [
            { type: 'thinking', thinking: 'S', signature: 'S' },
            { type: 'redacted_thinking', data: 'S' },
            { type: 'image', source: { type: 'base64', media_type: 'S', data: 'S' } },
            { type: 'tool_use', id: 'S', name: 'S', input: {} },
            { type: 'tool_result', tool_use_id: 'S' },
          ],
        },
      ],
    },
  ],
  [
    'responses',
    {
      previous_response_id: 'S',
      input: [{ type: 'reasoning', id: 'S', summary: [{ text: 'S' }], encrypted_content: 'S' }],
    },
  ],
  [
    'responses',
    {
      input: [
        { type: 'function_call', call_id: 'S', name: 'S', arguments: '{}' },
        { type: 'input_file', file_data: 'S' },
      ],
    },
  ],
  [
    'gemini',
    {
      contents: [
        {
          role: 'S',
          parts: [{ thought: true, text: 'S', thoughtSignature: 'S' }, { inlineData: { mimeType: 'S', data: 'S' } }],
        },
      ],
    },
  ],
];

test.each(UNTOUCHED)('identifiers, signatures, media and words of %s stay: %j', (protocol, body) => {
  const json = JSON.stringify(body);
  expect(replaceIn(protocol, json, /S/g, 'M')).toBe(json);
});

test.each([
  ['chat', { messages: [{ role: 'user', type: 'redacted_thinking', content: 'S' }] }],
  ['chat', { messages: [{ role: 'user', type: 'thinking', signature: 'a', content: 'S' }] }],
  ['chat', { messages: [{ role: 'user', type: 'reasoning', encrypted_content: 'a', content: 'S' }] }],
  ['messages', { messages: [{ role: 'user', type: 'compaction', content: [{ type: 'text', text: 'S' }] }] }],
  ['messages', { messages: [{ role: 'assistant', content: [{ type: 'compaction', content: 'S' }] }] }],
  ['gemini', { contents: [{ role: 'user', type: 'compaction', parts: [{ text: 'S' }] }] }],
  ['gemini', { contents: [{ parts: [{ thought: true, thoughtSignature: null, text: 'S' }] }] }],
  ['gemini', { generate_content_request: { contents: [{ parts: [{ text: 'S' }] }] } }],
  ['responses', { prompt: { variables: { name: 'S', customer_id: 'S' } } }],
] as const)('no type and no name hides a text of %s: %j', (protocol, body) => {
  const json = JSON.stringify(body);
  expect(replaceIn(protocol, json, /S/g, 'M')).toBe(json.replaceAll('"S"', '"M"'));
});

const READ: readonly (readonly [Parameters<typeof textsOfRequest>[0], object])[] = [
  [
    'chat',
    {
      messages: [{ role: 'tool', content: 'S' }, { content: [{ type: 'text', text: 'S' }] }],
      tools: [{ function: { description: 'S' } }],
    },
  ],
  [
    'messages',
    {
      system: [{ type: 'text', text: 'S' }],
      messages: [
        { content: 'S' },
        {
          content: [
            { type: 'tool_use', input: { id: 'S' } },
            { type: 'tool_result', content: [{ type: 'text', text: 'S' }] },
            { type: 'document', title: 'S', source: { type: 'text', media_type: 'text/plain', data: 'S' } },
            { type: 'thinking', thinking: 'S', signature: '' },
          ],
        },
      ],
      tools: [{ name: 'a', description: 'S', input_schema: { properties: { type: { description: 'S' } } } }],
    },
  ],
  [
    'responses',
    { instructions: 'S', input: [{ type: 'function_call_output', output: 'S' }, { content: [{ text: 'S' }] }] },
  ],
  ['responses', { input: 'S', text: { format: { schema: { description: 'S' } } } }],
  [
    'gemini',
    {
      systemInstruction: { parts: [{ text: 'S' }] },
      contents: [
        { parts: [{ text: 'S', thoughtSignature: 'x' }, { functionCall: { args: { type: 'S' } } }] },
        { parts: [{ functionResponse: { response: { id: 'S' } } }] },
      ],
    },
  ],
  ['completions', { prompt: ['S', 'S'], suffix: 'S' }],
  ['embeddings', { input: ['S'] }],
  ['moderations', { input: [{ type: 'text', text: 'S' }] }],
  ['rerank', { query: 'S', documents: ['S', { text: 'S', name: 'S' }] }],
  ['images', { prompt: 'S' }],
  ['audio', { input: 'S', instructions: 'S' }],
];

test.each(READ)('every text of %s is read: %j', (protocol, body) => {
  const json = JSON.stringify(body);
  expect(replaceIn(protocol, json, /^S$/g, 'M')).toBe(json.replaceAll('"S"', '"M"'));
});

test.each([
  ['images', { data: [{ b64_json: 'x', revised_prompt: 'S' }] }],
  ['images', { type: 'image_generation.completed', b64_json: 'x', revised_prompt: 'S' }],
  ['rerank', { id: 'x', results: [{ index: 0, document: { text: 'S', name: 'S', id: 'S' } }] }],
] as const)('every text of an answer of %s is read: %j', (protocol, body) => {
  const json = JSON.stringify(body);
  const { texts } = textsOfAnswer(protocol, outlineOf(json).root);
  expect(texts.map(({ text }) => text)).toEqual(json.match(/(?<=")S(?=")/g) ?? []);
});

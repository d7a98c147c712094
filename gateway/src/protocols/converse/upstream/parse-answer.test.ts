/** Tests the parsing of Converse answers in one piece: vectors 41 and 43, exact arguments, citations, nonsense. */
import { describe, expect, test } from 'bun:test';
import { foldGeneration } from '../../../generation/generation.ts';
import { renderAnswer as renderChat } from '../../chat/client/render-answer.ts';
import { renderAnswer as renderMessages } from '../../messages/client/render-answer.ts';
import { readAnswer } from '../shared/usage.ts';
import { parseAnswer } from './parse-answer.ts';

const CONTEXT = {
  id: 'x',
  createdSeconds: 0,
  model: 'm',
  wantsUsage: false,
  estimatedInputTokens: 0,
  sign: () => 'gw1.mark',
  seal: () => 'gw2.',
};
const USAGE = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };

function bodyOf(content: readonly unknown[], more: object = {}): Buffer {
  const output = { message: { role: 'assistant', content } };
  return Buffer.from(JSON.stringify({ output, stopReason: 'end_turn', usage: USAGE, ...more }));
}

const generationOf = (body: Buffer) => foldGeneration(parseAnswer(body));

describe('vector 41: usage', () => {
  const usage = {
    inputTokens: 3,
    outputTokens: 61,
    cacheReadInputTokens: 2074,
    cacheWriteInputTokens: 297,
    cacheDetails: [{ ttl: '5m', inputTokens: 297 }],
    totalTokens: 2435,
  };
  const generation = generationOf(bodyOf([{ text: 'Nine.' }], { usage }));

  test('has reads and writes beside the input', () => {
    expect(generation).toMatchObject({
      usage: { input: 3, cache_read: 2074, cache_write_5m: 297, cache_write_1h: 0, output: 61, reasoning: 0 },
      usageFlags: [],
    });
    expect(JSON.parse(renderChat(generation, CONTEXT).json).usage.prompt_tokens).toBe(2374);
  });

  test('has writes for an hour apart, and without details for five minutes', () => {
    const cacheDetails = [
      { ttl: '1h', inputTokens: 200 },
      { ttl: '5m', inputTokens: 97 },
    ];
    const of = (changes: object) => generationOf(bodyOf([], { usage: { ...usage, ...changes } })).usage;
    expect(of({ cacheDetails })).toMatchObject({ cache_write_5m: 97, cache_write_1h: 200 });
    expect(of({ cacheDetails: undefined })).toMatchObject({ cache_write_5m: 297, cache_write_1h: 0 });
  });

  test('that does not add up is flagged', () => {
    const flags = (changes: object) => generationOf(bodyOf([], { usage: { ...usage, ...changes } })).usageFlags;
    expect(flags({ totalTokens: 64 })).toEqual(['sum']);
    expect(flags({ cacheDetails: [{ ttl: '1h', inputTokens: 300 }] })).toEqual(['cached']);
  });

  test('that is absent or nonsense is unknown', () => {
    for (const one of [undefined, null, 7, {}, { inputTokens: -1, outputTokens: 2 }, { inputTokens: 1.5 }]) {
      expect(generationOf(bodyOf([{ text: 'a' }], { usage: one })).usage).toBeNull();
    }
  });

  test('states a tier that is charged', () => {
    const of = (type: string) => generationOf(bodyOf([], { serviceTier: { type } })).usage?.extras;
    expect([of('priority'), of('default')]).toEqual([{ tier: { service_tier: 'priority' } }, undefined]);
  });
});

test('vector 43: reasoning that comes after the text', () => {
  const generation = generationOf(
    bodyOf([{ text: 'Nine.' }, { reasoningContent: { reasoningText: { text: 'A timetable.' } } }]),
  );
  const { message } = JSON.parse(renderChat(generation, CONTEXT).json).choices[0];
  expect([message.content, message.reasoning_content]).toEqual(['Nine.', 'A timetable.']);
  const { content } = JSON.parse(renderMessages(generation, CONTEXT).json);
  expect(content.map(({ type }: { readonly type: string }) => type)).toEqual(['thinking', 'text']);
});

test('signed reasoning keeps its place', () => {
  const signed = { reasoningContent: { reasoningText: { text: 'a', signature: 'c2ln' } } };
  const { parts } = generationOf(bodyOf([{ text: 'x' }, signed, { text: 'y' }]));
  expect(parts.map(({ kind }) => kind)).toEqual(['text', 'reasoning', 'text']);
});

test('arguments are carried as they are written', () => {
  const call = '{"toolUse":{"toolUseId":"a","name":"f","input":{"n":1.00,"big":12345678901234567890,"n":2}}}';
  const body = `{"output":{"message":{"content":[${call}]}},"stopReason":"tool_use"}`;
  expect(generationOf(Buffer.from(body)).parts).toMatchObject([
    { kind: 'tool_call', arguments: '{"n":1.00,"big":12345678901234567890,"n":2}' },
  ]);
});

test('citations of documents are those of Anthropic’s format', () => {
  const place = { documentIndex: 1, start: 2, end: 3 };
  const cite = (location: object) => ({
    location,
    title: 'T',
    source: 'S',
    sourceContent: [{ text: 'q' }, { text: 'r' }],
  });
  const citations = [
    cite({ documentChar: place }),
    cite({ documentPage: place }),
    cite({ documentChunk: place }),
    cite({ searchResultLocation: { searchResultIndex: 4, start: 5, end: 6 } }),
    cite({ unknown: {} }),
  ];
  const generation = generationOf(
    bodyOf([{ citationsContent: { content: [{ text: 'a' }, { text: 'b' }], citations } }]),
  );
  const [block] = JSON.parse(renderMessages(generation, CONTEXT).json).content;
  const common = { cited_text: 'qr' };
  const ofDocument = { ...common, document_index: 1, document_title: 'T' };
  expect(block).toEqual({
    type: 'text',
    text: 'ab',
    citations: [
      { ...ofDocument, type: 'char_location', start_char_index: 2, end_char_index: 3 },
      { ...ofDocument, type: 'page_location', start_page_number: 2, end_page_number: 3 },
      { ...ofDocument, type: 'content_block_location', start_block_index: 2, end_block_index: 3 },
      {
        ...common,
        type: 'search_result_location',
        source: 'S',
        title: 'T',
        search_result_index: 4,
        start_block_index: 5,
        end_block_index: 6,
      },
    ],
  });
});

test.each<readonly [string, string]>([
  ['text', 'no'],
  ['a list', '[]'],
  ['an error', '{"message":"no"}'],
  ['no content', '{"output":{"message":{}}}'],
  ['a block that is no object', '{"output":{"message":{"content":[7]}}}'],
  ['a call without a name', '{"output":{"message":{"content":[{"toolUse":{"input":{}}}]}}}'],
  ['an answer that cannot be read', '{"output":{"message":{"content":[]}},"stopReason":"malformed_tool_use"}'],
])('a body that is %s is malformed', (_, body) => {
  expect(parseAnswer(Buffer.from(body)).map(({ kind }) => kind)).toEqual(['malformed']);
});

test('the facts of an answer are its usage, its end and the size of its text', () => {
  const read = (body: Buffer) => readAnswer(JSON.parse(body.toString()), body.length);
  expect(read(bodyOf([{ text: 'Nine.' }]))).toMatchObject({
    kind: 'answer',
    facts: { usage: { input: 1, output: 2 }, finish_reason: 'end_turn', outputBytes: 0 },
  });
  expect(read(bodyOf([{ text: 'Nine.' }], { usage: undefined }))).toMatchObject({ facts: { outputBytes: 5 } });
  expect(read(Buffer.from(JSON.stringify({ usage: USAGE })))).toMatchObject({
    kind: 'malformed',
    facts: { usage: { output: 2 } },
  });
});

/** Tests the answer vectors of Gemini: signatures, blocks, finish reasons, usage, errors. */
import { describe, expect, test } from 'bun:test';
import { foldGeneration } from '../../../src/generation/generation.ts';
import type { Usage } from '../../../src/generation/usage.ts';
import { unpackSignature } from '../../../src/protocols/host-data.ts';
import { list, object } from '../wire-text.ts';
import { answerOf, GEMINI, plainFor, readPlain, readStream, recordsFor, streamOf, usageOf } from './rig.ts';

const ZERO = { cache_read: 0, cache_write_5m: 0, cache_write_1h: 0 };
const CALL = { functionCall: { name: 'look', args: { where: 'pier', at: 12 } } };

/** The usage of an answer in one piece and of the same as a stream's only chunk. */
function usagesOf(answer: object): ReadonlyArray<Usage | null> {
  return [readPlain(answer), readStream(streamOf(answer)).events].map((events) => foldGeneration(events).usage);
}

test('vector 11: a last chunk with an empty signed text keeps the signature and gives no empty delta', () => {
  const chunks = [
    answerOf([{ text: 'At noon.' }], {}, null),
    answerOf([{ text: '', thoughtSignature: 'SIG' }], usageOf(3, 2)),
  ];
  const { events, isUsageFinal } = readStream(streamOf(...chunks));
  expect(isUsageFinal).toBe(true);
  expect(events.filter(({ kind }) => kind === 'text_delta')).toHaveLength(1);
  const parts = foldGeneration(events).parts.map(
    (part) => part.kind === 'text' && [part.text, unpackSignature(part.host_data)],
  );
  expect(parts).toEqual([
    ['At noon.', null],
    ['', 'SIG'],
  ]);
  const message = object(object(list(plainFor('chat', events).choices)[0])?.message);
  expect([message?.content, message?.extra_content]).toEqual(['At noon.', { google: { thought_signature: 'SIG' } }]);
  expect(plainFor('messages', events).content).toEqual([{ type: 'text', text: 'At noon.' }]);
  const records = recordsFor('chat', events);
  expect(records.filter((record) => record.includes('"content":""'))).toHaveLength(1);
  expect(records.find((record) => record.includes('"finish_reason":"'))).toContain('"finish_reason":"stop"');
});

test('vector 12: a blocked prompt is a refusal whose prompt is billed', () => {
  const answer = {
    promptFeedback: { blockReason: 'SAFETY' },
    usageMetadata: { promptTokenCount: 8, totalTokenCount: 8 },
  };
  for (const events of [readPlain(answer), readStream(streamOf(answer)).events]) {
    expect(foldGeneration(events)).toMatchObject({ finish_reason: 'refusal', explanation: 'SAFETY', parts: [] });
    expect(foldGeneration(events).usage).toEqual({ ...ZERO, input: 8, output: 0, reasoning: 0 });
    const [choice] = list(plainFor('chat', events).choices).map(object);
    expect([choice?.finish_reason, object(choice?.message)?.refusal]).toEqual(['content_filter', 'SAFETY']);
    expect(plainFor('messages', events)).toMatchObject({
      stop_reason: 'refusal',
      stop_details: { explanation: 'SAFETY' },
      content: [],
    });
  }
  expect(GEMINI.readAnswer(answer, 90)).toMatchObject({ kind: 'answer', facts: { usage: { input: 8 } } });
});

test('vector 13: STOP with a call is tool_calls and tool_use, and the arguments keep their digits', () => {
  const text =
    '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"look","args":{"at":1.10e2}}}]},"finishReason":"STOP"}],"responseId":"r"}';
  const streamed = readStream(Buffer.from(`data: ${text}\r\n\r\n`)).events;
  for (const events of [GEMINI.parseAnswer(Buffer.from(text)), streamed]) {
    const [choice] = list(plainFor('chat', events).choices).map(object);
    expect(choice?.finish_reason).toBe('tool_calls');
    const [call] = list(object(choice?.message)?.tool_calls).map(object);
    expect([call?.id, object(call?.function)?.arguments]).toEqual(['call_r_0', '{"at":1.10e2}']);
    expect(plainFor('messages', events).stop_reason).toBe('tool_use');
  }
});

test.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'MISSING_THOUGHT_SIGNATURE'])(
  'vector 14: %s without parts is a fault, never an empty success',
  (finishReason) => {
    const answer = { candidates: [{ content: {}, finishReason, index: 0 }], ...usageOf(9, 0) };
    for (const events of [readPlain(answer), readStream(streamOf(answer)).events]) {
      expect(events.at(-1)).toMatchObject({ kind: 'error', type: finishReason, status: null });
    }
  },
);

test('an account that Google closed is the operator’s matter', () => {
  const events = readPlain({ candidates: [{ finishReason: 'PUP_LIMITED_DISABLED' }] });
  expect(events).toMatchObject([{ kind: 'error', status: 403 }]);
});

test('vector 15: tokens of tool use are input, thoughts are output', () => {
  const usage = usageOf(151, 1089, { toolUsePromptTokenCount: 18_329, thoughtsTokenCount: 1120 });
  expect(usage.usageMetadata).toMatchObject({ totalTokenCount: 20_689 });
  for (const found of usagesOf(answerOf([{ text: 'x' }], usage))) {
    expect(found).toEqual({ ...ZERO, input: 18_480, output: 2209, reasoning: 1120 });
  }
});

test('vector 16: cached tokens are part of the prompt', () => {
  const answer = answerOf([{ text: 'x' }], usageOf(100_000, 10, { cachedContentTokenCount: 90_000 }));
  for (const usage of usagesOf(answer)) {
    expect(usage).toEqual({ ...ZERO, input: 10_000, cache_read: 90_000, output: 10, reasoning: 0 });
  }
  const events = readPlain(answer);
  expect(plainFor('chat', events).usage).toMatchObject({
    prompt_tokens: 100_000,
    prompt_tokens_details: { cached_tokens: 90_000 },
  });
  expect(plainFor('messages', events).usage).toMatchObject({ input_tokens: 10_000, cache_read_input_tokens: 90_000 });
});

test('vector 17: counters that restart at inner steps never shrink the output', () => {
  const rows = [
    [9, 15, 78],
    [9, null, null],
    [9, 7, 35],
    [9, 21, 35],
    [87, null, 78],
  ] as const;
  const chunks = rows.map(([promptTokenCount, candidates, thoughts], index) => {
    const counted = {
      promptTokenCount,
      ...(candidates === null ? {} : { candidatesTokenCount: candidates }),
      ...(thoughts === null ? {} : { thoughtsTokenCount: thoughts }),
    };
    const part =
      index === 1 ? { toolCall: { toolType: 'GOOGLE_SEARCH', id: 's' }, thoughtSignature: 'S' } : { text: 'x' };
    return answerOf([part], { usageMetadata: counted }, index === rows.length - 1 ? 'STOP' : null);
  });
  const { events } = readStream(streamOf(...chunks));
  const { usage, usageFlags } = foldGeneration(events);
  expect(usage).toEqual({ ...ZERO, input: 87, output: 99, reasoning: 78 });
  expect(usageFlags).toEqual(['inner_steps']);
});

test('vector 18: chunks with the traffic type alone count nothing', () => {
  const first = answerOf([{ text: 'At ' }], { usageMetadata: { trafficType: 'ON_DEMAND' } }, null);
  const { events, isUsageFinal } = readStream(streamOf(first, answerOf([{ text: 'noon' }], usageOf(5, 3))));
  expect(events.filter(({ kind }) => kind === 'usage')).toHaveLength(1);
  expect([foldGeneration(events).usage?.output, isUsageFinal]).toEqual([3, true]);
});

describe('vector 19: the hops of a continued answer', () => {
  const hops = [
    answerOf([{ text: 'At ' }], usageOf(100, 800), 'CONTINUATION'),
    answerOf([{ text: 'noon.' }], usageOf(900, 200)),
  ];

  test('are one answer whose usage is their sum', () => {
    for (const events of [readPlain(hops), readStream(streamOf(...hops)).events]) {
      const { parts, usage, finish_reason } = foldGeneration(events);
      expect(parts).toMatchObject([{ kind: 'text', text: 'At noon.' }]);
      expect([finish_reason, usage?.input, usage?.output]).toEqual(['stop', 1000, 1000]);
    }
    expect(GEMINI.readAnswer(hops, 400)).toMatchObject({ facts: { usage: { input: 1000, output: 1000 } } });
  });

  test('end with the reason length where the next one fails', () => {
    for (const events of [readPlain(hops[0]), readStream(streamOf(hops[0] ?? {})).events]) {
      expect(foldGeneration(events)).toMatchObject({ finish_reason: 'length', usage: { input: 100, output: 800 } });
    }
  });
});

test('vector 23: an error alone in an array is read as one', () => {
  const error = { code: 400, message: 'Please use a valid role.', status: 'INVALID_ARGUMENT' };
  const body = Buffer.from(JSON.stringify([{ error }]));
  expect(GEMINI.readError(body)).toMatchObject({ message: error.message, code: 'INVALID_ARGUMENT' });
  expect(GEMINI.parseAnswer(body)).toMatchObject([{ kind: 'error', message: error.message, status: 400 }]);
});

test('vector 24: an error record after text is an error in the stream', () => {
  const error = { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' };
  const { events } = readStream(streamOf(answerOf([{ text: 'At' }], {}, null), { error }, answerOf([{ text: 'x' }])));
  expect(events.at(-1)).toEqual({ kind: 'error', type: 'UNAVAILABLE', message: error.message, status: 503 });
  expect(events.some(({ kind }) => kind === 'finish')).toBe(false);
});

test('a stream that ends without a finish reason was cut', () => {
  expect(readStream(streamOf(answerOf([{ text: 'At' }], usageOf(3, 1), null))).events.at(-1)?.kind).toBe('usage');
});

test('a finish reason may be a number, and an early one is not the end', () => {
  const early = answerOf([], {}, 'STOP');
  const late = { candidates: [{ content: { parts: [{ text: 'noon' }] }, finishReason: 2 }] };
  const { events } = readStream(streamOf(early, late));
  expect(foldGeneration(events)).toMatchObject({ finish_reason: 'length', parts: [{ text: 'noon' }] });
});

test('grounding becomes annotations by its UTF-8 offsets, and its searches are counted', () => {
  const text = 'Grüße: the ferry leaves at noon.';
  const [start, end] = [Buffer.byteLength('Grüße: '), Buffer.byteLength(text)];
  const groundingMetadata = {
    groundingChunks: [{ web: { uri: 'https://harbor.example/', title: 'Harbor' } }],
    groundingSupports: [{ segment: { startIndex: start, endIndex: end }, groundingChunkIndices: [0] }],
    webSearchQueries: ['ferry', 'ferry times'],
  };
  const candidate = { content: { parts: [{ text }] }, finishReason: 'STOP', groundingMetadata };
  const answer = { candidates: [candidate], modelVersion: 'gemini-3-flash', ...usageOf(4, 9) };
  for (const events of [readPlain(answer), readStream(streamOf(answer)).events]) {
    const [choice] = list(plainFor('chat', events).choices).map(object);
    expect(object(choice?.message)?.annotations).toEqual([
      {
        type: 'url_citation',
        url_citation: { url: 'https://harbor.example/', title: 'Harbor', start_index: 7, end_index: text.length },
      },
    ]);
    expect(foldGeneration(events).usage?.extras).toEqual({ server_tools: { web_search: 2 } });
  }
});

test('audio and image tokens are counted separately, without those from the cache', () => {
  const usage = usageOf(100, 20, {
    cachedContentTokenCount: 30,
    promptTokensDetails: [
      { modality: 'AUDIO', tokenCount: 60 },
      { modality: 'TEXT', tokenCount: 40 },
    ],
    cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 25 }],
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 12 }],
  });
  for (const found of usagesOf(answerOf([{ text: 'x' }], usage))) {
    expect(found?.extras).toEqual({ audio_input: 35, audio_cache_read: 25, image_output: 12 });
  }
});

test('arguments that come in pieces are one call', () => {
  const piece = (functionCall: object, more: object = {}) => answerOf([{ functionCall, ...more }], {}, null);
  const args = (jsonPath: string, value: object, willContinue?: true) => ({ jsonPath, ...value, willContinue });
  const chunks = [
    piece({ name: 'look', willContinue: true }, { thoughtSignature: 'SIG' }),
    piece({ partialArgs: [args('$.at[0].place', { stringValue: 'Quill' }, true)], willContinue: true }),
    piece({ partialArgs: [args('$.at[0].place', { stringValue: 'haven' })], willContinue: true }),
    piece({
      partialArgs: [args("$.at[0]['in km']", { numberValue: 2 }), args('$.__proto__.x', { boolValue: true })],
      willContinue: true,
    }),
    answerOf([{ functionCall: {} }]),
  ];
  const [call] = foldGeneration(readStream(streamOf(...chunks)).events).parts;
  expect(call).toMatchObject({
    kind: 'tool_call',
    arguments: '{"at":[{"place":"Quillhaven","in km":2}],"__proto__":{"x":true}}',
  });
  expect(call?.kind === 'tool_call' && unpackSignature(call.host_data)).toBe('SIG');
  expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
});

test.each([CALL, { text: 'x' }])('reads the same, however the bytes of %j are cut', (part) => {
  const bytes = streamOf(answerOf([part], usageOf(4, 2), null), answerOf([{ text: 'ü' }], usageOf(4, 3)));
  const whole = readStream(bytes);
  for (let at = 1; at < bytes.length; at++) {
    expect(readStream(bytes.subarray(0, at), bytes.subarray(at))).toEqual(whole);
  }
});

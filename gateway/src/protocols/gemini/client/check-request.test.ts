/** Tests what is refused before a Gemini request is routed, and that long conversations are parsed in one pass. */
import { describe, expect, test } from 'bun:test';
import { startCpuClock } from '../../../../test/harness/cpu-clock.ts';
import { startTranslationNotes } from '../../request/translation-notes.ts';
import { CONTEXT, outlineOf, refusalOf } from '../../testing/outline-of.ts';
import { checkRequest } from './check-request.ts';
import { parseRequest } from './parse-request.ts';

const PATH = { model: 'm', stream: false, asEvents: false };
const HELLO = { contents: [{ parts: [{ text: 'hi' }] }] };
const FILE = { fileData: { mimeType: 'text/plain', fileUri: 'gs://bucket/file' } };

const refusal = (body: object, { model = 'm', countOnly = false } = {}) =>
  refusalOf(checkRequest, body, { ...CONTEXT, countOnly, path: { ...PATH, model } })?.param ?? null;

describe('the model of the path', () => {
  test.each([
    ['', 'model'],
    ['m', null],
    ['m'.repeat(256), null],
    ['m'.repeat(257), 'model'],
  ])('%p is refused by %p', (model, param) => {
    expect(refusal(HELLO, { model })).toBe(param);
  });
});

test.each(['generateContentRequest', 'generate_content_request'])('%s is only for counts', (name) => {
  const body = { ...HELLO, [name]: { ...HELLO, generationConfig: { maxOutputTokens: 9 } } };
  expect(refusal(body)).toBe('generateContentRequest');
  expect(refusal(body, { countOnly: true })).toBeNull();
});

test.each([
  ['contents', { contents: [{ parts: [FILE] }] }, 'contents.0.parts.0.fileData.fileUri'],
  ['the instruction', { ...HELLO, systemInstruction: { parts: [FILE] } }, 'systemInstruction.parts.0.fileData.fileUri'],
  [
    'the instruction without brackets',
    { ...HELLO, system_instruction: { parts: FILE } },
    'systemInstruction.parts.0.fileData.fileUri',
  ],
])('a file of the operator is found in %s', (_, body, path) => {
  const { stored } = checkRequest(outlineOf(body), { ...CONTEXT, path: PATH });
  expect(stored).toEqual([{ path, kind: 'address', id: 'gs://bucket/file' }]);
});

test.each([
  ['a tool', { ...HELLO, tools: [[{ googleSearch: {} }]] }, 'tools.0'],
  [
    'a part of the instruction',
    { ...HELLO, systemInstruction: { parts: [[{ text: 'hi' }]] } },
    'systemInstruction.parts.0',
  ],
])('a list in place of %s is refused', (_, body, path) => {
  expect(refusal(body)).toBe(path);
});

test('a result that is a list reaches a model of another format as it came', () => {
  const response = [{ output: 'one' }];
  const contents = [
    { role: 'model', parts: [{ functionCall: { name: 'f' } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'f', response } }] },
  ];
  const { turns } = parseRequest(outlineOf({ contents }), startTranslationNotes(false), PATH);
  expect(turns[1]?.parts).toMatchObject([{ kind: 'tool_result', parts: [{ text: JSON.stringify(response) }] }]);
});

test('100,000 calls and their results are parsed in one pass', () => {
  const parts = (make: (at: number) => object) =>
    Array.from({ length: 100 }, (_, place) => Array.from({ length: 500 }, (_, at) => make(place * 500 + at)));
  const contents = [
    ...parts((at) => ({ functionCall: { name: 'f', id: `c${at}` } })).map((list) => ({ role: 'model', parts: list })),
    ...parts(() => ({ functionResponse: { name: 'f' } })).map((list) => ({ role: 'user', parts: list })),
  ];
  const outline = outlineOf({ contents });
  const cpuMs = startCpuClock();
  const { turns } = parseRequest(outline, startTranslationNotes(false), PATH);
  expect(turns).toHaveLength(101);
  expect(cpuMs()).toBeLessThan(5_000);
});

test('a model that may answer in place of that of the path is found', () => {
  const priced = (generationConfig: object) =>
    checkRequest(outlineOf({ ...HELLO, generationConfig }), { ...CONTEXT, path: PATH }).priced;
  const path = 'generationConfig.routingConfig.manualMode.modelName';
  for (const config of [
    { routingConfig: { manualMode: { modelName: 'dear' } } },
    { routing_config: { manual_mode: { model_name: 'dear' } } },
  ]) {
    expect(priced(config)).toMatchObject({ models: [{ path, name: 'dear', role: 'instead' }], anyModel: null });
  }
  for (const config of [
    { routingConfig: { autoMode: { modelRoutingPreference: 'PRIORITIZE_QUALITY' } } },
    { modelSelectionConfig: { featureSelectionPreference: 'PRIORITIZE_QUALITY' } },
    { model_config: { feature_selection_preference: 'PRIORITIZE_QUALITY' } },
  ]) {
    expect(priced(config)).toMatchObject({ models: [], anyModel: expect.stringMatching(/^generationConfig\./) });
  }
  expect([priced({}), priced({ routingConfig: null, modelConfig: {} })]).toEqual([undefined, undefined]);
});

test.each([
  ['manualMode', { manualMode: { modelName: 'm' }, manual_mode: { modelName: 'dear' } }, 'manual_mode'],
  ['modelName', { manualMode: { modelName: 'm', model_name: 'dear' } }, 'manualMode.model_name'],
])('a routing with %s in both spellings is refused', (_, routingConfig, path) => {
  const body = { ...HELLO, generationConfig: { routingConfig } };
  expect(refusal(body)).toBe(`generationConfig.routingConfig.${path}`);
});

/** Tests parse-answer.ts: a non-streamed answer equals the stream of the same content. */
import { describe, expect, test } from 'bun:test';
import { foldGeneration } from '../../../generation/generation.ts';
import { calls, chunk, DONE, delta, finish, generationOf } from '../testing/chat-stream.ts';
import { parseAnswer } from './parse-answer.ts';

const USAGE = { prompt_tokens: 10, completion_tokens: 4 };
const parse = (body: unknown) => parseAnswer(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
const bodyOf = (message: object, finish_reason: string | null, more: object = {}) => ({
  id: 'c1',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message, finish_reason }],
  usage: USAGE,
  ...more,
});
const usageChunk = chunk({ choices: [], usage: USAGE });

const call = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{"n":90071992547409931}' } };
const annotation = {
  type: 'url_citation',
  url_citation: { url: 'https://x', title: 'X', start_index: 0, end_index: 2 },
};

describe('an answer in one piece', () => {
  test.each([
    ['text', { content: 'Hey' }, 'stop', [delta({ content: 'H' }), delta({ content: 'ey' })]],
    [
      'nothing',
      { content: '', refusal: '', tool_calls: null, annotations: null, audio: null },
      'stop',
      [delta({ content: '' })],
    ],
    [
      'reasoning and text',
      { content: 'a', reasoning_content: 'r' },
      'length',
      [delta({ reasoning: 'r' }), delta({ content: 'a' })],
    ],
    ['a refusal', { content: null, refusal: 'no' }, 'stop', [delta({ refusal: 'n' }), delta({ refusal: 'o' })]],
    ['a call', { content: 'a', tool_calls: [call] }, 'stop', [delta({ content: 'a' }), calls(call)]],
    [
      'calls without ids',
      { tool_calls: [{ function: { name: 'f', arguments: '' } }] },
      'tool_calls',
      [calls({ index: 0, function: { name: 'f' } })],
    ],
    [
      'a function call',
      { function_call: { name: 'f', arguments: '{}' } },
      'function_call',
      [delta({ function_call: { name: 'f' } }), delta({ function_call: { arguments: '{}' } })],
    ],
    [
      'a custom call',
      { tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'sh', input: 'ls' } }] },
      'tool_calls',
      [calls({ index: 0, id: 'a', type: 'custom', custom: { name: 'sh', input: 'ls' } })],
    ],
    [
      'pieces',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'r' }] },
          { type: 'text', text: 'a' },
        ],
      },
      'stop',
      [delta({ reasoning: 'r' }), delta({ content: 'a' })],
    ],
    [
      'citations',
      { content: 'abc', annotations: [annotation] },
      'stop',
      [delta({ content: 'abc' }), delta({ annotations: [annotation] })],
    ],
  ] as const)('an answer with %s equals its stream', (_name, message, reason, records) => {
    const streamed = generationOf(...records, finish(reason), usageChunk, DONE);
    expect(foldGeneration(parse(bodyOf(message, reason)))).toEqual(streamed);
    expect(streamed).toMatchObject({ id: 'c1', model: 'm', complete: true, usage: { input: 10, output: 4 } });
  });

  test('an answer without a finish reason is complete', () => {
    const empty = foldGeneration(parse(bodyOf({ content: 'a' }, '')));
    expect(empty).toMatchObject({ finish_reason: 'stop', reported: null, complete: true });
    const called = foldGeneration(parse(bodyOf({ tool_calls: [call] }, null)));
    expect(called).toMatchObject({ finish_reason: 'tool_calls', reported: null });
    const preview = { choices: [{ message: { content: 'a' }, finish_details: { type: 'max_tokens' } }] };
    expect(foldGeneration(parse(preview))).toMatchObject({ finish_reason: 'length', reported: 'max_tokens' });
  });

  test('is the first choice', () => {
    const choices = [
      { index: 0, message: { content: 'a' }, finish_reason: 'stop' },
      { index: 1, message: { content: 'b' } },
    ];
    expect(foldGeneration(parse({ choices })).parts).toMatchObject([{ text: 'a' }]);
  });
});

describe('malformed answers', () => {
  test('vector 32: is the error that it holds', () => {
    const error = { type: 'invalid_request', message: 'filtered', code: 400 };
    const event = { kind: 'error', type: 'invalid_request', message: 'filtered', status: 400 } as const;
    expect(parse({ error })).toEqual([event]);
    expect(parse({ error, choices: [] })).toEqual([event]);
    expect(parse({ object: 'error', type: 'invalid_request', message: 'filtered', code: 400 })).toEqual([event]);
    expect(parse({ choices: [{ message: { content: 'half' }, error, finish_reason: 'error' }] })).toEqual([event]);
  });

  test.each([
    ['<html>502</html>', 'the answer is not a JSON object'],
    ['', 'the answer is not a JSON object'],
    ['['.repeat(200_000), 'the answer is not a JSON object'],
    ['[]', 'the answer is not a JSON object'],
    ['{}', 'the answer has no choices'],
    ['{"choices":{}}', 'the answer has no choices'],
    ['{"choices":[],"error":null}', 'the answer has no choices'],
    ['{"choices":[{"text":"a"}]}', 'the answer has no message'],
    ['{"choices":[null]}', 'the answer has no message'],
    ['{"choices":[{"index":1,"message":{}}]}', 'upstream ended its answer without having begun it'],
    [
      '{"choices":[{"message":{"tool_calls":[{"index":1e9,"id":"a"}]}}]}',
      'upstream sent a tool call with the index 1000000000',
    ],
  ])('is malformed: %.40s', (body, message) => {
    expect(parse(body)).toEqual([{ kind: 'malformed', message }]);
  });
});

test('pages named beside the answer are cited by its text, unless it cites pages itself', () => {
  const urls = ['https://a.example', 'https://b.example'];
  const search_results = [{ title: 'A', url: urls[0], snippet: 's' }, { title: 'no page' }, 5];
  const citationsIn = (members: object, message: object = {}) => {
    const choice = { index: 0, message: { role: 'assistant', content: 'Yes [1].', ...message }, finish_reason: 'stop' };
    const events = parseAnswer(Buffer.from(JSON.stringify({ id: 'c', choices: [choice], ...members })));
    return events.flatMap((event) =>
      event.kind === 'citation' && event.citation.kind === 'url' ? [event.citation] : [],
    );
  };
  expect(citationsIn({ search_results, citations: urls })).toMatchObject([
    { url: urls[0], title: 'A', start: null, end: null },
  ]);
  expect(citationsIn({ citations: urls })).toMatchObject([{ url: urls[0], title: null }, { url: urls[1] }]);
  const annotations = [
    { type: 'url_citation', url_citation: { url: urls[1], title: 'B', start_index: 0, end_index: 3 } },
  ];
  expect(citationsIn({ citations: urls }, { annotations })).toMatchObject([{ url: urls[1], start: 0, end: 3 }]);
  expect(citationsIn({ citations: urls }, { content: '' })).toEqual([]);
});

test('images are parts after the text before them, for formats that can show or name them', () => {
  const url = 'data:image/png;base64,aGk=';
  const message = { content: 'The pier:', images: [{ type: 'image_url', image_url: { url } }, null, { image_url: 5 }] };
  const body = { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] };
  const { parts } = foldGeneration(parseAnswer(Buffer.from(JSON.stringify(body))));
  expect(parts).toMatchObject([
    { kind: 'text', text: 'The pier:' },
    { kind: 'opaque', type: 'image', imageUrl: url },
  ]);
});

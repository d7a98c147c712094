/** Tests answers of Gemini that no documentation describes: wrong orders, missing members, sizes meant to do harm. */
import { describe, expect, test } from 'bun:test';
import { foldGeneration } from '../../../src/generation/generation.ts';
import { unpackSignature } from '../../../src/protocols/host-data.ts';
import { startCpuClock } from '../../harness/cpu-clock.ts';
import { list, object } from '../wire-text.ts';
import { answerOf, plainFor, readPlain, readStream, recordsFor, streamOf, usageOf } from './rig.ts';

const READING_MS_MAX = 5_000;

describe('an array of answers', () => {
  const good = answerOf([{ text: 'At noon.' }], usageOf(3, 2));
  const error = { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' };

  test.each<readonly [string, object]>([
    ['that is no answer', [7, good]],
    ['that is an error', [{ error }, good]],
  ])('with an element %s before others is nothing else', (_, body) => {
    const expected = Array.isArray(body) && body[0] === 7 ? { kind: 'malformed' } : { kind: 'error', status: 503 };
    expect(readPlain(body)).toMatchObject([expected]);
  });
});

describe('usage', () => {
  test('never has more media than tokens, because cached media are not reported', () => {
    const usage = usageOf(130, 10, {
      cachedContentTokenCount: 90,
      promptTokensDetails: ['AUDIO', 'IMAGE'].map((modality) => ({ modality, tokenCount: 60 })),
      candidatesTokensDetails: ['AUDIO', 'IMAGE'].map((modality) => ({ modality, tokenCount: 8 })),
    });
    const found = foldGeneration(readPlain(answerOf([{ text: 'x' }], usage))).usage;
    expect(found).toMatchObject({ input: 40, cache_read: 90, output: 10 });
    expect(found?.extras).toEqual({ audio_input: 40, audio_cache_read: 20, audio_output: 8, image_output: 2 });
  });

  test('counts after a blocked prompt', () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' } };
    const { events, isUsageFinal } = readStream(streamOf(blocked, usageOf(8, 0)));
    expect(foldGeneration(events)).toMatchObject({ finish_reason: 'refusal', usage: { input: 8 }, complete: true });
    expect(isUsageFinal).toBe(true);
  });

  test('counts no searches of a list that no answer has', () => {
    const groundingMetadata = { webSearchQueries: Array.from({ length: 10_001 }, () => 'ferry') };
    const candidate = { content: { parts: [{ text: 'x' }] }, finishReason: 'STOP', groundingMetadata };
    expect(foldGeneration(readPlain({ candidates: [candidate], ...usageOf(4, 9) })).usage?.extras).toBeUndefined();
  });
});

describe('parts', () => {
  test('are refused where there are too many, or the prompt was blocked', () => {
    const many = Array.from({ length: 10_001 }, (_, at) => ({ text: 'x', thought: at % 2 === 0 }));
    expect(readPlain(answerOf(many))).toMatchObject([{ kind: 'malformed' }]);
    const blocked = { promptFeedback: { blockReason: 'SAFETY' } };
    const { events } = readStream(streamOf(blocked, answerOf([{ text: 'At noon.' }])));
    expect(events.map(({ kind }) => kind)).toEqual(['start', 'finish', 'malformed']);
  });

  test('that are signed stay apart, each with its signature', () => {
    const chunks = [
      answerOf([{ text: 'At ', thoughtSignature: 'A' }], {}, null),
      answerOf([{ text: 'noon', thoughtSignature: 'B' }, { text: '.' }]),
    ];
    const parts = foldGeneration(readStream(streamOf(...chunks)).events).parts.map(
      (part) => part.kind === 'text' && [part.text, unpackSignature(part.host_data)],
    );
    expect(parts).toEqual([
      ['At ', 'A'],
      ['noon', 'B'],
      ['.', null],
    ]);
  });

  test.each(['image/png', 'audio/wav', 'video/mp4'])('of type %s are opaque, named by their medium', (mimeType) => {
    const { parts } = foldGeneration(readPlain(answerOf([{ inlineData: { mimeType, data: 'aGk=' } }])));
    expect(parts).toMatchObject([{ kind: 'opaque', type: mimeType.split('/')[0], returns: true }]);
  });

  test('of a call in one piece may give its arguments by paths', () => {
    const partialArgs = [{ jsonPath: '$.where', stringValue: 'pier' }];
    const { parts } = foldGeneration(readPlain(answerOf([{ functionCall: { name: 'look', partialArgs } }])));
    expect(parts).toMatchObject([{ kind: 'tool_call', arguments: '{"where":"pier"}' }]);
  });

  test('of calls have ids of their own, though Google repeats one', () => {
    const call = { functionCall: { name: 'look', id: 'a' } };
    const { parts } = foldGeneration(readPlain(answerOf([call, call])));
    expect(parts).toMatchObject([{ id: 'a' }, { id: 'call_resp1_1' }]);
  });

  test('of a call may be signed with a later piece', () => {
    const piece = {
      functionCall: { partialArgs: [{ jsonPath: '$.where', stringValue: 'pier' }] },
      thoughtSignature: 'SIG',
    };
    const { parts } = foldGeneration(
      readPlain(answerOf([{ functionCall: { name: 'look', willContinue: true } }, piece])),
    );
    expect(parts.map((part) => part.kind === 'tool_call' && unpackSignature(part.host_data))).toEqual(['SIG']);
  });

  test.each(['{"where":"pier"}', ['pier'], 7])('of a call whose arguments are %j are malformed', (args) => {
    expect(readPlain(answerOf([{ functionCall: { name: 'look', args } }]))).toMatchObject([{ kind: 'malformed' }]);
  });

  test('of arguments may leave no gap in a list', () => {
    const partialArgs = [{ jsonPath: '$.at[9999]', stringValue: 'pier' }];
    expect(readPlain(answerOf([{ functionCall: { name: 'look', partialArgs } }]))).toMatchObject([
      { kind: 'malformed' },
    ]);
  });

  test('are read in one pass, however many there are', () => {
    const args = { text: 'x'.repeat(1_000) };
    const answer = answerOf(Array.from({ length: 5_000 }, () => ({ functionCall: { name: 'look', args } })));
    const clock = startCpuClock();
    expect(foldGeneration(readPlain(answer)).parts).toHaveLength(5_000);
    expect(clock()).toBeLessThan(READING_MS_MAX);
  });
});

describe('grounding', () => {
  const page = { web: { uri: 'https://harbor.example/', title: 'Harbor' } };
  const grounded = (text: string, groundingMetadata: object, finishReason = 'STOP') => ({
    candidates: [{ content: { parts: [{ text }] }, finishReason, groundingMetadata }],
  });
  const supportOf = (startIndex: number, endIndex: number) => ({
    segment: { startIndex, endIndex },
    groundingChunkIndices: [0],
  });

  test('stays where an empty one follows', () => {
    const chunks = [
      grounded('At noon.', { groundingChunks: [page], groundingSupports: [supportOf(0, 8)] }),
      grounded('', {}),
    ];
    const { parts } = foldGeneration(readStream(streamOf(...chunks)).events);
    expect(parts).toMatchObject([{ citations: [{ url: page.web.uri, start: 0, end: 8 }] }]);
  });

  test.each([
    ['a signature of its own', { text: '', thoughtSignature: 'SIG' }],
    ['a signed end of the text', { text: '!', thoughtSignature: 'SIG' }],
  ])('is of the text also where it comes after %s', (_, signed) => {
    const chunks = [
      answerOf([{ text: 'At noon' }], {}, null),
      answerOf([signed], {}, null),
      grounded('', { groundingChunks: [page], groundingSupports: [supportOf(0, 7)] }),
    ];
    const { events } = readStream(streamOf(...chunks));
    expect(foldGeneration(events).parts[0]).toMatchObject({ citations: [{ url: page.web.uri, start: 0, end: 7 }] });
    expect(recordsFor('chat', events).join('')).toContain('SIG');
    const [choice] = list(plainFor('chat', events).choices).map(object);
    expect(object(choice?.message)).toMatchObject({ extra_content: { google: { thought_signature: 'SIG' } } });
  });

  test('names places of a map', () => {
    const maps = { uri: 'https://maps.example/?cid=1', title: 'Pier' };
    const metadata = { groundingChunks: [{ maps }], groundingSupports: [supportOf(0, 8)] };
    const [block] = list(plainFor('messages', readPlain(grounded('At noon.', metadata))).content).map(object);
    expect(list(block?.citations)).toEqual([
      {
        type: 'search_result_location',
        cited_text: '',
        source: maps.uri,
        title: 'Pier',
        search_result_index: 0,
        start_block_index: 0,
        end_block_index: 0,
      },
    ]);
  });

  test('of a long text is placed in one pass', () => {
    const text = 'ü'.repeat(1_000_000);
    const groundingSupports = Array.from({ length: 5_000 }, (_, at) => supportOf(400 * at, 400 * at + 20));
    const metadata = { groundingChunks: [page], groundingSupports };
    const clock = startCpuClock();
    const [part] = foldGeneration(readPlain(grounded(text, metadata))).parts;
    expect(part?.kind === 'text' && part.citations.slice(0, 2)).toMatchObject([
      { start: 0, end: 10 },
      { start: 200, end: 210 },
    ]);
    expect(part?.kind === 'text' && part.citations.length).toBe(5_000);
    expect(clock()).toBeLessThan(READING_MS_MAX);
  });
});

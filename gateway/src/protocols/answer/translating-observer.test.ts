/** Tests that a translated stream is the same whether its records are skimmed or parsed, at any split of its bytes. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { SSE } from '../../framing/sse-decoder.ts';
import type { AnswerContext } from '../client-protocol.ts';
import type { GenerationClientName, GenerationUpstreamName } from '../names.ts';
import { CLIENT_PROTOCOLS, UPSTREAM_PROTOCOLS } from '../registry.ts';
import type { RecordVerdict } from '../upstream-protocol.ts';
import { TranslatingObserver } from './translating-observer.ts';

const context: AnswerContext = {
  id: '0',
  createdSeconds: 0,
  model: 'm',
  wantsUsage: true,
  estimatedInputTokens: 7,
  sign: (text) => `gw1.${text.length}`,
  seal: () => 'gw2.',
};

interface Translated {
  readonly text: string;
  readonly verdicts: readonly RecordVerdict[];
  readonly skims: number;
  readonly emitted: string;
  readonly observer: TranslatingObserver;
}

/** The complete output to a client of format `client` for a stream of format `upstream`. */
function translated(
  upstream: GenerationUpstreamName,
  client: GenerationClientName,
  parts: readonly Uint8Array[],
  skims = true,
): Translated {
  let emitted = '';
  const observer = new TranslatingObserver({
    parser: UPSTREAM_PROTOCOLS[upstream].startStreamParser(),
    filter: null,
    filtersText: !skims,
    renderer: CLIENT_PROTOCOLS[client].startStreamRenderer(context),
    deltaMembers: ['content', 'reasoning_content', 'reasoning', 'text', 'thinking'],
    onEvent(event) {
      if (event.kind === 'text_delta') emitted += event.text;
    },
  });
  let text = '';
  let skimmed = 0;
  const verdicts: RecordVerdict[] = [];
  const decoder = SSE.startDecoder(1_000_000, (bytes, start) => observer.skim(bytes, start));
  for (const part of parts) {
    decoder.feed(part, (output) => {
      if (output.kind === 'skimmed') skimmed += 1;
      else if (output.kind === 'event') verdicts.push(observer.observe(output));
      else return;
      text += observer.replacement?.toString() ?? '';
    });
  }
  return { text, verdicts, skims: skimmed, emitted, observer };
}

function chatStream(deltas: readonly object[], padding = false): Buffer {
  const chunk = (delta: object, finish_reason: string | null, at: number) =>
    `data: ${JSON.stringify({
      id: 'c',
      model: 'up',
      choices: [{ index: 0, delta, finish_reason }],
      ...(padding ? { obfuscation: 'x'.repeat(at % 5) } : {}),
    })}\n\n`;
  const body = deltas.map((delta, at) => chunk(delta, null, at)).join('');
  return Buffer.from(`${body}${chunk({}, 'stop', 0)}data: [DONE]\n\n`);
}

function messagesStream(texts: readonly string[], kind: 'text' | 'thinking'): Buffer {
  const record = (event: { type: string }) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  const usage = { input_tokens: 3, output_tokens: 1 };
  const start = { type: 'message_start', message: { id: 'm', model: 'up', content: [], usage } };
  const block = kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' };
  return Buffer.from(
    [
      record(start),
      record({ type: 'content_block_start', index: 0, content_block: block } as { type: string }),
      ...texts.map((text) =>
        record({ type: 'content_block_delta', index: 0, delta: { type: `${kind}_delta`, [kind]: text } } as {
          type: string;
        }),
      ),
      record({ type: 'content_block_stop', index: 0 } as { type: string }),
      record({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } } as {
        type: string;
      }),
      record({ type: 'message_stop' }),
    ].join(''),
  );
}

/** Plain words, and text that needs a parser: escapes, quotes, the empty string, other planes, control characters. */
const words = fc.array(
  fc.oneof(fc.constantFrom(' toll', 'é', '日本', '', 'a', '"', '\\', '\n', '😀', '\u2028', ' x</p>'), fc.string()),
  { maxLength: 12 },
);

function split(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

describe('skimming changes no output', () => {
  test('of a chat stream rendered as messages', () => {
    fc.assert(
      fc.property(
        words,
        words,
        fc.boolean(),
        fc.array(fc.nat(), { maxLength: 5 }),
        (thoughts, texts, padding, cuts) => {
          const deltas = [
            ...thoughts.map((text) => ({ content: null, reasoning_content: text })),
            ...texts.map((text) => ({ content: text })),
          ];
          const bytes = chatStream(deltas, padding);
          const parsed = translated('chat', 'messages', [bytes], false);
          const skimmed = translated('chat', 'messages', split(bytes, cuts));
          expect(parsed.skims).toBe(0);
          expect(skimmed.text).toBe(parsed.text);
          expect(skimmed.emitted).toBe(parsed.emitted);
          expect(skimmed.observer.facts()).toEqual(parsed.observer.facts());
          expect(skimmed.verdicts.at(-1)).toBe('terminal');
        },
      ),
    );
  });

  test('of a messages stream rendered as chat completions', () => {
    fc.assert(
      fc.property(
        words,
        fc.constantFrom('text', 'thinking'),
        fc.array(fc.nat(), { maxLength: 5 }),
        (texts, kind, cuts) => {
          const bytes = messagesStream(texts, kind);
          const parsed = translated('messages', 'chat', [bytes], false);
          const skimmed = translated('messages', 'chat', split(bytes, cuts));
          expect(skimmed.text).toBe(parsed.text);
          expect(skimmed.emitted).toBe(parsed.emitted);
          expect(skimmed.observer.facts()).toEqual(parsed.observer.facts());
        },
      ),
    );
  });
});

describe('citations are in their place, though texts before them were skimmed', () => {
  const record = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`;

  function expectSame(upstream: GenerationUpstreamName, stream: string, place: string): void {
    const [parsed, skimmed] = [false, true].map((skims) => {
      const { text, observer, skims: found } = translated(upstream, 'chat', [Buffer.from(stream)], skims);
      return { text: `${text}${observer.endOfBytes() ?? ''}`, skims: found };
    });
    expect(skimmed?.skims).toBeGreaterThan(0);
    expect(skimmed?.text).toContain(place);
    expect(skimmed?.text).toBe(parsed?.text ?? '');
  }

  test('of a chat stream whose text goes on behind reasoning', () => {
    const [before, after] = [
      ['Let ', 'me ', 'look. '],
      ['It ', 'is ', 'old.'],
    ].map((texts) => texts.map((content) => ({ content })));
    const url_citation = { url: 'https://a.example', title: 'a', start_index: 13, end_index: 23 };
    const deltas = [...(before ?? []), { reasoning: 'hm' }, ...(after ?? [])];
    const stream = chatStream([...deltas, { annotations: [{ type: 'url_citation', url_citation }] }]);
    expectSame('chat', stream.toString(), '"start_index":13,"end_index":23');
  });

  test('of a Gemini stream whose grounding comes last', () => {
    const saying = (text: string, members: object = {}) => ({
      candidates: [{ content: { role: 'model', parts: [{ text }] }, ...members }],
    });
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'a' } }],
      groundingSupports: [{ segment: { endIndex: 18, text: 'A harbour is old. ' }, groundingChunkIndices: [0] }],
    };
    const texts = ['A ', 'harbour ', 'is ', 'old. '].map((text) => saying(text));
    const last = { ...saying('', { finishReason: 'STOP', groundingMetadata }), usageMetadata: { promptTokenCount: 1 } };
    const stream = [...texts, last].map(record).join('');
    expectSame('gemini', stream, '"start_index":0,"end_index":18');
  });
});

describe('usage is final', () => {
  const count = { usage: { prompt_tokens: 3, completion_tokens: 7 } };
  const saying = (delta: object, members: object = {}) => ({ choices: [{ index: 0, delta }], ...members });
  const texts = ['ab', 'cd', 'ef'].map((content) => saying({ content }));
  const call = saying({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'f', arguments: '{}' } }] });
  const stop = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
  const record = (chunk: object) => `data: ${JSON.stringify({ id: 'c', model: 'up', ...chunk })}\n\n`;

  test.each([
    ['behind all of the text', [...texts, { choices: [], ...count }, stop], true],
    ['beside the last of it', [...texts, saying({ content: 'g' }, count), stop], true],
    ['beside the reason, though a call closes later', [call, { ...stop, ...count }], true],
    ['not before text', [saying({ role: 'assistant' }, count), ...texts, stop], false],
    ['not before a call', [{ choices: [], ...count }, call, stop], false],
  ])('of a chat stream: %s', (_, chunks, isFinal) => {
    const { observer } = translated('chat', 'messages', [
      Buffer.from(`${chunks.map(record).join('')}data: [DONE]\n\n`),
    ]);
    const { usage, usageSoFar } = observer.facts();
    expect([usage, usageSoFar?.output]).toEqual([isFinal ? usageSoFar : null, 7]);
  });

  test('a messages stream: if its message_delta counts the output', () => {
    const whole = messagesStream(['ab'], 'text').toString();
    const without = whole.replace(',"usage":{"output_tokens":9}', '');
    const found = [whole, without].map((text) => translated('messages', 'chat', [Buffer.from(text)]).observer.facts());
    expect(found.map(({ usage, usageSoFar }) => [usage?.output, usageSoFar?.output])).toEqual([
      [9, 9],
      [undefined, 1],
    ]);
  });
});

test('a run of plain deltas is skimmed: all but the first in one go', () => {
  const { skims, text } = translated('chat', 'messages', [
    chatStream(Array.from({ length: 50 }, () => ({ content: ' toll' }))),
  ]);
  expect(skims).toBe(1);
  expect(text.split(' toll').length - 1).toBe(50);
});

test('a control character that JSON does not take bare is the parser’s to refuse, in the midst of a run too', () => {
  const plain = 'data: {"id":"c","choices":[{"index":0,"delta":{"content":"one"}}]}\n\n';
  const stream = plain.repeat(3) + plain.replace('one', 'o\u0001e');
  const { observer, verdicts } = translated('chat', 'messages', [Buffer.from(stream)]);
  expect(verdicts.at(-1)).toBe('error');
  expect(observer.failure?.type).toBe('malformed');
});

test('bytes that are not UTF-8 come out as a parser reads them', () => {
  const plain = 'data: {"id":"c","choices":[{"index":0,"delta":{"content":"one"}}]}\n\n';
  const bytes = Buffer.from(plain.repeat(4), 'latin1');
  bytes[bytes.lastIndexOf('one') + 1] = 0xff;
  expect(translated('chat', 'messages', [bytes]).text).toBe(translated('chat', 'messages', [bytes], false).text);
});

test('an error record after the first delta is a failure, and nothing of its record goes out', () => {
  const stream =
    'data: {"id":"c","choices":[{"index":0,"delta":{"content":"a"}}]}\n\ndata: {"error":{"message":"no"}}\n\n';
  const { observer, verdicts } = translated('chat', 'messages', [Buffer.from(stream)]);
  expect(verdicts).toEqual(['replace', 'error']);
  expect(observer.failure).toMatchObject({ message: 'no' });
});

test('a stream that was cut has no end', () => {
  const whole = chatStream([{ content: 'a' }]).toString();
  const cut = whole.slice(0, whole.indexOf('data: {"id":"c","model":"up","choices":[{"index":0,"delta":{},'));
  expect(translated('chat', 'messages', [Buffer.from(cut)]).observer.endOfBytes()).toBeNull();
  const finished = whole.slice(0, whole.indexOf('data: [DONE]'));
  const { observer } = translated('chat', 'messages', [Buffer.from(finished)]);
  expect(observer.endOfBytes()?.toString()).toContain('event: message_stop');
});

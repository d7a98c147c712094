/** Tests render-stream.ts and its parts: the exact records that a client gets. */
import { describe, expect, test } from 'bun:test';
import type { FinishReason, GenerationEvent, PartOpening } from '../../../generation/event.ts';
import { unfoldGeneration } from '../../../generation/generation.ts';
import { CONTEXT, chunksIn, render } from '../testing/chat-stream.ts';

const USAGE = { input: 50, cache_read: 900, cache_write_5m: 30, cache_write_1h: 20, output: 7, reasoning: 3 };
const START = { kind: 'start', id: 'msg_1', model: 'm' } as const;
const END = { kind: 'end' } as const;
const finish = (finish_reason: FinishReason, explanation: string | null = null) =>
  ({ kind: 'finish', finish_reason, stop_sequence: null, reported: null, explanation }) as const;

/** A part with its pieces, and its events. */
function part(number: number, opening: PartOpening, ...pieces: readonly string[]): GenerationEvent[] {
  const kind = opening.kind === 'tool_call' ? 'arguments_delta' : 'text_delta';
  const deltas = pieces.map((text) => ({ kind, part: number, text }) as const);
  return [{ kind: 'part_start', part: number, opening }, ...deltas, { kind: 'part_end', part: number }];
}

const tool = (id: string, name: string, kind: 'function' | 'custom' = 'function') =>
  ({ kind: 'tool_call', id, name, tool: kind }) as const;
const TEXT = { kind: 'text' } as const;
const REASONING = { kind: 'reasoning', redacted: false, issuer: null } as const;

/** The deltas of a stream, and the finish reason of each chunk that has one. */
function deltasOf(...events: readonly GenerationEvent[]): unknown[] {
  const chunks = chunksIn(render([START, ...events]).written) as Array<{
    choices: Array<{ delta: object; finish_reason: unknown }>;
  }>;
  return chunks.flatMap(({ choices }) => choices.map(({ delta, finish_reason }) => finish_reason ?? delta)).slice(1);
}

describe('a rendered stream', () => {
  test('equals the stream of OpenAI byte by byte', () => {
    const { written, renderer } = render([
      START,
      ...part(0, TEXT, 'He', 'y\n"'),
      finish('stop'),
      { kind: 'usage', usage: USAGE },
      END,
    ]);
    const head =
      'data: {"id":"chatcmpl-gw1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":';
    expect(written).toBe(
      `${head}{"role":"assistant","content":""},"finish_reason":null}]}\n\n` +
        `${head}{"content":"He"},"finish_reason":null}]}\n\n` +
        `${head}{"content":"y\\n\\""},"finish_reason":null}]}\n\n` +
        `${head}{},"finish_reason":"stop"}]}\n\n` +
        'data: [DONE]\n\n',
    );
    expect(renderer.finish_reason).toBe('stop');
  });

  test('has usage if the client requested it: null until the chunk without choices, which comes last', () => {
    const events = [START, ...part(0, TEXT, 'a'), finish('stop'), { kind: 'usage', usage: USAGE } as const, END];
    const { written } = render(events, { ...CONTEXT, wantsUsage: true });
    const chunks = chunksIn(written) as Array<{ usage: unknown; choices: unknown[] }>;
    expect(chunks.map(({ usage }) => usage)).toEqual([
      null,
      null,
      null,
      {
        prompt_tokens: 1000,
        completion_tokens: 7,
        total_tokens: 1007,
        prompt_tokens_details: { cached_tokens: 900, cache_write_tokens: 50 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
    ]);
    expect(chunks.map(({ choices }) => choices.length)).toEqual([1, 1, 1, 0]);
    expect(written.endsWith('}\n\ndata: [DONE]\n\n')).toBe(true);
  });

  test('has no usage chunk if upstream reported none, and uses our model name if it named none', () => {
    const { written } = render([{ kind: 'start', id: null, model: null }, finish('stop'), END], {
      ...CONTEXT,
      wantsUsage: true,
    });
    expect(chunksIn(written)).toMatchObject([
      { model: 'asked-for' },
      { choices: [{ finish_reason: 'stop' }], usage: null },
    ]);
  });

  test('begins calls completely and continues with their arguments alone', () => {
    const events = [...part(0, tool('a', 'f'), '{"x"', ':1}'), finish('tool_calls')];
    expect(deltasOf(...events)).toEqual([
      { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"x"' } }] },
      { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
      'tool_calls',
    ]);
  });

  test('vector 5: numbers only tool calls, whatever is between them', () => {
    const events = [
      ...part(0, TEXT, 'a'),
      ...part(1, tool('x', 'f'), '{}'),
      ...part(2, TEXT, 'b'),
      ...part(3, tool('y', 'g'), '{}'),
    ];
    expect(deltasOf(...events)).toMatchObject([
      { content: 'a' },
      { tool_calls: [{ index: 0, id: 'x' }] },
      { tool_calls: [{ index: 0 }] },
      { content: 'b' },
      { tool_calls: [{ index: 1, id: 'y' }] },
      { tool_calls: [{ index: 1 }] },
    ]);
  });

  test('vector 1: gives a call without arguments an empty object of them', () => {
    expect(deltasOf(...part(0, tool('a', 'f'))).slice(1)).toEqual([
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
    ]);
  });

  test('has custom calls natively, without arguments too', () => {
    const start = (name: string, index: number) => ({
      tool_calls: [{ index, id: name, type: 'custom', custom: { name, input: '' } }],
    });
    expect(deltasOf(...part(0, tool('sh', 'sh', 'custom'), 'ls'), ...part(1, tool('no', 'no', 'custom')))).toEqual([
      start('sh', 0),
      { tool_calls: [{ index: 0, custom: { input: 'ls' } }] },
      start('no', 1),
    ]);
  });

  test('has reasoning and refusals, but no signature and no features of other formats', () => {
    const opaque = {
      kind: 'opaque',
      type: 'web_search_tool_result',
      native: { origin: 'messages', json: '{}' },
      words: 'w',
    } as const;
    const events: GenerationEvent[] = [
      ...part(0, REASONING, 'r'),
      { kind: 'signature', part: 0, signature: 's' },
      ...part(1, { kind: 'opaque', part: opaque }),
      ...part(2, { kind: 'reasoning', redacted: true, issuer: 'messages' }),
      ...part(3, { kind: 'refusal' }, 'no'),
    ];
    expect(deltasOf(...events)).toEqual([{ reasoning_content: 'r' }, { refusal: 'no' }]);
  });

  test('has all citations in one delta before the finish, with offsets into all the content', () => {
    const citation = (url: string, start: number | null, end: number | null) =>
      ({
        kind: 'citation',
        part: 1,
        citation: { kind: 'url', url, title: null, quote: null, start, end, native: null },
      }) as const;
    const native = {
      kind: 'citation',
      part: 1,
      citation: { kind: 'opaque', native: { origin: 'messages', json: '{}' } },
    } as const;
    const [start, first, end] = part(1, TEXT, 'cited');
    if (start === undefined || first === undefined || end === undefined) throw new Error('a part has three events');
    const cited = [start, citation('https://a', null, null), first, citation('https://b', 1, 3), native, end];
    const span = (url: string, start_index: number, end_index: number) => ({
      type: 'url_citation',
      url_citation: { start_index, end_index, title: '', url },
    });
    expect(deltasOf(...part(0, TEXT, 'one'), ...cited, finish('stop'))).toEqual([
      { content: 'one' },
      { content: 'cited' },
      { annotations: [span('https://a', 3, 8), span('https://b', 4, 6)] },
      'stop',
    ]);
  });

  test('vector 24: sends halves of a surrogate pair as they came', () => {
    const { written } = render([START, ...part(0, TEXT, '\ud83d', '\ude00')]);
    expect(Buffer.from(written).toString()).toBe(written);
    expect(deltasOf(...part(0, TEXT, '\ud83d', '\ude00'))).toEqual([{ content: '\ud83d' }, { content: '\ude00' }]);
  });

  test.each([
    ['stop', 'stop'],
    ['stop_sequence', 'stop'],
    ['length', 'length'],
    ['context_window', 'length'],
    ['tool_calls', 'tool_calls'],
    ['refusal', 'content_filter'],
    ['pause', 'stop'],
    ['other', 'stop'],
  ] as const)('vector 60 and C.3: finishes with its own word: %s is %s', (reason, word) => {
    expect(deltasOf(finish(reason))).toEqual([word]);
  });

  test.each([
    ['stop', 'tool_calls'],
    ['other', 'tool_calls'],
    ['length', 'length'],
    ['refusal', 'content_filter'],
  ] as const)('with a call, a finish reported as %s is %s, so that agents run the call', (reported, shown) => {
    expect(deltasOf(...part(0, tool('a', 'f'), '{}'), finish(reported)).at(-1)).toBe(shown);
  });

  test('vector 59: gives the reason of a refusal without other output', () => {
    expect(deltasOf(finish('refusal', 'not this'))).toEqual([{ refusal: 'not this' }, 'content_filter']);
    expect(deltasOf(...part(0, { kind: 'refusal' }, 'own words'), finish('refusal', 'not this'))).toEqual([
      { refusal: 'own words' },
      'content_filter',
    ]);
    expect(deltasOf(...part(0, { kind: 'refusal' }), finish('refusal', 'not this'))).toEqual([
      { refusal: 'not this' },
      'content_filter',
    ]);
    expect(deltasOf(finish('refusal'))).toEqual(['content_filter']);
    expect(deltasOf(finish('stop', 'no refusal'))).toEqual(['stop']);
  });

  test('bug: Portkey, an error becomes a finish reason and [DONE]: it is no chunk of ours', () => {
    const error = { kind: 'error', type: 'overloaded', message: 'busy', status: 529 } as const;
    const { written, renderer } = render([START, error]);
    expect(chunksIn(written)).toHaveLength(1);
    expect([renderer.finish_reason, written.includes('[DONE]')]).toEqual([null, false]);
  });
});

describe('an order that the format does not have', () => {
  const late = part(0, TEXT, 'a');
  test.each([
    ['text before the role', late, 'a delta came before the role'],
    ['a call before the role', part(0, tool('a', 'f')), 'a tool call came before the role'],
    ['two starts', [START, START], 'the role came twice'],
    ['text after the finish', [START, finish('stop'), ...late], 'a delta came after the finish reason'],
    ['two finishes', [START, finish('stop'), finish('stop')], 'the finish reason came after the finish reason'],
    ['an end without a finish', [START, END], '[DONE] came before the finish reason'],
    ['two ends', [START, finish('stop'), END, END], '[DONE] came after [DONE]'],
    [
      'a delta of a part that ended',
      [START, ...late, { kind: 'text_delta', part: 0, text: 'b' }],
      'a delta belongs to part 0, which is not open',
    ],
    [
      'a refusal after the finish',
      [START, finish('stop'), finish('refusal', 'x')],
      'a delta came after the finish reason',
    ],
    [
      'too many calls',
      [START, ...Array.from({ length: 129 }, (_, index) => part(index, tool(`id${index}`, 'f'), '{}')).flat()],
      'tool call 128 begins; clients take at most 128',
    ],
  ] as Array<[string, GenerationEvent[], string]>)('is not sent: %s', (_name, events, violation) => {
    const { renderer, written } = render(events);
    expect(renderer.violation).toBe(violation);
    expect(renderer.push(finish('stop')) + renderer.push(END)).toBe('');
    const before = render(events.slice(0, -1)).written;
    expect(written === before || before === '').toBe(true);
  });
});

test('renders the events of a complete answer as a stream', () => {
  const text = { kind: 'text', text: 'a', citations: [], cache_mark: null } as const;
  const events = unfoldGeneration({
    id: 'x',
    model: 'm',
    parts: [text],
    finish_reason: 'length',
    stop_sequence: null,
    reported: null,
    explanation: null,
    usage: USAGE,
    usageFlags: [],
    complete: true,
  });
  const { written, renderer } = render(events, { ...CONTEXT, wantsUsage: true });
  expect([renderer.violation, renderer.finish_reason]).toEqual([null, 'length']);
  expect(chunksIn(written)).toHaveLength(4);
});

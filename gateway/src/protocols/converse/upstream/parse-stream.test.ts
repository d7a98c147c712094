/** Tests the parsing of Converse streams: vectors 39, 40 and 42, exceptions, early ends, hostile orders. */
import { describe, expect, test } from 'bun:test';
import type { GenerationEvent } from '../../../generation/event.ts';
import { foldGeneration } from '../../../generation/generation.ts';
import { startStreamRenderer as renderChat } from '../../chat/client/render-stream.ts';
import { startStreamRenderer as renderMessages } from '../../messages/client/render-stream.ts';
import { parseFrames, type Sent } from '../testing/converse-rig.ts';

const CONTEXT = {
  id: 'x',
  createdSeconds: 0,
  model: 'm',
  wantsUsage: false,
  estimatedInputTokens: 0,
  sign: () => 'gw1.mark',
  seal: () => 'gw2.',
};
const START: Sent = ['messageStart', { role: 'assistant' }];
const delta = (contentBlockIndex: number, piece: object): Sent => [
  'contentBlockDelta',
  { contentBlockIndex, delta: piece },
];
const begin = (contentBlockIndex: number, start: object): Sent => ['contentBlockStart', { contentBlockIndex, start }];
const stop = (contentBlockIndex: number): Sent => ['contentBlockStop', { contentBlockIndex }];
const END = (stopReason: string): readonly Sent[] => [
  ['messageStop', { stopReason }],
  ['metadata', { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 }, metrics: { latencyMs: 1 } }],
];

/** The data of the records that a client gets. */
function records(events: readonly GenerationEvent[], to: 'chat' | 'messages') {
  const renderer = to === 'chat' ? renderChat(CONTEXT) : renderMessages(CONTEXT);
  const text = events.map((event) => renderer.push(event)).join('');
  expect(renderer.violation).toBeNull();
  return text.match(/(?<=^data: ).*/gm)?.flatMap((data) => (data === '[DONE]' ? [] : [JSON.parse(data)])) ?? [];
}

const THINKING: readonly Sent[] = [
  START,
  delta(0, { reasoningContent: { text: 'I look' } }),
  delta(0, { reasoningContent: { text: ' it up.' } }),
  delta(0, { reasoningContent: { signature: 'c2ln' } }),
  stop(0),
  delta(1, { text: 'Nine.' }),
  stop(1),
  ...END('end_turn'),
];

describe('vector 39: reasoning, signature, then text', () => {
  test('is thinking with its signature, then text, for messages', () => {
    const blocks = records(parseFrames(THINKING), 'messages').filter(({ type }) => type.startsWith('content_block'));
    expect(blocks.map(({ type, index, content_block, delta }) => [type, index, content_block?.type ?? delta])).toEqual([
      ['content_block_start', 0, 'thinking'],
      ['content_block_delta', 0, { type: 'thinking_delta', thinking: 'I look' }],
      ['content_block_delta', 0, { type: 'thinking_delta', thinking: ' it up.' }],
      ['content_block_delta', 0, { type: 'signature_delta', signature: 'c2ln' }],
      ['content_block_stop', 0, undefined],
      ['content_block_start', 1, 'text'],
      ['content_block_delta', 1, { type: 'text_delta', text: 'Nine.' }],
      ['content_block_stop', 1, undefined],
    ]);
  });

  test('is reasoning_content, then content, for chat completions', () => {
    const deltas = records(parseFrames(THINKING), 'chat').map(({ choices }) => choices[0].delta);
    expect(deltas.slice(1)).toEqual([
      { reasoning_content: 'I look' },
      { reasoning_content: ' it up.' },
      { content: 'Nine.' },
      {},
    ]);
  });
});

test('vector 40: blocks of server tools are not shown, and the others are numbered without gaps', () => {
  const url = 'https://harbor.example/';
  const events = parseFrames([
    START,
    begin(0, { toolUse: { name: 'nova_grounding', toolUseId: 'tooluse_1', type: 'server_tool_use' } }),
    delta(0, { toolUse: { input: '{"query":"ferry"}' } }),
    stop(0),
    begin(1, { toolResult: { status: 'success', toolUseId: 'tooluse_1', type: 'nova_grounding_result' } }),
    delta(1, { toolResult: [{ text: '[HIDDEN]' }] }),
    stop(1),
    delta(2, { text: 'Nine' }),
    stop(2),
    delta(3, { citation: { location: { web: { domain: 'harbor.example', url } } } }),
    stop(3),
    delta(4, { text: '.' }),
    stop(4),
    ...END('end_turn'),
  ]);
  const found = records(events, 'messages');
  const started = found.filter(({ type }) => type === 'content_block_start');
  expect(started.map(({ index, content_block }) => [index, content_block.type])).toEqual([
    [0, 'text'],
    [1, 'text'],
    [2, 'text'],
  ]);
  expect(found.find(({ type }) => type === 'message_delta')?.delta.stop_reason).toBe('end_turn');
  const cited = found.find(({ delta }) => delta?.type === 'citations_delta')?.delta.citation;
  expect(cited).toMatchObject({ type: 'search_result_location', source: url });
  const annotations = records(events, 'chat').flatMap(({ choices }) => choices[0].delta.annotations ?? []);
  expect(annotations.map(({ url_citation }) => url_citation.url)).toEqual([url]);
});

describe('vector 42: an intervention of the guardrail', () => {
  const events = parseFrames([START, delta(0, { text: 'Hello, {NAME}.' }), stop(0), ...END('guardrail_intervened')]);

  test('delivers the masked text, and is a content filter or a refusal', () => {
    const chat = records(events, 'chat').map(({ choices }) => choices[0]);
    expect(chat.map(({ delta }) => delta.content ?? '').join('')).toBe('Hello, {NAME}.');
    expect(chat.at(-1).finish_reason).toBe('content_filter');
    const messages = records(events, 'messages');
    expect(messages.find(({ delta }) => delta?.type === 'text_delta')?.delta.text).toBe('Hello, {NAME}.');
    expect(messages.find(({ type }) => type === 'message_delta')?.delta.stop_reason).toBe('refusal');
  });
});

describe('the end of a stream', () => {
  const kinds = (sent: readonly Sent[]) => parseFrames(sent).map(({ kind }) => kind);

  test('is messageStop and metadata; without metadata it is complete, and its usage unknown', () => {
    expect(kinds([START, ...END('end_turn')])).toEqual(['start', 'finish', 'usage', 'end']);
    expect(kinds([START, ...END('end_turn').slice(0, 1)])).toEqual(['start', 'finish', 'end']);
    expect(kinds([START, delta(0, { text: 'a' })])).toEqual(['start', 'part_start', 'text_delta']);
  });

  test('is complete where metadata comes before messageStop', () => {
    const [end, metadata] = END('end_turn');
    const events = parseFrames([START, delta(0, { text: 'a' }), metadata ?? START, stop(0), end ?? START]);
    expect(events.map(({ kind }) => kind).slice(3)).toEqual(['usage', 'part_end', 'finish', 'end']);
  });

  test('completes texts that are open, and no calls', () => {
    expect(kinds([START, delta(0, { text: 'a' }), ...END('end_turn')]).slice(3)).toEqual([
      'part_end',
      'finish',
      'usage',
      'end',
    ]);
    expect(kinds([START, begin(0, { toolUse: { name: 'f', toolUseId: 'a' } }), ...END('tool_use')]).at(-1)).toBe(
      'malformed',
    );
  });

  test.each(['malformed_model_output', 'malformed_tool_use'])('that is %s is a fault of the provider', (reason) => {
    expect(parseFrames([START, ...END(reason)]).slice(1)).toEqual([
      { kind: 'malformed', message: `the model's output cannot be read: ${reason}` },
    ]);
  });

  test.each<readonly [string, string, number | null]>([
    ['throttlingException', 'Too many tokens, please wait before trying again.', 429],
    ['validationException', 'no', 400],
    ['modelTimeoutException', 'no', 408],
    ['modelStreamErrorException', 'no', 424],
    ['internalServerException', 'no', 500],
    ['serviceUnavailableException', 'no', 503],
    ['unknownException', 'no', null],
  ])('that is a %s has its message and status', (type, message, status) => {
    const sent: readonly Sent[] = [START, delta(0, { text: 'a' }), [type, message], ...END('end_turn')];
    expect(parseFrames(sent).slice(3)).toEqual([{ kind: 'error', type, message, status }]);
  });
});

const HIDDEN = { redactedContent: 'aGk=' };

describe('pieces', () => {
  test('of a call are its arguments; a call without pieces has an empty object', () => {
    const sent: readonly Sent[] = [
      START,
      begin(3, { toolUse: { name: 'f', toolUseId: 'a.b:c' } }),
      delta(3, { toolUse: { input: '{"n":1.' } }),
      delta(3, { toolUse: { input: '00}' } }),
      stop(3),
      begin(4, { toolUse: { name: 'g', toolUseId: 'd' } }),
      stop(4),
      ...END('tool_use'),
    ];
    expect(foldGeneration(parseFrames(sent)).parts).toMatchObject([
      { kind: 'tool_call', id: 'a.b:c', name: 'f', arguments: '{"n":1.00}' },
      { kind: 'tool_call', id: 'd', name: 'g', arguments: '{}' },
    ]);
  });

  test('of calls have ids of their own, though upstream repeats one', () => {
    const calls = [0, 1].flatMap((index) => [begin(index, { toolUse: { name: 'f', toolUseId: 'a' } }), stop(index)]);
    const { parts } = foldGeneration(parseFrames([START, ...calls, ...END('tool_use')]));
    expect(parts).toMatchObject([{ id: 'a' }, { id: 'tooluse_1' }]);
  });

  test('of reasoning may be signed at once', () => {
    const piece = delta(0, { reasoningContent: { text: 'I look.', signature: 'c2ln' } });
    const { parts } = foldGeneration(parseFrames([START, piece, stop(0), ...END('end_turn')]));
    expect(parts).toMatchObject([{ kind: 'reasoning', text: 'I look.', signature: 'c2ln' }]);
  });

  test('of redacted reasoning are joined as bytes', () => {
    const pieces = ['aA==', 'aQ=='].map((redactedContent) => delta(0, { reasoningContent: { redactedContent } }));
    const { parts } = foldGeneration(parseFrames([START, ...pieces, stop(0), ...END('end_turn')]));
    expect(parts).toEqual([{ kind: 'reasoning', text: '', signature: 'aGk=', redacted: true, issuer: 'messages' }]);
  });

  test('of an image, which no client can get, are one opaque part', () => {
    const sent: readonly Sent[] = [
      START,
      begin(0, { image: { format: 'png' } }),
      delta(0, { image: { source: { bytes: 'aGk=' } } }),
      stop(0),
      ...END('end_turn'),
    ];
    expect(foldGeneration(parseFrames(sent)).parts).toMatchObject([{ kind: 'opaque', type: 'image', words: null }]);
    expect(records(parseFrames(sent), 'messages').map(({ type }) => type)).toEqual([
      'message_start',
      'message_delta',
      'message_stop',
    ]);
  });

  test('of an empty block are nothing', () => {
    expect(foldGeneration(parseFrames([START, delta(0, { text: '' }), stop(0), ...END('end_turn')])).parts).toEqual([]);
  });

  test.each<readonly [string, readonly Sent[]]>([
    ['before the message', [delta(0, { text: 'a' })]],
    ['of a second message', [START, START]],
    ['of no block', [START, ['contentBlockDelta', { delta: { text: 'a' } }]]],
    ['without a delta', [START, ['contentBlockDelta', { contentBlockIndex: 0 }]]],
    ['of a call that has not begun', [START, delta(0, { toolUse: { input: '{}' } })]],
    ['of a call without a name', [START, begin(0, { toolUse: { toolUseId: 'a' } })]],
    ['of two kinds in a block', [START, delta(0, { text: 'a' }), delta(0, { reasoningContent: { text: 'b' } })]],
    ['of hidden reasoning in a text', [START, delta(0, { text: 'a' }), delta(0, { reasoningContent: HIDDEN })]],
    [
      'of hidden reasoning in open',
      [START, delta(0, { reasoningContent: { text: 'a' } }), delta(0, { reasoningContent: HIDDEN })],
    ],
    [
      'of a signature in a text',
      [START, delta(0, { text: 'a' }), delta(0, { reasoningContent: { signature: 'c2ln' } })],
    ],
    [
      'of arguments that are no text',
      [START, begin(0, { toolUse: { name: 'f' } }), delta(0, { toolUse: { input: {} } })],
    ],
    ['of a block that begins twice', [START, delta(0, { text: 'a' }), begin(0, { toolUse: { name: 'f' } })]],
  ])('%s are malformed', (_, sent) => {
    expect(parseFrames([...sent, ...END('end_turn')]).at(-1)?.kind).toBe('malformed');
  });

  test('of an unknown type are skipped', () => {
    expect(parseFrames([START, ['contextEvent', { a: 1 }], ...END('end_turn')]).map(({ kind }) => kind)).toEqual([
      'start',
      'finish',
      'usage',
      'end',
    ]);
  });
});

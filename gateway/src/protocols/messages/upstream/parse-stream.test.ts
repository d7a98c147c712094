/** Tests parse-stream.ts: the result for each upstream event, and that no event can do harm. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GenerationEvent } from '../../../generation/event.ts';
import { GenerationFold } from '../../../generation/generation.ts';
import { foldedStream, parsed, record } from '../testing/answer-events.ts';

const message = { id: 'msg_1', model: 'claude', usage: { input_tokens: 1000, output_tokens: 1 } };
const start = record('message_start', { message });
const opens = (index: unknown, content_block: unknown) => record('content_block_start', { index, content_block });
const adds = (index: unknown, delta: unknown) => record('content_block_delta', { index, delta });
const stops = (index: unknown) => record('content_block_stop', { index });
const stopped = (stop_reason: unknown, usage: object = { output_tokens: 9 }, more: object = {}) =>
  record('message_delta', { delta: { stop_reason, stop_sequence: null, ...more }, usage });
const end = record('message_stop');
const text = { type: 'text', text: '' };
const tool = { type: 'tool_use', id: 't', name: 'get', input: {} };
const word = (piece: unknown) => ({ type: 'text_delta', text: piece });
const json = (partial_json: unknown) => ({ type: 'input_json_delta', partial_json });

/** The whole answer of a stream with these records between its start and its end. */
const answer = (...records: string[]) => foldedStream([start, ...records, stopped('end_turn'), end].join(''));
/** The last event of a stream that begins with these records. */
const last = (...records: string[]) => parsed(start + records.join('')).at(-1);

test('a stream of every kind of block becomes its parts', () => {
  const stream = [
    start,
    record('ping'),
    opens(0, { type: 'thinking', thinking: '', signature: '' }),
    adds(0, { type: 'thinking_delta', thinking: 'hm' }),
    adds(0, { type: 'signature_delta', signature: 'EqQ=' }),
    stops(0),
    opens(1, { type: 'redacted_thinking', data: 'blob' }),
    stops(1),
    opens(2, text),
    adds(2, word('Hello')),
    stops(2),
    opens(3, tool),
    adds(3, json('')),
    adds(3, json('{"a":')),
    adds(3, json('1}')),
    stops(3),
    stopped('tool_use'),
    end,
  ].join('');
  expect(parsed(stream)).toEqual([
    { kind: 'start', id: 'msg_1', model: 'claude' },
    {
      kind: 'usage',
      usage: { input: 1000, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 1, reasoning: 0 },
    },
    { kind: 'part_start', part: 0, opening: { kind: 'reasoning', redacted: false, issuer: 'messages' } },
    { kind: 'text_delta', part: 0, text: 'hm' },
    { kind: 'signature', part: 0, signature: 'EqQ=' },
    { kind: 'part_end', part: 0 },
    { kind: 'part_start', part: 1, opening: { kind: 'reasoning', redacted: true, issuer: 'messages' } },
    { kind: 'signature', part: 1, signature: 'blob' },
    { kind: 'part_end', part: 1 },
    { kind: 'part_start', part: 2, opening: { kind: 'text' } },
    { kind: 'text_delta', part: 2, text: 'Hello' },
    { kind: 'part_end', part: 2 },
    { kind: 'part_start', part: 3, opening: { kind: 'tool_call', id: 't', name: 'get', tool: 'function' } },
    { kind: 'arguments_delta', part: 3, text: '{"a":' },
    { kind: 'arguments_delta', part: 3, text: '1}' },
    { kind: 'part_end', part: 3 },
    {
      kind: 'usage',
      usage: { input: 1000, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 9, reasoning: 0 },
    },
    { kind: 'finish', finish_reason: 'tool_calls', stop_sequence: null, reported: 'tool_use', explanation: null },
    { kind: 'end' },
  ]);
});

describe('blocks', () => {
  test('belong together by their index, in whatever order the indices come and however they mix', () => {
    const { parts } = answer(
      opens(7, tool),
      opens(2, text),
      adds(7, json('{')),
      adds(2, word('a')),
      adds(7, json('}')),
      stops(2),
      stops(7),
    );
    expect(parts).toMatchObject([
      { kind: 'tool_call', arguments: '{}' },
      { kind: 'text', text: 'a' },
    ]);
  });

  test('counts the initial content of a block', () => {
    const { parts } = answer(
      opens(0, { type: 'text', text: 'a' }),
      adds(0, word('b')),
      stops(0),
      opens(1, { type: 'thinking', thinking: 'c', signature: 's' }),
      stops(1),
    );
    expect(parts).toMatchObject([{ text: 'ab' }, { text: 'c', signature: 's' }]);
  });

  test('vector 22: thinking that is not shown keeps its signature', () => {
    const { parts } = answer(
      opens(0, { type: 'thinking', thinking: '' }),
      adds(0, { type: 'signature_delta', signature: 'EqQ=' }),
      stops(0),
    );
    expect(parts).toEqual([{ kind: 'reasoning', text: '', signature: 'EqQ=', redacted: false, issuer: 'messages' }]);
  });

  test('an input in the start event is emitted once, as written', () => {
    const started = `event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"n","input": {"n":12345678901234567890, "n":1.0}}}\n\n`;
    expect(answer(started, stops(0)).parts).toMatchObject([{ arguments: '{"n":12345678901234567890, "n":1.0}' }]);
    expect(answer(started, adds(0, json('{"n":2}')), stops(0)).parts).toMatchObject([{ arguments: '{"n":2}' }]);
  });

  test.each([[{}], [undefined], [null], ['x'], [[1]]])(
    'a call without input (%p) and without deltas has the arguments {}',
    (input) => {
      const { parts } = answer(opens(0, { ...tool, input }), stops(0));
      expect(parts).toMatchObject([{ arguments: '{}' }]);
    },
  );

  test('a call without an id gets one of its own', () => {
    const { parts } = answer(opens(0, { ...tool, id: '' }), stops(0), opens(1, { ...tool, id: undefined }), stops(1));
    expect(parts).toMatchObject([{ id: 'toolu_msg_1_0' }, { id: 'toolu_msg_1_1' }]);
  });

  test('blocks of server tools, and unknown blocks, are kept complete with their deltas', () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
    const { parts } = answer(
      opens(0, search),
      adds(0, json('{"query":')),
      adds(0, json('"x"}')),
      stops(0),
      opens(1, { type: 'compaction', content: null }),
      adds(1, { type: 'compaction_delta', content: 'sum' }),
      stops(1),
      opens(2, { type: 'new_block', n: 1 }),
      adds(2, { type: 'new_delta' }),
      stops(2),
    );
    expect(parts).toEqual([
      opaque('server_tool_use', '{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"x"}}'),
      opaque('compaction', '{"type":"compaction","content":"sum"}'),
      opaque('new_block', '{"type":"new_block","n":1}'),
    ]);
  });

  test('an opaque block whose deltas were cut off keeps its initial content', () => {
    const { parts } = answer(opens(0, { type: 'server_tool_use', input: {} }), adds(0, json('{"query":')), stops(0));
    expect(parts).toEqual([opaque('server_tool_use', '{"type":"server_tool_use","input":{}}')]);
  });

  test('citations are kept as written', () => {
    const cited = `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://x.example","title":"T","cited_text":"c","n":12345678901234567890}}}\n\n`;
    const place = { type: 'char_location', cited_text: 'c' };
    const { parts } = answer(
      opens(0, text),
      cited,
      adds(0, word('a')),
      adds(0, { type: 'citations_delta', citation: place }),
      stops(0),
    );
    const json =
      '{"type":"web_search_result_location","url":"https://x.example","title":"T","cited_text":"c","n":12345678901234567890}';
    expect(parts).toMatchObject([
      {
        citations: [
          {
            kind: 'url',
            url: 'https://x.example',
            title: 'T',
            quote: 'c',
            start: null,
            end: null,
            native: { origin: 'messages', json },
          },
          { kind: 'opaque', native: { origin: 'messages', json: JSON.stringify(place) } },
        ],
      },
    ]);
  });

  test('blocks in message_start are read: an answer continues after a server tool this way', () => {
    const content = [{ type: 'tool_use', id: 't', name: 'n', input: { a: 1 } }];
    const begun = record('message_start', { message: { ...message, content, stop_reason: 'tool_use' } });
    expect(foldedStream(begun + end)).toMatchObject({
      parts: [{ kind: 'tool_call', arguments: '{"a":1}' }],
      finish_reason: 'tool_calls',
      complete: true,
    });
  });

  test('blocks that upstream never closed are closed by the end, except calls', () => {
    expect(answer(opens(0, text), adds(0, word('a')))).toMatchObject({ parts: [{ text: 'a' }], complete: true });
    expect(last(opens(0, tool), adds(0, json('{')), stopped('tool_use'), end)).toEqual({
      kind: 'malformed',
      message: 'upstream sent message_stop while block 0, a tool call, is open',
    });
  });
});

describe('usage', () => {
  test('vector 15: a second message_delta overwrites the first', () => {
    const { usage } = answer(stopped(null, { output_tokens: 5 }), stopped('end_turn', { output_tokens: 8 }));
    expect(usage).toMatchObject({ input: 1000, output: 9 });
    expect(parsed(start + stopped('end_turn', { output_tokens: 8 })).at(-1)).toMatchObject({ usage: { output: 8 } });
  });

  test('vector 16: an input of null keeps the value of message_start', () => {
    expect(last(stopped('end_turn', { input_tokens: null, output_tokens: 3 }))).toMatchObject({
      usage: { input: 1000, output: 3 },
    });
  });

  test('bugs: LiteLLM #31069, CLIProxyAPI #5617, cache counters lost on the stream', () => {
    const counted = {
      input_tokens: 10,
      cache_read_input_tokens: 900,
      cache_creation_input_tokens: 50,
      output_tokens: 3,
    };
    expect(last(stopped('end_turn', counted))).toMatchObject({
      usage: { input: 10, cache_read: 900, cache_write_5m: 50 },
    });
  });
});

describe('the end', () => {
  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop_sequence'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'context_window'],
    ['tool_use', 'tool_calls'],
    ['pause_turn', 'pause'],
    ['refusal', 'refusal'],
    ['compaction', 'context_window'],
    ['a_new_reason', 'other'],
  ])('%s is %s', (stop_reason, finish_reason) => {
    const { finish_reason: found, reported } = foldedStream(start + stopped(stop_reason) + end);
    expect<unknown>({ found, reported }).toEqual({ found: finish_reason, reported: stop_reason });
  });

  test('vector 59: a refusal before any output has its reason', () => {
    const details = { stop_details: { type: 'refusal', category: 'cyber', explanation: 'blocked' } };
    expect(foldedStream(start + stopped('refusal', {}, details) + end)).toMatchObject({
      parts: [],
      finish_reason: 'refusal',
      explanation: 'blocked',
    });
  });

  test('a later message_delta without a reason keeps the reason', () => {
    expect(foldedStream(start + stopped('max_tokens') + stopped(null) + end).finish_reason).toBe('length');
  });

  test('a stop text is named', () => {
    expect(foldedStream(start + stopped('stop_sequence', {}, { stop_sequence: 'END' }) + end).stop_sequence).toBe(
      'END',
    );
  });

  test('bug: several, silent truncation: an answer without message_stop is never complete', () => {
    const { complete, finish_reason } = foldedStream(start + opens(0, text) + stops(0) + stopped('end_turn'));
    expect({ complete, finish_reason }).toEqual({ complete: false, finish_reason: null });
  });

  test('ignores records after it', () => {
    expect(parsed(start + stopped('end_turn') + end + start + record('error')).at(-1)).toEqual({ kind: 'end' });
  });
});

describe('errors (bug: Envoy AI Gateway, in-stream errors and broken records skipped)', () => {
  test.each([
    ['overloaded_error', 529],
    ['rate_limit_error', 429],
    ['api_error', null],
  ])('%s', (type, status) => {
    expect(last(record('error', { error: { type, message: 'm' } }), start)).toEqual({
      kind: 'error',
      type,
      message: 'm',
      status,
    });
  });

  test('may come first, without its type, and without words', () => {
    const expected: GenerationEvent[] = [
      { kind: 'error', type: 'api_error', message: 'upstream gave no reason', status: null },
    ];
    expect(parsed('event: error\ndata: {}\n\n')).toEqual(expected);
    expect(parsed('data: {"error":{}}\n\n')).toEqual(expected);
  });
});

describe('malformed', () => {
  test.each([
    ['a record that is not a JSON object', ['data: <html>\n\n']],
    ['a record that is not a JSON object', ['data: [DONE]\n\n']],
    ['a second message_start', [start]],
    ['a delta for block 0, which is not open', [adds(0, word('a'))]],
    ['a delta for block of type undefined, which is not open', [opens(0, text), adds(undefined, word('a'))]],
    ['a delta for block 0, which is not open', [opens(0, text), stops(0), adds(0, word('a'))]],
    ['a stop of block 1000000000, which is not open', [stops(1e9)]],
    ['a content_block_start with the index -1', [opens(-1, text)]],
    ['a content_block_start with the index of type string', [opens('0', text)]],
    ['a second start of block 0, which is open', [opens(0, text), opens(0, text)]],
    ['a content block that is not an object', [opens(0, [])]],
    ['a content_block_delta without a delta', [opens(0, text), adds(0, 'x')]],
    ['a delta of type text_delta for a block of type tool_use', [opens(0, tool), adds(0, word('x'))]],
    ['a delta of type input_json_delta for a block of type text', [opens(0, text), adds(0, json('{}'))]],
    ['text_delta without text', [opens(0, text), adds(0, word(7))]],
    ['input_json_delta without text', [opens(0, tool), adds(0, json({}))]],
  ])('%s', (what, records) => {
    expect(last(...records, stopped('end_turn'), end)).toEqual({ kind: 'malformed', message: `upstream sent ${what}` });
  });

  test('blocks without type, calls without name, blocks before the message', () => {
    expect(last(opens(0, {}))).toMatchObject({ message: 'upstream sent a content block without a type' });
    expect(last(opens(0, { ...tool, name: '' }))).toMatchObject({
      message: 'upstream sent a tool_use block without a name',
    });
    expect(parsed(opens(0, text))).toEqual([
      { kind: 'malformed', message: 'upstream sent content_block_start before message_start' },
    ]);
  });

  test('an index of 1e9 costs no memory, ten thousand blocks are too many', () => {
    expect(answer(opens(1e9, text), adds(1e9, word('a')), stops(1e9)).parts).toHaveLength(1);
    const flood = Array.from({ length: 10_001 }, (_, index) => opens(index, text));
    expect(last(...flood)).toEqual({ kind: 'malformed', message: 'upstream sent more than 10000 content blocks' });
  });

  test('is not: unknown events and deltas, members of null, a missing type where the event line names it', () => {
    const untyped = `event: content_block_delta\ndata: ${JSON.stringify({ index: 0, delta: word('a') })}\n\n`;
    const { parts } = answer(
      record('new_event', { x: 1 }),
      opens(0, text),
      adds(0, word(null)),
      adds(0, { type: 'new_delta' }),
      untyped,
      stops(0),
    );
    expect(parts).toMatchObject([{ text: 'a' }]);
  });

  test('malformed input never throws, and the events can always be folded', () => {
    const member = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(0, 1, 'text_delta', 'text', 'tool_use', 'input_json_delta'),
    );
    const inner = fc.record(
      { type: member, text: member, id: member, name: member, partial_json: member },
      { requiredKeys: [] },
    );
    const type = fc.constantFrom(
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
      'x',
    );
    const content = fc.oneof(member, inner);
    const hostile = fc.tuple(
      type,
      fc.record(
        { index: content, delta: content, content_block: content, message: content, usage: content, error: content },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(fc.array(hostile), (events) => {
        const fold = new GenerationFold();
        for (const event of parsed(start + events.map(([name, members]) => record(name, members)).join('')))
          fold.push(event);
        expect(fold.result().id).toBe('msg_1');
      }),
    );
  });
});

test('vector 24: halves of a character in two deltas come joined', () => {
  const half = (code: string) =>
    `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${code}"}}\n\n`;
  const events = parsed(start + opens(0, text) + half('a\\ud83d') + half('\\ude00b') + half('\\ud83d') + stops(0));
  expect(events.flatMap((event) => (event.kind === 'text_delta' ? [event.text] : []))).toEqual(['a', '😀b', '\ud83d']);
});

function opaque(type: string, json: string) {
  return { kind: 'opaque' as const, type, native: { origin: 'messages', json }, words: null };
}

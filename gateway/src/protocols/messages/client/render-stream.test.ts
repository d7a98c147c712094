/**
 * Tests render-stream.ts: the output to a messages client for canonical events, by the vectors of wire reference C.8.
 */
import { describe, expect, test } from 'bun:test';
import type { GenerationEvent } from '../../../generation/event.ts';
import { ZERO_USAGE } from '../../../generation/usage.ts';
import * as make from '../testing/answer-events.ts';
import { CONTEXT, end, ended, finish, foldedStream, parsed, rendered, start, told } from '../testing/answer-events.ts';
import { judgeStream } from '../testing/stream-judge.ts';

const counters = { ...ZERO_USAGE, input: 50, cache_read: 900, cache_write_5m: 50, output: 7, reasoning: 2 };
const usage: GenerationEvent = { kind: 'usage', usage: counters };

/** The events between the start and the end of the message, and the last delta. */
function body(events: readonly GenerationEvent[]) {
  const { text, violation, finish_reason } = rendered([start, ...events, end]);
  expect(violation).toBeNull();
  expect(judgeStream(text, true)).toEqual([]);
  const all = told(text);
  return { blocks: all.slice(1, -2), last: all.at(-2), finish_reason, content: foldedStream(text).parts };
}

const opens = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
const adds = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta });
const stops = (index: number) => ({ type: 'content_block_stop', index });
const tool = (id: string) => ({ type: 'tool_use', id, name: 'get', input: {} });
const json = (partial_json: string) => ({ type: 'input_json_delta', partial_json });
const word = (text: string) => ({ type: 'text_delta', text });

test('a stream is message_start with every member, blocks, one message_delta, message_stop', () => {
  const { text, finish_reason } = rendered([
    start,
    make.speech(0),
    make.says(0, 'hi'),
    ended(0),
    usage,
    finish('stop'),
    end,
  ]);
  expect(told(text)).toEqual([
    {
      type: 'message_start',
      message: {
        id: 'msg_a1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        container: null,
        diagnostics: null,
        usage: {
          input_tokens: 1000,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 0,
          output_tokens_details: { thinking_tokens: 0 },
          server_tool_use: null,
          cache_creation: null,
          service_tier: null,
          inference_geo: null,
          speed: null,
        },
      },
    },
    opens(0, { type: 'text', text: '' }),
    adds(0, word('hi')),
    stops(0),
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null, stop_details: null, container: null },
      usage: {
        input_tokens: 50,
        cache_creation_input_tokens: 50,
        cache_read_input_tokens: 900,
        output_tokens: 7,
        output_tokens_details: { thinking_tokens: 2 },
        server_tool_use: null,
      },
    },
    { type: 'message_stop' },
  ]);
  expect(finish_reason).toBe('end_turn');
});

test('an answer without a model has the requested model’s name', () => {
  const { text } = rendered([{ kind: 'start', id: null, model: null }]);
  expect(told(text)).toMatchObject([{ message: { model: 'public-model', id: 'msg_a1' } }]);
});

describe('tool calls', () => {
  test.each([[[]], [[make.argues(0, ' ')]]])(
    'vector 1: a call with no arguments sends one {} fragment (%j)',
    (written) => {
      const { content } = body([make.calls(0, 'call_1'), ...written, ended(0), finish('tool_calls')]);
      expect(content).toMatchObject([
        { kind: 'tool_call', id: 'call_1', arguments: expect.stringMatching(/^ ?\{\}$/) },
      ]);
    },
  );

  test('vector 1: exactly one fragment, and it is {}', () => {
    expect(body([make.calls(0, 'c'), ended(0), finish('stop')]).blocks).toEqual([
      opens(0, tool('c')),
      adds(0, json('{}')),
      stops(0),
    ]);
  });

  test('vector 3: two consecutive calls are two blocks, each sent from its first piece on', () => {
    const events = [
      start,
      make.calls(0, 'a'),
      make.argues(0, '{"x":'),
      make.argues(0, '1}'),
      make.calls(1, 'b'),
      make.argues(1, '{}'),
      ended(0),
      ended(1),
    ];
    const { pieces } = rendered(events);
    expect(pieces.slice(1).map((piece) => told(piece))).toEqual([
      [],
      [opens(0, tool('a')), adds(0, json('{"x":'))],
      [adds(0, json('1}'))],
      [stops(0)],
      [opens(1, tool('b')), adds(1, json('{}'))],
      [],
      [stops(1)],
    ]);
  });

  test('vector 4: two calls mixed fragment by fragment: the first is live, the second waits, both are intact', () => {
    const events = [
      start,
      make.calls(0, 'a'),
      make.calls(1, 'b'),
      make.argues(0, '{"x":"}'),
      make.argues(1, '{"y"'),
      make.argues(0, '"}'),
      make.argues(1, ':2}'),
      ended(0),
      ended(1),
    ];
    const { pieces } = rendered(events);
    expect(pieces.slice(1).map((piece) => told(piece))).toEqual([
      [],
      [],
      [opens(0, tool('a')), adds(0, json('{"x":"}'))],
      [],
      [adds(0, json('"}')), stops(0), opens(1, tool('b')), adds(1, json('{"y"'))],
      [adds(1, json(':2}'))],
      [],
      [stops(1)],
    ]);
  });

  test('text that begins inside a call waits until the call is complete, and keeps its position', () => {
    const { content } = body([
      make.calls(0, 'a'),
      make.argues(0, '{'),
      make.speech(1),
      make.says(1, 'so'),
      ended(1),
      make.argues(0, '}'),
      ended(0),
      finish('stop'),
    ]);
    expect(content).toMatchObject([
      { kind: 'tool_call', arguments: '{}' },
      { kind: 'text', text: 'so' },
    ]);
  });

  test('vector 10: finish stop after a call is tool_use (bug: LiteLLM #34692, end_turn and an empty text block)', () => {
    const { last, blocks, finish_reason } = body([
      make.speech(0),
      ended(0),
      make.calls(1, 'a'),
      ended(1),
      finish('stop'),
    ]);
    expect(last).toMatchObject({ delta: { stop_reason: 'tool_use' } });
    expect(blocks.map((block) => (block as { type: string }).type)).toEqual([
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
    ]);
    expect(finish_reason).toBe('tool_use');
  });

  test('vector 11: finish tool_calls without a call is end_turn', () => {
    expect(body([finish('tool_calls')]).last).toMatchObject({ delta: { stop_reason: 'end_turn' } });
  });

  test('bug: LiteLLM, arguments lost on the stream (#25321, #25561): complete calls in one event arrive complete', () => {
    const { content } = body([
      make.calls(0, 'a'),
      make.argues(0, '{"big":12345678901234567890}'),
      ended(0),
      make.calls(1, 'b'),
      make.argues(1, '{"b":[]}'),
      ended(1),
      finish('tool_calls'),
    ]);
    expect(content).toMatchObject([{ arguments: '{"big":12345678901234567890}' }, { arguments: '{"b":[]}' }]);
  });

  test('ids that the format refuses, that are missing or come twice are replaced, each by its own', () => {
    const ids = ['fc_1|call:2', '', '', 'same', 'same', 'x'.repeat(200)];
    const { content } = body([...ids.flatMap((id, part) => [make.calls(part, id), ended(part)]), finish('stop')]);
    const given = content.map((part) => (part.kind === 'tool_call' ? part.id : ''));
    expect(new Set(given).size).toBe(ids.length);
    for (const id of given) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,128}$/);
    expect(given[3]).toBe('same');
  });

  test('free text of a custom tool is one argument, input', () => {
    const { content } = body([
      make.calls(0, 'a', 'sh', 'custom'),
      make.argues(0, 'say "h'),
      make.argues(0, 'i"\n'),
      ended(0),
      make.calls(1, 'b', 'sh', 'custom'),
      ended(1),
      finish('stop'),
    ]);
    expect(content).toMatchObject([{ arguments: '{"input":"say \\"hi\\"\\n"}' }, { arguments: '{"input":""}' }]);
  });
});

describe('arguments that are no JSON object', () => {
  test.each(['{"a":', '{"a":1}}', '{a:1}', '[1]', 'null', '"x"', '{"a":1} x'])('break the stream: %s', (written) => {
    const { violation, text } = rendered([
      start,
      make.calls(0, 'a'),
      make.argues(0, written),
      ended(0),
      finish('tool_calls'),
      end,
    ]);
    expect(violation).toBe('the arguments of a call of "get" are not a JSON object');
    expect(text).not.toContain('message_stop');
    expect(text).not.toContain('content_block_stop');
  });

  test.each([
    ['length', 'max_tokens'],
    ['refusal', 'refusal'],
    ['context_window', 'model_context_window_exceeded'],
  ] as const)('are kept as received where the answer was cut by %s', (reason, stop_reason) => {
    const { content, last } = body([
      make.calls(0, 'a'),
      make.calls(1, 'b'),
      make.argues(0, '{"a":"x'),
      make.argues(1, '{"b'),
      ended(0),
      ended(1),
      finish(reason),
    ]);
    expect(content).toMatchObject([{ arguments: '{"a":"x' }, { arguments: '{"b' }]);
    expect(last).toMatchObject({ delta: { stop_reason } });
  });

  test('vector 30: an end of the source inside a call leaves the call open', () => {
    const { text } = rendered([start, make.calls(0, 'a'), make.argues(0, '{"a":1')]);
    expect(judgeStream(text, false)).toEqual([]);
    expect(text).not.toContain('content_block_stop');
    expect(text).not.toContain('message_delta');
  });
});

describe('reasoning', () => {
  test('has a signature before its stop: ours where it came without one', () => {
    expect(body([make.thinks(0), make.says(0, 'hm'), ended(0), finish('stop')]).blocks).toEqual([
      opens(0, { type: 'thinking', thinking: '', signature: '' }),
      adds(0, { type: 'thinking_delta', thinking: 'hm' }),
      adds(0, { type: 'signature_delta', signature: 'gw1.2' }),
      stops(0),
    ]);
  });

  test.each([
    ['messages', 'EqQ='],
    [null, 'gw2.'],
    ['responses', 'gw2.'],
  ])('keeps a signature of its own format, and seals others (%p)', (issuer, signature) => {
    const signed: GenerationEvent = { kind: 'signature', part: 0, signature: 'EqQ=' };
    const { content } = body([make.thinks(0, issuer), make.says(0, 'hm'), signed, ended(0), finish('stop')]);
    expect(content).toMatchObject([{ kind: 'reasoning', text: 'hm', signature }]);
  });

  test('vector 20: only reasoning, then length: one thinking block and max_tokens', () => {
    const { content, last } = body([make.thinks(0), make.says(0, 'hm'), ended(0), finish('length')]);
    expect(content).toHaveLength(1);
    expect(last).toMatchObject({ delta: { stop_reason: 'max_tokens' } });
  });

  test('vector 21: reasoning after text is a block of its own (bug: LiteLLM #32357, thinking inside a text block)', () => {
    const { content } = body([
      make.thinks(0),
      make.says(0, 'a'),
      ended(0),
      make.speech(1),
      make.says(1, 'b'),
      ended(1),
      make.thinks(2),
      make.says(2, 'c'),
      ended(2),
      finish('stop'),
    ]);
    expect(content.map((part) => [part.kind, 'text' in part ? part.text : ''])).toEqual([
      ['reasoning', 'a'],
      ['text', 'b'],
      ['reasoning', 'c'],
    ]);
  });

  test('vector 22: thinking without text but with a signature is kept', () => {
    const signed: GenerationEvent = { kind: 'signature', part: 0, signature: 'EqQ=' };
    expect(body([make.thinks(0, 'messages'), signed, ended(0), finish('stop')]).content).toMatchObject([
      { text: '', signature: 'EqQ=' },
    ]);
  });

  test('redacted is shown where it came from this format', () => {
    const signed = (part: number): GenerationEvent => ({ kind: 'signature', part, signature: 'blob' });
    const { blocks } = body([
      make.thinks(0, 'messages', true),
      signed(0),
      ended(0),
      make.thinks(1, null, true),
      signed(1),
      ended(1),
      finish('stop'),
    ]);
    expect(blocks).toEqual([opens(0, { type: 'redacted_thinking', data: 'blob' }), stops(0)]);
  });
});

describe('usage', () => {
  test('vector 12: counters after the finish are in the only message_delta', () => {
    const { last } = body([finish('stop'), usage]);
    expect(last).toMatchObject({ usage: { input_tokens: 50, output_tokens: 7 } });
  });

  test('vector 13: of growing counters the last counts', () => {
    const less: GenerationEvent = { kind: 'usage', usage: { ...counters, output: 3 } };
    expect(body([less, usage, finish('stop')]).last).toMatchObject({ usage: { output_tokens: 7 } });
  });

  test('vector 18: message_start has the estimate and no output (bugs: Envoy AI Gateway, CLIProxyAPI #1700, input 0)', () => {
    expect(told(rendered([start]).text)).toMatchObject([
      { message: { usage: { input_tokens: 1000, output_tokens: 0 } } },
    ]);
  });

  test('vector 18b: where all was cached, one token is shown as not cached', () => {
    const cached: GenerationEvent = { kind: 'usage', usage: { ...ZERO_USAGE, cache_read: 1000, output: 1 } };
    expect(body([cached, finish('stop')]).last).toMatchObject({
      usage: { input_tokens: 1, cache_read_input_tokens: 999 },
    });
  });

  test('is estimated where the source counted nothing: never without output_tokens', () => {
    const { last } = body([make.speech(0), make.says(0, '12é45'), ended(0), finish('stop')]);
    expect(last).toMatchObject({ usage: { input_tokens: 1000, output_tokens: 2 } });
  });

  test('is estimated alike wherever a character is split: its halves are no characters of their own', () => {
    const halves = [make.says(0, '\ud83d'), make.says(0, '\ude00')];
    const { last } = body([make.speech(0), ...halves, ended(0), finish('stop')]);
    expect(last).toMatchObject({ usage: { output_tokens: 1 } });
  });
});

describe('the end', () => {
  test('vector 19: an empty answer has no blocks', () => {
    const { blocks, last } = body([make.speech(0), ended(0), make.thinks(1), ended(1), finish('stop')]);
    expect(blocks).toEqual([]);
    expect(last).toMatchObject({ delta: { stop_reason: 'end_turn' } });
  });

  test('vector 50: a stop text is named where the source names it, else it is end_turn', () => {
    expect(body([finish('stop')]).last).toMatchObject({ delta: { stop_reason: 'end_turn', stop_sequence: null } });
    expect(body([finish('stop_sequence', { stop_sequence: 'END' })]).last).toMatchObject({
      delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
    });
  });

  test('a refusal has its details, and its words are text', () => {
    const { content, last } = body([
      make.speech(0, 'refusal'),
      make.says(0, 'I cannot'),
      ended(0),
      finish('refusal', { explanation: 'why' }),
    ]);
    expect(content).toMatchObject([{ kind: 'text', text: 'I cannot' }]);
    expect(last).toMatchObject({
      delta: { stop_reason: 'refusal', stop_details: { type: 'refusal', category: null, explanation: 'why' } },
    });
  });

  test('bug: Envoy AI Gateway, an end without a reason closed as end_turn: it is a violation', () => {
    const { violation, text } = rendered([start, make.speech(0), make.says(0, 'x'), ended(0), end]);
    expect(violation).toBe('message_stop without a stop_reason');
    expect(text).not.toContain('message_stop');
  });

  test('bug: several, silent truncation: an error of the source writes no end', () => {
    const error: GenerationEvent = { kind: 'error', type: 'api_error', message: 'm', status: null };
    expect(rendered([start, make.speech(0), make.says(0, 'x'), error]).text).not.toMatch(
      /event: (message_delta|\w+_stop)/,
    );
  });

  test('renders nothing after a violation', () => {
    const { pieces, violation } = rendered([make.speech(0), make.says(0, 'x'), start, finish('stop'), end]);
    expect(violation).toBe('content_block_start before message_start');
    expect(pieces.join('')).toBe('');
  });
});

describe('content of this format only', () => {
  const native = { origin: 'messages', json: '{"type":"web_search_tool_result",\n "content":[]}' };
  const opaque = (origin: string): GenerationEvent => ({
    kind: 'part_start',
    part: 0,
    opening: {
      kind: 'opaque',
      part: { kind: 'opaque', type: 'web_search_tool_result', words: null, native: { ...native, origin } },
    },
  });

  test('goes back as it came, in one line', () => {
    expect(body([opaque('messages'), ended(0), finish('stop')]).blocks).toEqual([
      opens(0, JSON.parse(native.json)),
      stops(0),
    ]);
    expect(body([opaque('gemini'), ended(0), finish('stop')]).blocks).toEqual([]);
  });

  test('a citation goes back as it came, a page as a search result; another format’s own is left out', () => {
    const cites = (origin: string): GenerationEvent => ({
      kind: 'citation',
      part: 0,
      citation: { kind: 'opaque', native: { origin, json: '{"type":"char_location",\r\n"n":12345678901234567890}' } },
    });
    const page = { kind: 'url', url: 'https://a', title: null, quote: 'q', start: 0, end: 1, native: null } as const;
    const found = { kind: 'citation', part: 0, citation: page } as const;
    const said = [make.speech(0), cites('messages'), cites('chat'), make.says(0, 'x'), found, ended(0)];
    const { text } = rendered([start, ...said]);
    expect(text.match(/citations_delta/g)).toHaveLength(2);
    expect(text).toContain('{"type":"search_result_location","cited_text":"q","source":"https://a","title":null,');
    expect(text).toContain('"citation":{"type":"char_location",  "n":12345678901234567890}');
    expect(judgeStream(text, false)).toEqual([]);
  });
});

test('vector 24: halves of a character in two deltas come joined', () => {
  const { text } = rendered([start, make.speech(0), make.says(0, 'a\ud83d'), make.says(0, '\ude00b'), ended(0)]);
  expect(parsed(text).flatMap((event) => (event.kind === 'text_delta' ? [event.text] : []))).toEqual(['a', '😀b']);
  const { text: alone } = rendered([start, make.speech(0), make.says(0, 'a\ud83d'), ended(0)], CONTEXT);
  expect(alone).toContain('"text":"\\ud83d"');
});

/**
 * Tests parse-stream.ts: how a stream is parsed, when it is complete, and which faults it
 * tolerates.
 */
import { describe, expect, spyOn, test } from 'bun:test';
import fc from 'fast-check';
import { runsOf } from '../../../../test/harness/exhaustive.ts';
import { JsonEnd } from '../../../generation/json-end.ts';
import { recordsOf } from '../../testing/outline-of.ts';
import { calls, chunk, DONE, delta, eventsOf, finish, generationOf } from '../testing/chat-stream.ts';
import { startStreamParser } from './parse-stream.ts';

const USAGE = { prompt_tokens: 10, completion_tokens: 4 };
const usageOf = (input: number, output: number) => ({
  input,
  output,
  cache_read: 0,
  cache_write_5m: 0,
  cache_write_1h: 0,
  reasoning: 0,
});
const kindsOf = (...records: readonly string[]) => eventsOf(...records).map(({ kind }) => kind);
const call = (text: string) => calls({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: text } });

describe('the events of a stream', () => {
  test('are the start, the parts, the usage, the finish and the end', () => {
    const records = [
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'He' }),
      delta({ content: 'y' }),
      finish('stop'),
      chunk({ choices: [], usage: USAGE }),
      DONE,
    ];
    expect(eventsOf(...records)).toEqual([
      { kind: 'start', id: 'c1', model: 'm' },
      { kind: 'part_start', part: 0, opening: { kind: 'text' } },
      { kind: 'text_delta', part: 0, text: 'He' },
      { kind: 'text_delta', part: 0, text: 'y' },
      { kind: 'usage', usage: usageOf(10, 4) },
      { kind: 'part_end', part: 0 },
      { kind: 'finish', finish_reason: 'stop', stop_sequence: null, reported: 'stop', explanation: null },
      { kind: 'end' },
    ]);
  });

  test('begins with the first chunk with content, not with a filter’s chunk without id and model', () => {
    const filter = chunk({ id: '', model: '', choices: [], prompt_filter_results: [] });
    expect(eventsOf(filter, delta({ role: 'assistant' }))).toEqual([{ kind: 'start', id: 'c1', model: 'm' }]);
  });

  test('take the reasoning from one member only, the first that has text', () => {
    const both = delta({ reasoning_content: 'x', reasoning: 'x', reasoning_details: [{ text: 'x' }] });
    const second = delta({ reasoning_content: '', reasoning: 'y' });
    const third = delta({
      reasoning: null,
      reasoning_details: [{ text: 'z' }, { type: 'reasoning.encrypted', data: '…' }],
    });
    expect(generationOf(both, second, third).parts).toEqual([
      { kind: 'reasoning', text: 'xyz', signature: null, redacted: false, issuer: null },
    ]);
  });

  test('read content in pieces, as Mistral sends it', () => {
    const thinking = (text: string) => delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] });
    const last = delta({
      content: [{ type: 'thinking', thinking: [] }, { type: 'text', text: 'So' }, { type: 'odd' }],
    });
    const { parts } = generationOf(thinking('a'), thinking('b'), last, delta({ content: '!' }));
    expect(parts).toMatchObject([
      { kind: 'reasoning', text: 'ab' },
      { kind: 'text', text: 'So!' },
    ]);
  });

  test('have citations in the text that they are about, with offsets into it; those of a text that has ended are gone', () => {
    const annotation = (url: string, start_index: unknown, end_index: unknown) => ({
      type: 'url_citation',
      url_citation: { url, title: 'T', start_index, end_index },
    });
    const early = delta({ annotations: [annotation('https://early', 0, 0)] });
    const late = delta({ annotations: [annotation('https://late', 6, 8), { type: 'file', file: {} }, null] });
    const wide = delta({ annotations: [annotation('https://wide', 1, 8), annotation('https://odd', 'x', -2)] });
    const { parts } = generationOf(
      early,
      delta({ content: 'first' }),
      delta({ reasoning: 'r' }),
      delta({ content: 'next' }),
      late,
      wide,
    );
    const cited = (url: string, start: number | null, end: number | null) =>
      ({ kind: 'url', url, title: 'T', quote: null, start, end, native: null }) as const;
    expect(parts).toMatchObject([
      { text: 'first', citations: [cited('https://early', null, null)] },
      { kind: 'reasoning' },
      {
        text: 'next',
        citations: [cited('https://late', 1, 3), cited('https://odd', null, null)],
      },
    ]);
  });

  test('have no citation of a text that has ended, though another one comes', () => {
    const cited = delta({ annotations: [{ type: 'url_citation', url_citation: { url: 'https://late', title: 'T' } }] });
    const { parts } = generationOf(delta({ content: 'a' }), delta({ reasoning: 'r' }), cited, delta({ content: 'b' }));
    expect(parts).toMatchObject([{ citations: [] }, { kind: 'reasoning' }, { citations: [] }]);
  });

  test('are as many as upstream sends, without a limit of the machine', () => {
    const many = Array.from({ length: 100_000 }, () => ({ url_citation: { url: 'u' } }));
    const calls = Array.from({ length: 100_000 }, () => ({
      index: 0,
      id: 'a',
      function: { name: 'f', arguments: 'x' },
    }));
    const answer = generationOf(delta({ annotations: many }), delta({ content: 'a', tool_calls: calls }));
    expect(answer.parts.map((part) => (part.kind === 'text' ? part.citations.length : 0))).toEqual([100_000, 0]);
    expect(answer.parts[1]).toMatchObject({ arguments: 'x'.repeat(100_000) });
  });

  test('are those of the first choice', () => {
    const other = { index: 1, delta: { content: 'no' }, finish_reason: 'length' };
    const mine = { delta: { content: 'yes' } };
    const answer = generationOf(chunk({ choices: [other] }), chunk({ choices: [other, mine] }), finish('stop'), DONE);
    expect(answer).toMatchObject({ parts: [{ text: 'yes' }], finish_reason: 'stop' });
  });

  test('vector 12: the usage chunk after the finish comes before the finish event', () => {
    const kinds = kindsOf(delta({ content: 'a' }), finish('stop'), chunk({ choices: [], usage: USAGE }), DONE);
    expect(kinds.filter((kind) => kind === 'usage' || kind === 'finish')).toEqual(['usage', 'finish']);
  });

  test('vector 13: of usage on every chunk the last counts', () => {
    const grown = [1, 2, 3].map((completion_tokens) =>
      chunk({ choices: [{ index: 0, delta: { content: 'a' } }], usage: { prompt_tokens: 5, completion_tokens } }),
    );
    const last = chunk({ choices: [], usage: null });
    expect(generationOf(...grown, finish('stop'), last, DONE).usage).toEqual(usageOf(5, 3));
  });

  test('vector 14: usage on the finish chunk counts once, in Groq’s member too', () => {
    const atFinish = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: USAGE });
    const groq = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], x_groq: { usage: USAGE } });
    for (const last of [atFinish, groq]) expect(generationOf(last, DONE).usage).toEqual(usageOf(10, 4));
  });

  test('vector 21: reasoning after text begins a new part, and so on in order', () => {
    const records = [
      delta({ content: 'a' }),
      delta({ reasoning: 'b' }),
      delta({ content: 'c' }),
      delta({ refusal: 'd' }),
    ];
    expect(generationOf(...records).parts).toMatchObject([
      { kind: 'text', text: 'a' },
      { kind: 'reasoning', text: 'b' },
      { kind: 'text', text: 'c' },
      { kind: 'refusal', text: 'd' },
    ]);
    const kinds = kindsOf(...records).filter((kind) => kind !== 'text_delta');
    expect(kinds.slice(1, 5)).toEqual(['part_start', 'part_end', 'part_start', 'part_end']);
  });

  test('vector 24: halves of a surrogate pair in two deltas make one character', () => {
    const half = (code: string) => `data: {"id":"c1","choices":[{"index":0,"delta":{"content":"\\u${code}"}}]}\n\n`;
    expect(generationOf(half('d83d'), half('de00')).parts).toMatchObject([{ text: '😀' }]);
  });
});

describe('the end of a stream', () => {
  test('is [DONE], or a clean end of the bytes after the finish reason', () => {
    expect(kindsOf(delta({ content: 'a' }), finish('stop'), DONE).slice(-3)).toEqual(['part_end', 'finish', 'end']);
    expect(kindsOf(delta({ content: 'a' }), finish('stop')).slice(-3)).toEqual(['part_end', 'finish', 'end']);
    expect(kindsOf(delta({ content: 'a' }), DONE).slice(-3)).toEqual(['part_end', 'finish', 'end']);
  });

  test('vector 30: is not a clean end of the bytes inside a tool call', () => {
    expect(kindsOf(call('{"x":'))).toEqual(['start', 'part_start', 'arguments_delta']);
    expect(generationOf(call('{"x":'))).toMatchObject({ complete: false, finish_reason: null });
  });

  test('bug: several, a silent truncation is no success', () => {
    expect(generationOf(delta({ content: 'half a sen' }))).toMatchObject({ complete: false, finish_reason: null });
  });

  test('returns no events after it', () => {
    expect(kindsOf(finish('stop'), DONE, delta({ content: 'more' }), DONE).slice(-2)).toEqual(['finish', 'end']);
  });

  test('of a stream that never began is malformed', () => {
    const none = { kind: 'malformed', message: 'upstream ended its answer without having begun it' } as const;
    expect(eventsOf(DONE)).toEqual([none]);
    expect(eventsOf(chunk({ choices: [] }), DONE)).toEqual([{ kind: 'start', id: 'c1', model: 'm' }, none]);
  });

  test.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content_filter', 'refusal'],
    ['model_length', 'context_window'],
    ['eos', 'stop'],
    ['odd_word', 'other'],
  ] as const)('with finish_reason %s is %s', (word, finish_reason) => {
    expect(generationOf(delta({ content: 'a' }), finish(word), DONE)).toMatchObject({ finish_reason, reported: word });
  });

  test.each(['error', 'insufficient_system_resource'])('with finish_reason %s is an error', (word) => {
    const message = `upstream gave up in the middle of its answer: finish_reason "${word}"`;
    expect(eventsOf(delta({ content: 'a' }), finish(word), DONE).at(-1)).toEqual({
      kind: 'error',
      type: 'error',
      message,
      status: null,
    });
  });

  test('vector 10: finish_reason stop with a tool call is tool_calls', () => {
    expect(generationOf(call('{}'), finish('stop'), DONE)).toMatchObject({
      finish_reason: 'tool_calls',
      reported: 'stop',
    });
  });

  test('vector 11: finish_reason tool_calls without a call is stop', () => {
    expect(generationOf(delta({ content: 'a' }), finish('tool_calls'), DONE).finish_reason).toBe('stop');
    expect(generationOf(delta({ content: 'a' }), finish('function_call'), DONE).finish_reason).toBe('stop');
  });

  test('vector 50: finish_reason stop without a detail is stop', () => {
    const answer = generationOf(delta({ content: 'a' }), finish('stop', { stop_reason: null }), DONE);
    expect(answer).toMatchObject({ finish_reason: 'stop', stop_sequence: null });
  });

  test('names the stop text where vLLM or SGLang do, but no token’s number', () => {
    const stopped = { finish_reason: 'stop_sequence', stop_sequence: 'END' };
    expect(generationOf(finish('stop', { stop_reason: 'END' }), DONE)).toMatchObject(stopped);
    expect(generationOf(finish('stop', { matched_stop: 'END' }), DONE)).toMatchObject(stopped);
    expect(generationOf(finish('stop', { stop_reason: 'END' }), finish('stop'), DONE)).toMatchObject(stopped);
    expect(generationOf(finish('stop', { matched_stop: 128_009 }), DONE)).toMatchObject({ finish_reason: 'stop' });
    expect(generationOf(call('{}'), finish('stop', { stop_reason: 'END' }), DONE)).toMatchObject({
      finish_reason: 'tool_calls',
      stop_sequence: null,
    });
  });

  test('is a refusal where the model refused in words', () => {
    const answer = generationOf(delta({ refusal: 'I will ' }), delta({ refusal: 'not' }), finish('stop'), DONE);
    expect(answer).toMatchObject({ parts: [{ kind: 'refusal', text: 'I will not' }], finish_reason: 'refusal' });
    expect(answer.explanation).toBeNull();
  });

  test('vector 19: of an empty answer has no parts', () => {
    const answer = generationOf(delta({ role: 'assistant', content: '' }), finish('stop'), DONE);
    expect(answer).toMatchObject({ parts: [], finish_reason: 'stop', complete: true });
  });
});

describe('malformed chunks', () => {
  test('vector 31: turns an error record into an error, after the usage counted so far', () => {
    const failed = chunk({ error: { type: 'overloaded', message: 'busy', code: 503 }, choices: [], usage: USAGE });
    expect(eventsOf(delta({ content: 'a' }), failed).slice(-2)).toEqual([
      { kind: 'usage', usage: usageOf(10, 4) },
      { kind: 'error', type: 'overloaded', message: 'busy', status: 503 },
    ]);
  });

  test.each([
    ['data: {"error":"out of memory"}\n\n', { type: 'error', message: 'out of memory', status: null }],
    ['event: error\ndata: {"message":"gone","code":500}\n\n', { type: 'error', message: 'gone', status: 500 }],
    [
      'data: {"object":"error","type":"BadRequest","message":"no","code":400}\n\n',
      { type: 'BadRequest', message: 'no', status: 400 },
    ],
    [
      'data: {"choices":[{"index":0,"error":{"code":502,"message":"upstream"}}]}\n\n',
      { type: 'error', message: 'upstream', status: 502 },
    ],
  ])('bug: Envoy AI Gateway, an error in the stream is skipped: %s', (record, error) => {
    expect(eventsOf(record, finish('stop'), DONE).at(-1)).toEqual({ kind: 'error', ...error });
  });

  test.each(['data: {"id":\n\n', 'data: [1]\n\n', 'data: "x"\n\n', 'data:\n\n'])(
    'bug: Envoy AI Gateway, a malformed chunk is skipped: %j',
    (record) => {
      expect(eventsOf(delta({ content: 'a' }), record, finish('stop'), DONE).at(-1)).toEqual({
        kind: 'malformed',
        message: 'upstream sent a record that is not a JSON object',
      });
    },
  );

  test('is skipped where it has no data', () => {
    expect(eventsOf(': ping\n\n', 'id: 3\n\n', 'retry: 100\n\n')).toEqual([]);
  });
});

const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('', 'x', null, true, 0, -1, 1.5, 1e9, 'stop', 'error', 'custom', '__proto__'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        'index',
        'id',
        'type',
        'function',
        'custom',
        'name',
        'arguments',
        'input',
        'content',
        'refusal',
        'reasoning',
        'tool_calls',
        'annotations',
        'url_citation',
        'url',
        'start_index',
        'text',
        'thinking',
        'function_call',
        'usage',
        'prompt_tokens',
      ),
      tie('value'),
      { maxKeys: 6 },
    ),
  ),
})).value;

test('no chunk makes the parser throw or break the order of events', () => {
  const choice = fc.record(
    { index: json, delta: json, finish_reason: json, stop_reason: json },
    { requiredKeys: ['delta'] },
  );
  const hostile = fc.record({
    id: json,
    model: json,
    choices: fc.oneof(json, fc.array(choice, { maxLength: 2 })),
    usage: json,
    x_groq: json,
    error: fc.constantFrom(null, undefined, false, ''),
  });
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 8 }), fc.boolean(), (chunks, done) => {
      const records = chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`);
      const open = new Set<number>();
      let parts = 0;
      const events = eventsOf(...records, done ? DONE : '');
      for (const [place, event] of events.entries()) {
        if (event.kind === 'start') expect(place).toBe(0);
        if (event.kind === 'part_start') {
          expect(event.part).toBe(parts);
          parts += 1;
          open.add(event.part);
        } else if ('part' in event) expect(open.has(event.part)).toBe(true);
        if (event.kind === 'part_end') open.delete(event.part);
        if ('text' in event) expect(event.text).not.toBe('');
        if (event.kind === 'finish') expect(open.size).toBe(0);
        if (event.kind === 'end' || event.kind === 'error' || event.kind === 'malformed')
          expect(place).toBe(events.length - 1);
      }
    }),
    { numRuns: runsOf(1000) },
  );
});

test('vector 25: line ends, missing spaces and a byte order mark change no event', () => {
  const records = [delta({ content: 'a' }), call('{}'), finish('tool_calls'), DONE].join('');
  const plain = eventsOf(records);
  for (const framed of [
    records.replaceAll('\n', '\r\n'),
    records.replaceAll('\n', '\r'),
    records.replaceAll('data: ', 'data:'),
    `\uFEFF${records}`,
  ]) {
    expect(eventsOf(framed)).toEqual(plain);
  }
});

test('vector 28: a chunk over two data lines is one chunk', () => {
  expect(generationOf('data: {"choices":[{"delta":\ndata: {"content":"a"}}]}\n\n').parts).toMatchObject([
    { text: 'a' },
  ]);
});

test('a record yields its events at once', () => {
  const parser = startStreamParser();
  const [first, second] = recordsOf(delta({ content: 'a' }) + delta({ content: 'b' }));
  if (first === undefined || second === undefined) throw new Error('two records were written');
  expect(parser.push(first).map(({ kind }) => kind)).toEqual(['start', 'part_start', 'text_delta']);
  expect(parser.push(second)).toEqual([{ kind: 'text_delta', part: 0, text: 'b' }]);
});

test('a record of many fragments is read in one pass', () => {
  const read = JsonEnd.prototype.push;
  let chars = 0;
  const spy = spyOn(JsonEnd.prototype, 'push').mockImplementation(function (this: JsonEnd, piece: string, from = 0) {
    const end = read.call(this, piece, from);
    chars += (end === -1 ? piece.length : end) - from;
    return end;
  });
  const charsOf = (count: number) => {
    chars = 0;
    const fragment = { index: 0, id: 'a', function: { name: 'f', arguments: { text: 'x'.repeat(50) } } };
    const events = eventsOf(calls(...Array.from({ length: count }, () => fragment)));
    expect(events.filter(({ kind }) => kind === 'arguments_delta')).toHaveLength(count);
    return chars;
  };
  try {
    const once = charsOf(250);
    expect(once).toBeGreaterThan(250 * 50);
    expect(charsOf(500) / once).toBeLessThan(2.2);
  } finally {
    spy.mockRestore();
  }
});

/** Tests observe-stream.ts: the result for each kind of chunk, and the stream's final state. */
import { describe, expect, test } from 'bun:test';
import { SSE } from '../../../framing/sse-decoder.ts';
import { recordsOf } from '../../testing/outline-of.ts';
import { ChatStreamObserver } from './observe-stream.ts';

function observe(records: readonly string[], withholdUsage = true) {
  const observer = new ChatStreamObserver({ withholdUsage, fallbackId: 'chatcmpl-ours' });
  const verdicts = recordsOf(records.join('')).map((record) => observer.observe(record));
  return { observer, verdicts, facts: observer.facts() };
}

const chunk = (members: object) => `data: ${JSON.stringify({ id: 'c1', model: 'm', ...members })}\n\n`;
const delta = (members: object, index = 0) => chunk({ choices: [{ index, delta: members, finish_reason: null }] });
const finish = (reason: string, index = 0) => chunk({ choices: [{ index, delta: {}, finish_reason: reason }] });
const usage = chunk({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } });
const DONE = 'data: [DONE]\n\n';

describe('a chat stream', () => {
  test('passes chunks, withholds a usage chunk that was not requested, and ends at [DONE]', () => {
    const { verdicts, facts } = observe([delta({ content: 'hi' }), finish('stop'), usage, DONE]);
    expect(verdicts).toEqual(['pass', 'pass', 'withhold', 'terminal']);
    expect(facts).toMatchObject({ usage: { input: 3, output: 4 }, finish_reason: 'stop', model: 'm', outputBytes: 2 });
  });

  test('passes a requested usage chunk, and usage in a chunk with choices always', () => {
    const beside = chunk({ choices: [{ index: 0, delta: {} }], usage: { prompt_tokens: 1, completion_tokens: 1 } });
    expect(observe([usage], false).verdicts).toEqual(['pass']);
    expect(observe([beside]).verdicts).toEqual(['pass']);
  });

  test('takes the last usage, never a sum', () => {
    const later = chunk({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 9 } });
    expect(observe([usage, later]).facts.usage).toMatchObject({ input: 3, output: 9 });
  });

  const counted = (completion_tokens: number) => ({ usage: { prompt_tokens: 3, completion_tokens } });
  const contentChunk = (content: string, members: object = {}) =>
    chunk({ choices: [{ index: 0, delta: { content } }], ...members });

  test('reports no final usage if more output follows it', () => {
    const first = chunk({ choices: [{ index: 0, delta: { role: 'assistant' } }], ...counted(0) });
    for (const end of [[finish('stop'), DONE], [DONE]]) {
      expect(observe([first, contentChunk('ab'), contentChunk('cd'), contentChunk('ef'), ...end]).facts).toMatchObject({
        usage: null,
        usageSoFar: { input: 3, output: 0 },
      });
    }
    const early = observe([contentChunk('ab'), finish('stop'), usage, contentChunk('late', {}), DONE]);
    expect(early.facts.usage).toBeNull();
  });

  test.each([
    ['beside the last of the text', [contentChunk('ab', counted(1)), contentChunk('cd', counted(2)), finish('stop')]],
    ['between text and reason', [contentChunk('ab'), chunk({ choices: [], ...counted(2) }), finish('stop')]],
    [
      'beside the reason',
      [contentChunk('ab'), chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], ...counted(2) })],
    ],
    [
      'beside text and reason',
      [contentChunk('a'), chunk({ choices: [{ delta: { content: 'b' }, finish_reason: 'stop' }], ...counted(2) })],
    ],
    ['after them', [contentChunk('ab'), finish('stop'), chunk({ choices: [], ...counted(2) })]],
  ])('has its final usage %s', (_, records) => {
    expect(observe([...records, DONE]).facts.usage).toMatchObject({ input: 3, output: 2 });
  });

  test('passes chunks with neither choices nor usage, as content filters send them', () => {
    expect(
      observe([chunk({ choices: [], prompt_filter_results: [] }), chunk({ choices: [], usage: null })]).verdicts,
    ).toEqual(['pass', 'pass']);
  });

  test('counts the bytes of every kind of delta, by template or by parse alike', () => {
    const deltas = [
      { content: 'aé' },
      { content: 'b"\\' },
      { content: 'ccc' },
      { reasoning: 'dd' },
      { reasoning: 'e' },
    ];
    const calls = { tool_calls: [{ index: 0, function: { name: 'f', arguments: '{"x"' } }] };
    const { facts, verdicts } = observe([...deltas, calls].map((one) => delta(one)));
    expect(facts.outputBytes).toBe(3 + 3 + 3 + 2 + 1 + 5);
    expect([facts.reasoningBytes, facts.outputBytesMax]).toEqual([2 + 1, facts.outputBytes]);
    expect(new Set(verdicts)).toEqual(new Set(['pass']));
  });

  test('separates reasoning bytes in skimmed records', () => {
    const observer = new ChatStreamObserver({ withholdUsage: true, fallbackId: 'c' });
    const decoder = SSE.startDecoder(1_000_000, (bytes, start) => observer.skim(bytes, start));
    const texts = ['one ', 'two ', 'three '];
    const deltas = ['reasoning', 'content', 'reasoning'].flatMap((key) => texts.map((text) => delta({ [key]: text })));
    let skims = 0;
    decoder.feed(Buffer.from(deltas.join('')), (output) => {
      if (output.kind === 'skimmed') skims += 1;
      else if (output.kind === 'event') observer.observe(output);
    });
    expect(skims).toBe(3);
    expect(observer.facts()).toMatchObject({ outputBytes: 3 * 14, reasoningBytes: 2 * 14 });
  });

  test('is finished once every choice that was seen has its reason', () => {
    expect(observe([delta({ content: 'a' }), finish('stop')]).observer.endOfBytes()).not.toBeNull();
    expect(observe([delta({ content: 'a' }, 1), finish('stop')]).observer.endOfBytes()).toBeNull();
    expect(
      observe([delta({ content: 'a' }, 1), finish('stop'), finish('length', 1)]).observer.endOfBytes(),
    ).not.toBeNull();
    expect(observe([]).observer.endOfBytes()).toBeNull();
    expect(observe([finish('length', 1), finish('stop')]).facts.finish_reason).toBe('stop');
  });

  test.each([
    ['data: {"error":{"message":"m","type":"t","code":429}}\n\n', { type: 't', message: 'm', status: 429 }],
    ['data: {"error":"plain"}\n\n', { type: 'error', message: 'plain', status: null }],
    ['event: error\ndata: {"message":"whole","status":500}\n\n', { type: 'error', message: 'whole', status: 500 }],
  ])('sees the error in %j', (record, failure) => {
    const { observer, verdicts } = observe([record]);
    expect(verdicts).toEqual(['error']);
    expect(observer.failure).toEqual(failure);
  });

  test.each(['data: {"a":\n\n', 'data: nothing\n\n', 'data: 7\n\n', 'data: []\n\n', 'data:\n\n'])(
    'finds %j malformed',
    (record) => {
      expect(observe([record]).verdicts).toEqual(['malformed']);
    },
  );

  test('does not take a null, false or empty error for one', () => {
    expect(observe([chunk({ choices: [], error: null }), chunk({ choices: [], error: false })]).verdicts).toEqual([
      'pass',
      'pass',
    ]);
  });
});

describe('the id of the chunks', () => {
  const replaced = (records: readonly string[]) => {
    const observer = new ChatStreamObserver({ withholdUsage: true, fallbackId: 'chatcmpl-ours' });
    return recordsOf(records.join('')).map((record) =>
      observer.observe(record) === 'replace' ? String(observer.replacement) : 'as it was',
    );
  };

  test('the gateway’s id applies to the whole stream if the first chunk has none', () => {
    expect(replaced(['data: {"choices":[]}\n\n', 'data: {"id":"x","choices":[]}\n\n'])).toEqual([
      'data: {"choices":[],"id":"chatcmpl-ours"}\n\n',
      'data: {"id":"chatcmpl-ours","choices":[]}\n\n',
    ]);
  });

  test('the first id applies to the whole stream if a later one differs', () => {
    expect(replaced(['data: {"id":"x"}\n\n', 'data: {"id":"y"}\n\n', 'data: {"id":"x"}\n\n'])).toEqual([
      'as it was',
      'data: {"id":"x"}\n\n',
      'as it was',
    ]);
  });
});

/** Tests render-stream.ts and output-items.ts: streams and whole answers in the format, from any source's events. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { runsOf } from '../../../../test/harness/exhaustive.ts';
import type { GenerationEvent, PartOpening } from '../../../generation/event.ts';
import { foldGeneration } from '../../../generation/generation.ts';
import { summaryPart, textPart } from '../../../generation/part.ts';
import { ZERO_USAGE } from '../../../generation/usage.ts';
import type { AnswerContext } from '../../client-protocol.ts';
import { asObject, type JsonObject } from '../../json.ts';
import { violationOf } from '../testing/responses-stream.ts';
import { renderAnswer, startStreamRenderer } from './render-stream.ts';

const CONTEXT: AnswerContext = {
  id: 'ours',
  createdSeconds: 1_800_000_000,
  model: 'asked-for',
  wantsUsage: true,
  estimatedInputTokens: 6,
  sign: (text) => `gw1.${text}`,
  seal: (content) => `gw2.${JSON.stringify(content)}`,
};

const START: GenerationEvent = { kind: 'start', id: 'up', model: 'lab-model' };
const USED: GenerationEvent = {
  kind: 'usage',
  usage: { ...ZERO_USAGE, input: 100, cache_read: 800, cache_write_5m: 100, output: 20, reasoning: 5 },
};
const finish = (finish_reason: 'stop' | 'tool_calls' | 'length' | 'refusal', explanation: string | null = null) =>
  ({ kind: 'finish', finish_reason, stop_sequence: null, reported: null, explanation }) as const;
const END: readonly GenerationEvent[] = [USED, { kind: 'end' }];

function part(index: number, opening: PartOpening, ...pieces: readonly string[]): GenerationEvent[] {
  const kind = opening.kind === 'tool_call' ? 'arguments_delta' : 'text_delta';
  return [
    { kind: 'part_start', part: index, opening },
    ...pieces.map((text): GenerationEvent => ({ kind, part: index, text })),
    { kind: 'part_end', part: index },
  ];
}
const called = (id: string, tool: 'function' | 'custom' = 'function'): PartOpening => ({
  kind: 'tool_call',
  id,
  name: 'look',
  tool,
});
const THINKS: PartOpening = { kind: 'reasoning', redacted: false, issuer: null };
const SAYS: PartOpening = { kind: 'text' };

function render(events: readonly GenerationEvent[]) {
  const renderer = startStreamRenderer(CONTEXT);
  const text = events.map((event) => renderer.push(event)).join('');
  const sent = text
    .split('\n')
    .flatMap((line): JsonObject[] => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
  return { renderer, text, sent, types: sent.map(({ type }) => type), response: asObject(sent.at(-1)?.response) ?? {} };
}

const unsealed = (item: JsonObject | undefined) => JSON.parse(String(item?.encrypted_content).slice('gw2.'.length));
const outputOf = (events: readonly GenerationEvent[]) => render(events).response.output as JsonObject[];

describe('a stream', () => {
  // Vector 1.
  test('of text has all events in order, numbered, and the counters of its end', () => {
    const { text, types, sent, response, renderer } = render([
      START,
      ...part(0, SAYS, 'He', 'llo'),
      finish('stop'),
      ...END,
    ]);
    expect(types).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(sent.map(({ sequence_number }) => sequence_number)).toEqual(sent.map((_, index) => index));
    expect(violationOf(text)).toBeNull();
    // Vectors 26 and 28.
    expect(response).toMatchObject({
      id: 'resp_ours',
      object: 'response',
      created_at: 1_800_000_000,
      model: 'lab-model',
      status: 'completed',
      store: false,
      error: null,
      usage: {
        input_tokens: 1000,
        input_tokens_details: { cached_tokens: 800, cache_write_tokens: 100 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 5 },
        total_tokens: 1020,
      },
    });
    expect([renderer.finish_reason, renderer.violation]).toEqual(['completed', null]);
  });

  test('has reasoning as a summary, sealed with the signature of its issuer', () => {
    const said = [...part(1, SAYS, 'a'), finish('stop'), ...END];
    const [marked] = outputOf([START, ...part(0, THINKS, 'hm'), ...said]);
    expect(marked).toMatchObject({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] });
    const sealed = { kind: 'reasoning', part: { kind: 'reasoning', redacted: false, issuer: null, text: 'hm' } };
    expect(unsealed(marked)).toMatchObject({ ...sealed, part: { ...sealed.part, signature: null } });
    const [opening, delta, ending] = part(0, THINKS, 'hm') as [GenerationEvent, GenerationEvent, GenerationEvent];
    const signed: GenerationEvent = { kind: 'signature', part: 0, signature: 's' };
    const [own] = outputOf([START, opening, delta, signed, ending, ...said]);
    expect(unsealed(own)).toMatchObject({ part: { text: 'hm', signature: 's' } });
  });

  test('has reasoning that is not shown as an item without a summary, and none for one without a signature', () => {
    const said = [...part(1, SAYS, 'a'), finish('stop'), ...END];
    const [opening, ending] = part(0, { kind: 'reasoning', redacted: true, issuer: 'messages' });
    const signed: GenerationEvent = { kind: 'signature', part: 0, signature: 's' };
    const events = [START, opening, signed, ending, ...said] as GenerationEvent[];
    const { text, types, response } = render(events);
    expect([violationOf(text), types.slice(2, 4)]).toEqual([
      null,
      ['response.output_item.added', 'response.output_item.done'],
    ]);
    const [hidden, ...rest] = response.output as JsonObject[];
    expect(hidden?.summary).toEqual([]);
    expect(unsealed(hidden)).toMatchObject({ part: { text: '', signature: 's', redacted: true, issuer: 'messages' } });
    expect(rest).toHaveLength(1);
    expect(outputOf([START, opening, ending, ...said] as GenerationEvent[])).toHaveLength(1);
  });

  test('has data of a call that its issuer wants back sealed before the call, unless it comes too late', () => {
    const native = { origin: 'chat', json: '{"a":1}' };
    const data: GenerationEvent = { kind: 'host_data', part: 0, native };
    const [opening, piece, ending] = part(0, called('c0'), '{}') as [GenerationEvent, GenerationEvent, GenerationEvent];
    const rest = [finish('tool_calls'), ...END];
    const { text, response } = render([START, opening, data, piece, ending, ...rest]);
    expect(violationOf(text)).toBeNull();
    const [before, call] = response.output as JsonObject[];
    expect([before?.type, unsealed(before), call?.type]).toEqual([
      'reasoning',
      { kind: 'call_data', native },
      'function_call',
    ]);
    expect(outputOf([START, opening, piece, data, ending, ...rest])).toHaveLength(1);
    const second = part(1, called('c1'), '{}');
    expect(outputOf([START, opening, piece, ending, ...second, { ...data, part: 0 }, ...rest])).toHaveLength(2);
  });

  test('arguments of white space alone are an empty object, as their pieces are', () => {
    const call = part(0, called('c0'), ' \n');
    const { text, response } = render([START, ...call, finish('tool_calls'), ...END]);
    expect(violationOf(text)).toBeNull();
    expect(response.output).toMatchObject([{ type: 'function_call', arguments: ' \n{}', status: 'completed' }]);
  });

  test('has the summary of a conversation as a compaction', () => {
    const summary = part(0, { kind: 'opaque', part: summaryPart('We met.') });
    const { text, response } = render([START, ...summary, finish('stop'), ...END]);
    expect(violationOf(text)).toBeNull();
    const output = response.output as JsonObject[];
    expect([output.map(({ type }) => type), unsealed(output[0])]).toEqual([
      ['compaction'],
      { kind: 'summary', text: 'We met.' },
    ]);
  });

  // Vector 8.
  test('has parallel calls one after another, however their pieces were mixed', () => {
    const [begin0, a0, end0] = part(0, called('c0'), '{"a":') as GenerationEvent[];
    const [begin1, a1, end1] = part(1, called('c1'), '{"b":2}') as GenerationEvent[];
    const rest: GenerationEvent = { kind: 'arguments_delta', part: 0, text: '1}' };
    const events = [START, begin0, begin1, a0, a1, rest, end1, end0, finish('tool_calls'), ...END] as GenerationEvent[];
    const { text, response } = render(events);
    expect(violationOf(text)).toBeNull();
    expect(response.output).toMatchObject([
      { type: 'function_call', call_id: 'c0', name: 'look', arguments: '{"a":1}', status: 'completed' },
      { type: 'function_call', call_id: 'c1', arguments: '{"b":2}' },
    ]);
  });

  test('has free-text calls, and {} for a call without arguments', () => {
    const events = [
      START,
      ...part(0, called('c0', 'custom'), '*** Begin\n', '"x"'),
      ...part(1, called('c1')),
      finish('tool_calls'),
      ...END,
    ];
    const { text, response } = render(events);
    expect(violationOf(text)).toBeNull();
    expect(response.output).toMatchObject([
      { type: 'custom_tool_call', input: '*** Begin\n"x"', status: 'completed' },
      { type: 'function_call', arguments: '{}' },
    ]);
  });

  // Vector 36.
  test('has call ids of at most 64 characters, each once', () => {
    const long = 'x'.repeat(116);
    const ids = outputOf([
      START,
      ...part(0, called(long), '{}'),
      ...part(1, called(long), '{}'),
      ...part(2, called(''), '{}'),
      finish('tool_calls'),
      ...END,
    ]);
    const found = ids.map(({ call_id }) => String(call_id));
    expect(new Set(found).size).toBe(3);
    for (const id of found) expect(id).toMatch(/^[\w-]{1,64}$/);
    expect(outputOf([START, ...part(0, called(long), '{}'), finish('tool_calls'), ...END])[0]?.call_id).toBe(
      found[0] as string,
    );
  });

  // Vector 20.
  test('cut in a call has it as incomplete, with its usage', () => {
    const { text, types, response } = render([
      START,
      ...part(0, SAYS, 'a'),
      ...part(1, called('c'), '{"a":'),
      finish('length'),
      ...END,
    ]);
    expect(violationOf(text)).toBeNull();
    expect(types.at(-1)).toBe('response.incomplete');
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'completed' }, { arguments: '{"a":', status: 'incomplete' }],
      usage: { total_tokens: 1020 },
    });
  });

  test('cut in a text has the message as incomplete', () => {
    expect(outputOf([START, ...part(0, SAYS, 'a'), finish('length'), ...END])).toMatchObject([
      { status: 'incomplete' },
    ]);
  });

  // Vector 21.
  test('refused before any text is a refusal, and after it filtered', () => {
    const before = render([START, ...part(0, THINKS, 'hm'), finish('refusal', 'I may not.'), ...END]);
    expect(violationOf(before.text)).toBeNull();
    expect([before.response.status, before.renderer.finish_reason]).toEqual(['completed', 'completed']);
    expect(before.response.output).toMatchObject([{}, { content: [{ type: 'refusal', refusal: 'I may not.' }] }]);
    const after = render([START, ...part(0, SAYS, 'a'), finish('refusal'), ...END]);
    expect(after.response).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } });
    const own = render([START, ...part(0, { kind: 'refusal' }, 'No.'), finish('refusal'), ...END]);
    expect(own.response).toMatchObject({ status: 'completed', output: [{ content: [{ refusal: 'No.' }] }] });
  });

  test('has citations as annotations', () => {
    const url = {
      kind: 'url',
      url: 'https://a.example',
      title: 'A',
      quote: null,
      start: 0,
      end: 2,
      native: null,
    } as const;
    const [begin, delta, ending] = part(0, SAYS, 'He') as GenerationEvent[];
    const cited: GenerationEvent = { kind: 'citation', part: 0, citation: url };
    const { text, response } = render([
      START,
      begin,
      delta,
      cited,
      ending,
      finish('stop'),
      ...END,
    ] as GenerationEvent[]);
    expect(violationOf(text)).toBeNull();
    expect(response.output).toMatchObject([
      {
        content: [
          {
            annotations: [{ type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 }],
          },
        ],
      },
    ]);
  });

  test('with a citation without a place, before the text as Anthropic sends it, cites the whole text', () => {
    const citation = { kind: 'url', url: 'https://a.example', title: null, quote: null, native: null } as const;
    const cited: GenerationEvent = { kind: 'citation', part: 0, citation: { ...citation, start: null, end: null } };
    const [begin, ...rest] = part(0, SAYS, 'He', 'llo') as GenerationEvent[];
    const { text, response } = render([START, begin, cited, ...rest, finish('stop'), ...END] as GenerationEvent[]);
    expect(violationOf(text)).toBeNull();
    expect(response.output).toMatchObject([
      { content: [{ text: 'Hello', annotations: [{ start_index: 0, end_index: 5, title: '' }] }] },
    ]);
    expect(text.split('response.output_text.annotation.added')).toHaveLength(3);
  });

  test('without counters gets estimated ones', () => {
    const { text, response } = render([START, ...part(0, SAYS, 'eight ch'), finish('stop'), { kind: 'end' }]);
    expect(violationOf(text)).toBeNull();
    expect(response.usage).toMatchObject({ input_tokens: 6, output_tokens: 2, total_tokens: 8 });
  });

  test('that ends with its reasoning, or is empty, is still complete', () => {
    for (const events of [
      [START, finish('stop'), ...END],
      [START, ...part(0, THINKS, 'hm'), finish('stop'), ...END],
      [START, ...part(0, SAYS), finish('stop'), ...END],
    ])
      expect(violationOf(render(events).text)).toBeNull();
  });

  test('that breaks the order is not sent', () => {
    const { renderer, text } = render([...part(0, SAYS, 'a')]);
    expect([renderer.violation?.slice(0, 2), text]).toEqual(['V1', '']);
    const broken = render([START, ...part(0, called('c'), '{"a"'), finish('tool_calls')]);
    expect(broken.renderer.violation).toContain('not a JSON object');
  });

  test('knows where it is', () => {
    const renderer = startStreamRenderer(CONTEXT);
    expect(renderer.position).toBeUndefined();
    for (const event of [START, ...part(0, SAYS, 'a').slice(0, 2)]) renderer.push(event);
    expect(renderer.position).toEqual({
      id: 'resp_ours',
      model: 'lab-model',
      createdSeconds: 1_800_000_000,
      nextSequence: 5,
    });
  });
});

describe('any answer', () => {
  const piece = fc.string({ minLength: 1, maxLength: 6 });
  const anyPart = fc.oneof(
    fc.array(piece).map((texts) => [SAYS, texts] as const),
    fc.array(piece).map((texts) => [THINKS, texts] as const),
    fc.array(piece).map((texts) => [{ kind: 'refusal' } as PartOpening, texts] as const),
    fc.array(piece).map((texts) => [called('c', 'custom'), texts] as const),
    fc.tuple(fc.string(), fc.nat(8)).map(([id, at]) => {
      const json = '{"a":[1]}';
      return [called(id), [json.slice(0, at), json.slice(at)].filter((one) => one !== '')] as const;
    }),
  );
  const reason = fc.constantFrom('stop' as const, 'tool_calls' as const, 'length' as const, 'refusal' as const);

  test('is legal as a stream, and the same as a whole', () => {
    fc.assert(
      fc.property(fc.array(anyPart, { maxLength: 6 }), reason, fc.boolean(), (parts, finish_reason, counted) => {
        const events = [
          START,
          ...parts.flatMap(([opening, texts], index) => part(index, opening, ...texts)),
          finish(finish_reason),
          ...(counted ? END : END.slice(1)),
        ];
        const { text, renderer, response } = render(events);
        expect([renderer.violation, violationOf(text)]).toEqual([null, null]);
        const { json, finish_reason: word } = renderAnswer(foldGeneration(events), CONTEXT);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(response)));
        expect(word).toBe(renderer.finish_reason as string);
      }),
      { numRuns: runsOf(300) },
    );
  });

  test('whose call is not a JSON object is malformed', () => {
    const parts = [textPart('a'), { ...called('c'), kind: 'tool_call', arguments: '{"a"', cache_mark: null } as const];
    const generation = { ...foldGeneration([START, finish('stop'), ...END]), parts: parts as never };
    expect(() => renderAnswer(generation, CONTEXT)).toThrow('not a JSON object');
  });
});

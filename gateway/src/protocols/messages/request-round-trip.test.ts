/**
 * Tests both directions of a request against each other: content of this format comes back, and a rendered request is
 * always legal.
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { RawJson, type WritableJson, writeJson } from '../../wire/json-writer.ts';
import { CAPABLE } from '../testing/capable-upstream.ts';
import { parse, render } from './testing/request-rig.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d', 'hex').toString('base64');
const EXACT = '{"z":12345678901234567890, "a":[1.0,{"b":"\\ud83d\\ude00"}]}';

const words = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => `a${text}`);
const text = words.map((value) => ({ type: 'text', text: value }));
const opaque = fc.constantFrom(
  '{"type":"search_result","source":"s", "title":"t","content":[{"type":"text","text":"x"}]}',
  '{"type":"born_tomorrow", "n":12345678901234567890}',
);
const media = fc.constantFrom<WritableJson>(
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
  { type: 'image', source: { type: 'url', url: 'https://x.example/a.png' } },
  { type: 'image', source: { type: 'file', file_id: 'file_1' } },
  { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'd' }, title: 't', context: 'c' },
  { type: 'document', source: { type: 'url', url: 'https://x.example/a.pdf' }, citations: { enabled: true } },
);
const userBlock: fc.Arbitrary<WritableJson> = fc.oneof(
  text,
  media,
  opaque.map((json) => new RawJson(json)),
);
const spoken: fc.Arbitrary<WritableJson> = fc.oneof(
  text,
  words.map((signature) => ({ type: 'thinking', thinking: '', signature })),
  words.map((bytes) => ({ type: 'redacted_thinking', data: bytes })),
  fc.constant({ type: 'text', text: 'cited', citations: [new RawJson('{"type":"char_location", "n":1.0}')] }),
  fc.constant(new RawJson('{"type":"server_tool_use","id":"s","name":"web_search", "input":{"query":"q"}}')),
);
const resultContent: fc.Arbitrary<WritableJson | undefined> = fc.oneof(
  fc.constant(undefined),
  words,
  fc.constant(''),
  fc.array(fc.oneof(text, media), { minLength: 1, maxLength: 3 }),
);

const exchange = fc.record({
  asked: fc.array(userBlock, { minLength: 1, maxLength: 3 }),
  answered: fc.array(spoken, { minLength: 1, maxLength: 3 }),
  results: fc.array(fc.record({ content: resultContent, is_error: fc.boolean() }), { maxLength: 3 }),
});
type Exchange = typeof exchange extends fc.Arbitrary<infer Value> ? Value : never;

/** A sequence of turns; each call is answered at the start of the next turn. */
function converse(exchanges: readonly Exchange[]): WritableJson[] {
  const messages: WritableJson[] = [];
  let results: WritableJson[] = [];
  for (const [index, { asked, answered, results: outcomes }] of exchanges.entries()) {
    const ids = outcomes.map((_, place) => `toolu_${index}_${place}`);
    const calls = ids.map((id) => ({ type: 'tool_use', id, name: 'look-up', input: new RawJson(EXACT) }));
    const thinking = { type: 'thinking', thinking: 'hm', signature: 'sig==' };
    messages.push({ role: 'user', content: [...results, ...asked] });
    messages.push({ role: 'assistant', content: calls.length === 0 ? answered : [thinking, ...answered, ...calls] });
    results = ids.map((id, place) => ({ type: 'tool_result', tool_use_id: id, ...outcomes[place] }));
  }
  return [
    ...messages,
    { role: 'user', content: [...results, { type: 'text', text: 'go on', cache_control: { type: 'ephemeral' } }] },
  ];
}

const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const CLOSED = '{"type":"object", "properties":{"n":{"const":12345678901234567890}}, "additionalProperties":false}';
const tools = fc.constantFrom<WritableJson[]>(
  [{ name: 'look-up', input_schema: new RawJson('{"type":"object", "x":12345678901234567890}') }],
  [
    {
      name: 'look-up',
      description: 'd',
      strict: true,
      input_schema: new RawJson(CLOSED),
      cache_control: { type: 'ephemeral', ttl: '1h' },
    },
    new RawJson('{"type":"web_search_20250305","name":"web_search", "max_uses":3}'),
  ],
);
const body = fc.record({
  model: fc.constant('upstream-model'),
  max_tokens: fc.integer({ min: 5000, max: 9000 }),
  stream: optional(fc.constant(true)),
  system: optional(fc.oneof(words, fc.array(text, { minLength: 1, maxLength: 3 }))),
  messages: fc.array(exchange, { maxLength: 4 }).map(converse),
  tools,
  tool_choice: optional(
    fc.constantFrom<WritableJson>(
      { type: 'auto' },
      { type: 'none' },
      { type: 'auto', disable_parallel_tool_use: true },
    ),
  ),
  stop_sequences: optional(fc.array(words, { minLength: 1, maxLength: 3 })),
  top_p: optional(fc.constantFrom(0.95, 0.99)),
  thinking: optional(
    fc.constantFrom<WritableJson>(
      { type: 'enabled', budget_tokens: 2000, display: 'omitted' },
      { type: 'adaptive' },
      { type: 'between_tools' },
      { type: 'disabled' },
    ),
  ),
  output_config: optional(fc.record({ format: fc.constant({ type: 'json_schema', schema: new RawJson(CLOSED) }) })),
  metadata: optional(fc.record({ user_id: words })),
  service_tier: optional(fc.constantFrom('auto', 'standard_only')),
  cache_control: optional(fc.constantFrom<WritableJson>({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' })),
});

test('every carried member of a request survives a round trip through the same format', () => {
  fc.assert(
    fc.property(body, (sent) => {
      const first = parse(writeJson(sent), true);
      const rendered = render(first.request, CAPABLE, true);
      const second = parse(rendered.json, true);
      expect(second.request).toEqual(first.request);
      expect(rendered.tools.restored.size).toBe(0);
    }),
    { numRuns: 300 },
  );
});

/**
 * Tests with random requests that parsing and rendering lose nothing, and that hostile bodies are refused without
 * further effect.
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { runsOf } from '../../../test/harness/exhaustive.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import type { GenerationRequest } from '../../generation/request.ts';
import { CAPABLE, withChatTraits } from '../testing/capable-upstream.ts';
import { REQUEST_MEMBERS } from './client/parse-request.ts';
import { parse, render } from './testing/chat-request.ts';

/** An upstream that accepts everything and calls the model by the same name. */
const SAME = { ...CAPABLE, model: 'm' };

const word = fc.string({ minLength: 1, maxLength: 12 });
const name = fc.stringMatching(/^[a-z_]{1,12}$/);
const option = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 });
const textPart = word.map((text) => ({ type: 'text', text }));
const imagePart = fc.record({
  type: fc.constant('image_url'),
  image_url: fc.record({
    url: fc.constantFrom('https://a.example/b.png', 'data:image/png;base64,AA=='),
    detail: option(fc.constantFrom('low', 'original')),
  }),
});
const audioPart = fc.record({
  type: fc.constant('input_audio'),
  input_audio: fc.record({ data: fc.constant('AA=='), format: fc.constantFrom('wav', 'mp3', 'flac') }),
});
const filePart = fc.record({
  type: fc.constant('file'),
  file: fc.record({ filename: fc.constant('a.pdf'), file_data: fc.constant('data:application/pdf;base64,JVBE') }),
});
const breakpoint = fc.record({ mode: fc.constant('explicit'), ttl: option(fc.constantFrom('30m', '12h')) });
const markedPart = fc.record({ type: fc.constant('text'), text: word, prompt_cache_breakpoint: breakpoint });

const userMessage = fc.record({
  role: fc.constant('user'),
  content: fc.oneof(word, fc.array(fc.oneof(textPart, imagePart, audioPart, filePart), { minLength: 1, maxLength: 4 })),
  name: option(name),
});

/** Arguments as a model writes them: digits, order and duplicates included; not always JSON. */
const args = fc.constantFrom('{}', '{"b":1, "a":9007199254740993,"a":2}', '{"x', '{"s":"ü\\n😀"}');
const call = (id: string) =>
  fc.oneof(
    fc.record({ id: fc.constant(id), type: fc.constant('function'), function: fc.record({ name, arguments: args }) }),
    fc.record({ id: fc.constant(id), type: fc.constant('custom'), custom: fc.record({ name, input: word }) }),
  );
const resultContent = fc.oneof(fc.string({ maxLength: 12 }), fc.tuple(textPart, imagePart));

/** An assistant message, the results of its calls and a user message. */
const round = fc.integer({ min: 0, max: 3 }).chain((calls) => {
  const ids = Array.from({ length: calls }, (_, index) => `call_${index}`);
  const assistant = fc.record({
    role: fc.constant('assistant'),
    content: calls === 0 ? word : option(word),
    reasoning_content: option(word),
    refusal: option(word),
    name: option(name),
    tool_calls: calls === 0 ? fc.constant(undefined) : fc.tuple(...ids.map(call)),
  });
  const results = ids.map((id) =>
    fc.record({ role: fc.constant('tool'), tool_call_id: fc.constant(id), content: resultContent }),
  );
  return fc.tuple(assistant, ...results, userMessage).map((messages): object[] => messages);
});

const schema = fc.constantFrom(
  { type: 'object', properties: {} },
  { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
);
const tool = fc.oneof(
  fc.record({
    type: fc.constant('function'),
    function: fc.record({
      name,
      description: option(word),
      parameters: option(schema),
      strict: option(fc.constant(false)),
    }),
  }),
  fc.record({
    type: fc.constant('custom'),
    custom: fc.record({
      name,
      description: option(word),
      format: option(fc.constant({ type: 'grammar', grammar: { definition: 'start: "a"', syntax: 'lark' } })),
    }),
  }),
);
const toolChoice = fc.oneof(
  fc.constantFrom('none', 'auto', 'required'),
  name.map((chosen) => ({ type: 'function', function: { name: chosen } })),
  fc.array(name, { minLength: 1, maxLength: 2 }).map((names) => ({
    type: 'allowed_tools',
    allowed_tools: { mode: 'auto', tools: names.map((chosen) => ({ type: 'function', function: { name: chosen } })) },
  })),
);
const responseFormat = fc.oneof(
  fc.constantFrom({ type: 'text' }, { type: 'json_object' }),
  fc.record({
    type: fc.constant('json_schema'),
    json_schema: fc.record({ name, description: option(word), schema, strict: option(fc.constant(false)) }),
  }),
);

/** A request for plain JSON gets an instruction where no text says so. */
const firstContent = fc
  .array(markedPart, { minLength: 1, maxLength: 4 })
  .map((parts) => [{ type: 'text', text: 'As JSON, where asked for:' }, ...parts]);

const messages = fc
  .tuple(
    option(word.map((content) => ({ role: 'system', content }))),
    fc.record({ role: fc.constant('user'), content: firstContent }),
    fc.array(round, { maxLength: 3 }),
  )
  .map(([system, first, rounds]) => [...(system === undefined ? [] : [system]), first, ...rounds.flat()]);

const options = fc.record(
  {
    stream: fc.boolean(),
    max_completion_tokens: fc.integer({ min: 1, max: 100_000 }),
    stop: fc.oneof(word, fc.array(word, { minLength: 1, maxLength: 4 })),
    temperature: fc.constantFrom(0, 0.7, 2),
    top_p: fc.constantFrom(0.1, 1),
    top_k: fc.integer({ min: 1, max: 100 }),
    frequency_penalty: fc.constantFrom(-2, 0, 0.5),
    presence_penalty: fc.constantFrom(-2, 0, 0.5),
    seed: fc.integer(),
    reasoning_effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    response_format: responseFormat,
    verbosity: fc.constantFrom('low', 'high'),
    user: word,
    service_tier: fc.constantFrom('auto', 'default', 'flex'),
    web_search_options: fc.constantFrom(
      {},
      { search_context_size: 'low' },
      { user_location: { type: 'approximate', approximate: { city: 'London' } } },
    ),
  },
  { requiredKeys: [] },
);
const toolOptions = fc.record(
  {
    tools: fc.array(tool, { minLength: 1, maxLength: 3 }),
    tool_choice: toolChoice,
    parallel_tool_calls: fc.boolean(),
  },
  { requiredKeys: ['tools'] },
);
const body = fc
  .tuple(messages, options, option(toolOptions))
  .map(([turns, more, tools]) => ({ model: 'm', messages: turns, ...more, ...tools }));

/** The meaning of a request, independent of member names and of how a choice names its kind. */
function meaning({ named: _, ...request }: GenerationRequest) {
  return request;
}

test('parsing, rendering and parsing again preserves the meaning', () => {
  fc.assert(
    fc.property(body, (written) => {
      const before = parse(written, true).request;
      const { json, dropped } = render(before, SAME, true);
      const after = parse(json, true).request;
      expect(dropped).toEqual([]);
      expect(meaning(after)).toEqual(meaning(before));
      expect(render(after, SAME, true).json).toBe(json);
    }),
    { numRuns: runsOf(200) },
  );
});

const anything = fc.jsonValue({ maxDepth: 4 });
/** Additions by providers and clients to a message or a part, with values of any shape. */
const MORE_MEMBERS = [
  ...['refusal', 'tool_calls', 'function_call', 'audio', 'tool_call_id', 'is_error', 'cache_control', 'name', 'type'],
  ...['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks', 'thinking', 'extra', '__proto__'],
  ...REQUEST_MEMBERS.map(({ member }) => member),
];

/** Every object and array in a value, itself included. */
function holders(value: unknown): Array<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return [];
  return [value as Record<string, unknown>, ...Object.values(value).flatMap(holders)];
}

/** A valid body in which one value, anywhere, is replaced or added. */
const hostile = fc
  .tuple(body, fc.nat(), fc.nat(), fc.constantFrom(...MORE_MEMBERS), anything)
  .map(([good, where, which, added, value]) => {
    const bad: unknown = JSON.parse(JSON.stringify(good));
    const all = holders(bad);
    const holder = all[where % all.length] ?? {};
    const names = [...Object.keys(holder), ...(Array.isArray(holder) ? [] : [added])];
    Object.defineProperty(holder, names[which % names.length] ?? 0, { value, enumerable: true });
    return JSON.stringify(bad);
  });

test('parses and renders any body, or names the member that it refuses', () => {
  const chat = { mediaInToolMessages: false, openaiMembers: false, cacheMarks: false, nullContent: false } as const;
  const POOR = withChatTraits({ ...chat, toolIds: 'nine', prefill: 'refused', efforts: ['low'], stopMax: 0 });
  fc.assert(
    fc.property(hostile, (written) => {
      try {
        const { request } = parse(written);
        for (const traits of [CAPABLE, POOR]) JSON.parse(render(request, traits).json);
      } catch (error) {
        if (!(error instanceof CallFailure)) throw error;
        expect([error.kind, typeof error.details.param]).toEqual(['invalid_request', 'string']);
      }
    }),
    { numRuns: runsOf(300) },
  );
});

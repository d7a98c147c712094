/**
 * Generates random requests in normal form: conversations with parallel calls whose results come in any order, tools,
 * tool choices, response formats and options that each format either carries or reports as dropped. An upstream that
 * accepts everything must refuse none of them.
 */
import fc from 'fast-check';
import type { Part } from '../../../../src/generation/part.ts';
import {
  EFFORT_ORDER,
  type GenerationRequest,
  type OutputFormat,
  type ReasoningRequest,
  type Tool,
  type ToolChoice,
  type Turn,
} from '../../../../src/generation/request.ts';
import { askForJson } from '../../../../src/protocols/openai/render-options.ts';
import * as parts from './random-parts.ts';

const MARKS_MAX = 4;
/** Some are too long or invalid for one format or both, and equal up to the length that the formats allow. */
const TOOL_NAMES = [
  ...['get_weather', 'look-up', 'mcp__server.with/odd:name', `long_${'x'.repeat(70)}`],
  ...[`mcp__${'y'.repeat(130)}_read`, `mcp__${'y'.repeat(130)}_write`],
];
const OPEN_SCHEMA = '{"type":"object","properties":{"n":{"type":"integer","const":9007199254740993}}, "x":1.0}';
const STRICT_SCHEMA =
  '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}';

type Spoken = Pick<Turn, 'role' | 'name' | 'parts'>;

const option = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 2 });
const oneOf = <Value>(...values: readonly Value[]) => fc.constantFrom(...values);

const tool = (name: string): fc.Arbitrary<Tool> =>
  fc.oneof(
    {
      arbitrary: fc.record({
        kind: fc.constant('function' as const),
        name: fc.constant(name),
        description: option(parts.spokenText),
        parameters: oneOf(null, OPEN_SCHEMA, STRICT_SCHEMA, '{}', '{"properties":{}}'),
        strict: oneOf(null, false, true),
        cache_mark: parts.mark,
      }),
      weight: 4,
    },
    {
      arbitrary: option(parts.spokenText).map(
        (description): Tool => ({ kind: 'custom', name, description, grammar: null }),
      ),
      weight: 1,
    },
  );

const tools = fc.subarray(TOOL_NAMES).chain((names) => fc.tuple(...names.map(tool)));

const id = fc.oneof(
  fc.stringMatching(/^(call|toolu)_[A-Za-z0-9]{6}$/),
  oneOf('call:1|fc_2', 'ид-1', ' ', `call_${'z'.repeat(60)}`, 'w'.repeat(200), 'w'.repeat(201)),
);

/** An assistant turn with tool calls, all their results in any order and split, and what follows. */
const round = (offered: readonly Tool[]): fc.Arbitrary<Spoken[]> =>
  fc.uniqueArray(id, { maxLength: offered.length === 0 ? 0 : 4 }).chain((ids) =>
    fc
      .record({
        thought: option(parts.thought),
        answered: parts.answered.filter((said) => said.length > 0 || ids.length > 0),
        calls: fc.tuple(...ids.map((one) => call(one, offered))),
        results: fc.tuple(...ids.map(result)).chain((all) => fc.shuffledSubarray(all, { minLength: all.length })),
        together: fc.boolean(),
        before: fc.array(parts.said, { maxLength: 1 }),
        after: ids.length === 0 ? parts.saying : fc.oneof(fc.constant([]), parts.saying),
        name: oneOf(null, null, 'ada'),
      })
      .map(({ thought, answered, calls, results, together, before, after, name }): Spoken[] => {
        const spoken = [...(thought === null ? [] : [thought]), ...answered, ...calls];
        const assistant: Spoken = { role: 'assistant', name, parts: spoken };
        // A turn may have content before its results; the formats still put results first.
        const outcomes =
          together || results.length === 0
            ? [[...before, ...results, ...after]]
            : [...results.map((one) => [one]), after];
        const turns = outcomes
          .filter((said) => said.length > 0)
          .map((said): Spoken => ({ role: 'user', name, parts: said }));
        return [assistant, ...turns];
      }),
  );

const call = (one: string, offered: readonly Tool[]): fc.Arbitrary<Part> =>
  oneOf(...offered).chain((called) =>
    (called.kind === 'custom' ? parts.spokenText : parts.functionArguments).map(
      (written): Part => ({
        kind: 'tool_call',
        id: one,
        name: called.name ?? '',
        tool: called.kind === 'custom' ? 'custom' : 'function',
        arguments: written,
        cache_mark: null,
      }),
    ),
  );

const result = (call_id: string): fc.Arbitrary<Part> =>
  fc
    .tuple(parts.outcome, fc.boolean())
    .map(([outcome, is_error]): Part => ({ kind: 'tool_result', call_id, is_error, ...outcome }));

const instructions = fc
  .tuple(oneOf('system' as const, 'developer' as const), fc.array(parts.instructed, { minLength: 1, maxLength: 3 }))
  .map(([role, said]): Spoken => ({ role, name: null, parts: said }));

const user = fc
  .tuple(parts.saying, oneOf(null, null, 'ada'))
  .map(([said, name]): Spoken => ({ role: 'user', name, parts: said }));

/** Instructions come first and may recur between rounds; the beginning of an answer may come last. */
const conversation = (offered: readonly Tool[]): fc.Arbitrary<Spoken[]> =>
  fc
    .tuple(
      fc.array(instructions, { maxLength: 2 }),
      option(user),
      fc.array(fc.tuple(round(offered), fc.oneof({ arbitrary: fc.constant(null), weight: 4 }, instructions)), {
        maxLength: 3,
      }),
      user,
      fc.oneof({ arbitrary: fc.constant(null), weight: 6 }, parts.spokenText),
    )
    .map(([leading, first, rounds, last, beginning]) => [
      ...leading,
      ...(first === null ? [] : [first]),
      ...rounds.flatMap(([turns, between]) => (between === null ? turns : [...turns, between])),
      last,
      ...(beginning === null ? [] : [beginningOf(beginning)]),
    ]);

function beginningOf(text: string): Spoken {
  return { role: 'assistant', name: null, parts: [{ kind: 'text', text, citations: [], cache_mark: null }] };
}

const choice = (offered: readonly Tool[]): fc.Arbitrary<ToolChoice | null> => {
  const names = offered.flatMap(({ name }) => name ?? []);
  const plain = oneOf<ToolChoice | null>(null, { kind: 'auto' }, { kind: 'none' });
  if (names.length === 0) return plain;
  return fc.oneof(
    plain,
    fc.constant<ToolChoice>({ kind: 'required' }),
    oneOf(...names).map((name): ToolChoice => ({ kind: 'tool', name })),
    fc
      .tuple(oneOf('auto' as const, 'required' as const), fc.subarray(names, { minLength: 1 }))
      .map(([mode, some]): ToolChoice => ({ kind: 'allowed', mode, names: some })),
  );
};

const effort = oneOf(...EFFORT_ORDER);
const display = oneOf(null, 'summarized' as const, 'omitted' as const);
const reasoning: fc.Arbitrary<ReasoningRequest> = fc.oneof(
  effort.map((word): ReasoningRequest => ({ mode: null, budgetTokens: null, effort: word, display: null })),
  oneOf('off' as const, 'between_tools' as const).map(
    (mode): ReasoningRequest => ({ mode, budgetTokens: null, effort: null, display: null }),
  ),
  fc
    .tuple(option(effort), display)
    .map(([word, shown]): ReasoningRequest => ({ mode: 'adaptive', budgetTokens: null, effort: word, display: shown })),
  fc
    .tuple(fc.integer({ min: 1024, max: 40_000 }), display)
    .map(([budgetTokens, shown]): ReasoningRequest => ({ mode: 'budget', budgetTokens, effort: null, display: shown })),
);

const format: fc.Arbitrary<OutputFormat> = fc.oneof(
  fc.constant<OutputFormat>({ kind: 'json' }),
  fc.record({
    kind: fc.constant('json_schema' as const),
    name: oneOf(null, 'answer'),
    description: option(parts.spokenText),
    schema: oneOf(OPEN_SCHEMA, STRICT_SCHEMA),
    strict: fc.boolean(),
  }),
);

const settings = fc.record({
  stream: fc.boolean(),
  parallel_tool_calls: oneOf(null, null, true, false),
  outputTokensMax: option(fc.integer({ min: 1, max: 64_000 })),
  stop: fc.array(fc.oneof(parts.spokenText, oneOf('\n', ' ')), { maxLength: 4 }),
  temperature: oneOf(null, null, 0, 0.3, 1, 1.7),
  top_p: oneOf(null, null, 0.1, 0.97, 1),
  top_k: oneOf(null, null, 1, 40),
  frequency_penalty: oneOf(null, null, 0, -1.5),
  presence_penalty: oneOf(null, null, 0, 2),
  seed: oneOf(null, null, 0, 7),
  reasoning: option(reasoning),
  output_format: option(format),
  verbosity: oneOf(null, 'medium', 'low'),
  end_user: oneOf(null, 'someone', 'x'.repeat(200)),
  service_tier: oneOf(null, 'auto', 'default', 'standard_only', 'flex'),
  cache_mark: oneOf(null, null, null, null, null, { ttlMinutes: 60 }),
});

/** A request in normal form. */
export const randomRequest: fc.Arbitrary<GenerationRequest> = tools
  .chain((offered) => fc.tuple(fc.constant(offered), conversation(offered), choice(offered), settings))
  .map(
    ([offered, turns, tool_choice, options]): GenerationRequest => ({
      model: 'public-model',
      turns: withFewMarks(turns, MARKS_MAX - marksOf(offered) - (options.cache_mark === null ? 0 : 1)).map(
        (turn, index) => ({ ...turn, path: `messages.${index}` }),
      ),
      tools: offered,
      tool_choice,
      web_search: null,
      logprobs: null,
      named: {},
      ...options,
    }),
  )
  .map(sayingJson);

/** A request for plain JSON says so, as chat upstreams want it. */
function sayingJson(request: GenerationRequest): GenerationRequest {
  const { turns } = askForJson(request);
  return { ...request, turns: turns.map((turn, index) => ({ ...turn, path: `messages.${index}` })) };
}

function marksOf(offered: readonly Tool[]): number {
  return offered.filter((tool) => tool.kind === 'function' && tool.cache_mark !== null).length;
}

/** The number of cache marks is limited: keeps the first ones. */
function withFewMarks(turns: readonly Spoken[], most: number): Spoken[] {
  let left = most;
  const limited = <Marked extends Part>(part: Marked): Marked => {
    const inner = part.kind === 'tool_result' ? { ...part, parts: part.parts.map(limited) } : part;
    if (!('cache_mark' in inner) || inner.cache_mark === null) return inner;
    left -= 1;
    return left >= 0 ? inner : { ...inner, cache_mark: null };
  };
  return turns.map((turn) => ({ ...turn, parts: turn.parts.map(limited) }));
}

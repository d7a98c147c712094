/** Tests the parsing of a messages request's settings and tools against the wire reference, B.2, B.4, C.2 and C.5. */
import { describe, expect, test } from 'bun:test';
import { parse, refusal } from '../testing/request-rig.ts';

const BODY = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };
const requestOf = (members: object) => parse({ ...BODY, ...members }).request;
const refusalOf = (members: object) => refusal(() => parse({ ...BODY, ...members }));

test('a plain request sets no option', () => {
  expect(requestOf({})).toEqual({
    model: 'm',
    stream: false,
    turns: [
      {
        role: 'user',
        name: null,
        parts: [{ kind: 'text', text: 'hi', citations: [], cache_mark: null }],
        path: 'messages.0',
      },
    ],
    tools: [],
    tool_choice: null,
    parallel_tool_calls: null,
    outputTokensMax: 10,
    stop: [],
    temperature: null,
    top_p: null,
    top_k: null,
    frequency_penalty: null,
    presence_penalty: null,
    seed: null,
    reasoning: null,
    output_format: null,
    verbosity: null,
    end_user: null,
    service_tier: null,
    cache_mark: null,
    web_search: null,
    logprobs: null,
    named: { output_limit: 'max_tokens' },
  });
});

test('every setting is read and has the name of its member', () => {
  const request = requestOf({
    stream: true,
    temperature: 0.5,
    top_p: 0.9,
    top_k: 40,
    stop_sequences: ['END', ''],
    thinking: { type: 'enabled', budget_tokens: 2048, display: 'omitted' },
    output_config: { effort: 'max', format: { type: 'json_schema', schema: { type: 'object' } } },
    metadata: { user_id: 'u1' },
    service_tier: 'standard_only',
    cache_control: { type: 'ephemeral', ttl: '1h' },
  });
  expect(request).toMatchObject({
    stream: true,
    temperature: 0.5,
    top_p: 0.9,
    top_k: 40,
    stop: ['END', ''],
    reasoning: { mode: 'budget', budgetTokens: 2048, effort: 'max', display: 'omitted' },
    output_format: { kind: 'json_schema', name: null, description: null, schema: '{"type":"object"}', strict: null },
    end_user: 'u1',
    service_tier: 'standard_only',
    cache_mark: { ttlMinutes: 60 },
  });
  expect(request.named).toEqual({
    output_limit: 'max_tokens',
    temperature: 'temperature',
    top_p: 'top_p',
    top_k: 'top_k',
    stop: 'stop_sequences',
    reasoning: 'thinking',
    output_format: 'output_config.format',
    cache_marks: 'cache_control',
    end_user: 'metadata.user_id',
    service_tier: 'service_tier',
  });
});

test.each([
  [{ thinking: { type: 'adaptive' } }, { mode: 'adaptive', budgetTokens: null, effort: null, display: null }],
  [{ thinking: { type: 'disabled' } }, { mode: 'off', budgetTokens: null, effort: null, display: null }],
  [{ thinking: { type: 'between_tools' } }, { mode: 'between_tools', budgetTokens: null, effort: null, display: null }],
  [{ output_config: { effort: 'low' } }, { mode: null, budgetTokens: null, effort: 'low', display: null }],
  [
    { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'xhigh' } },
    { mode: 'adaptive', budgetTokens: null, effort: 'xhigh', display: 'summarized' },
  ],
] as const)('%j requests %j', (members, expected) => {
  expect(requestOf(members).reasoning).toEqual(expected);
});

test.each([
  [{ thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
  [{ thinking: { type: 'enabled', budget_tokens: 1023 } }, 'thinking.budget_tokens'],
  [{ thinking: { type: 'deep' } }, 'thinking.type'],
  [{ thinking: {} }, 'thinking.type'],
  [{ thinking: 'adaptive' }, 'thinking'],
  [{ output_config: { effort: 'minimal' } }, 'output_config.effort'],
  [{ output_config: { format: { type: 'json_object' } } }, 'output_config.format.type'],
  [{ output_config: { format: { type: 'json_schema' } } }, 'output_config.format.schema'],
  [{ temperature: 1.5 }, 'temperature'],
  [{ top_k: 1.5 }, 'top_k'],
  [{ max_tokens: -1 }, 'max_tokens'],
  [{ stop_sequences: 'END' }, 'stop_sequences'],
  [{ stop_sequences: [1] }, 'stop_sequences.0'],
  [{ cache_control: { type: 'ephemeral', ttl: '2h' } }, 'cache_control.ttl'],
  [{ cache_control: {} }, 'cache_control.type'],
  [{ metadata: { user_id: 7 } }, 'metadata.user_id'],
  [{ tool_choice: 'auto' }, 'tool_choice'],
  [{ tool_choice: { type: 'function' } }, 'tool_choice.type'],
  [{ tool_choice: { type: 'tool' } }, 'tool_choice.name'],
  [{ tools: [{ name: 't' }] }, 'tools.0.input_schema'],
  [{ tools: [{ input_schema: {} }] }, 'tools.0.name'],
])('%j is refused at %s', (members, param) => {
  const found = refusalOf(members);
  expect(found?.param).toBe(param);
  expect(found?.message).toMatch(/found .*; expected /);
});

test('both names of the output format are refused together, and the older one alone is read', () => {
  const format = { type: 'json_schema', schema: { type: 'object' } };
  expect(refusalOf({ output_format: format, output_config: { format } })?.param).toBe('output_format');
  const { output_format, named } = requestOf({ output_format: format });
  expect(output_format).toMatchObject({ kind: 'json_schema', schema: '{"type":"object"}' });
  expect(named.output_format).toBe('output_format');
});

test('other members of metadata are dropped and reported', () => {
  expect(parse({ ...BODY, metadata: { user_id: 'u', team: 'x' } }).dropped).toEqual(['metadata.team']);
});

test('an unknown service tier is dropped and named', () => {
  const { request, dropped } = parse({ ...BODY, service_tier: 'gold' });
  expect([request.service_tier, dropped]).toEqual([null, ['service_tier']]);
});

describe('tools', () => {
  test('vector 49: a schema stays as it was written, digits and order too', () => {
    const schema = '{"type":"object", "properties":{"b":{"maximum":9007199254740993},"a":{}}}';
    const { request } = parse(
      `{"model":"m","max_tokens":1,"messages":[],"tools":[{"name":"t","description":"d","strict":true,"input_schema":${schema},"cache_control":{"type":"ephemeral","ttl":"5m"}}]}`,
    );
    expect(request.tools).toEqual([
      {
        kind: 'function',
        name: 't',
        description: 'd',
        parameters: schema,
        strict: true,
        cache_mark: { ttlMinutes: 5 },
      },
    ]);
    expect(request.named).toMatchObject({ tools: 'tools', cache_marks: 'cache_control' });
  });

  test('options of a tool are dropped and named; empty ones are ignored', () => {
    const tool = { type: 'custom', name: 't', input_schema: { type: 'object' } };
    const annotated = {
      ...tool,
      input_examples: [{}],
      defer_loading: true,
      eager_input_streaming: false,
      allowed_callers: [],
    };
    expect(parse({ ...BODY, tools: [tool, annotated] }).dropped).toEqual([
      'tools.1.defer_loading',
      'tools.1.input_examples',
    ]);
  });

  test('a typed tool is kept for Anthropic as it was written', () => {
    const { request } = parse(
      '{"model":"m","max_tokens":1,"messages":[],"tools":[{"type":"web_search_20250305","name":"web_search", "max_uses":3}]}',
    );
    expect(request.tools).toEqual([
      {
        kind: 'opaque',
        type: 'web_search_20250305',
        name: 'web_search',
        native: { origin: 'messages', json: '{"type":"web_search_20250305","name":"web_search", "max_uses":3}' },
      },
    ]);
  });

  test.each([
    [{ type: 'auto' }, { kind: 'auto' }, null],
    [{ type: 'any', disable_parallel_tool_use: true }, { kind: 'required' }, false],
    [{ type: 'tool', name: 't', disable_parallel_tool_use: false }, { kind: 'tool', name: 't' }, null],
    [{ type: 'none' }, { kind: 'none' }, null],
  ] as const)('the choice %j is %j', (tool_choice, choice, parallel) => {
    const request = requestOf({ tool_choice });
    expect([request.tool_choice, request.parallel_tool_calls]).toEqual([choice, parallel]);
  });
});

test('a way of showing thinking that only Anthropic knows is dropped by name: agents send it by default', () => {
  const { request, dropped } = parse({ ...BODY, thinking: { type: 'adaptive', display: 'updates' } });
  expect(request.reasoning).toEqual({ mode: 'adaptive', budgetTokens: null, effort: null, display: null });
  expect(dropped).toEqual(['thinking.display']);
});

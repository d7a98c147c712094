/** Tests the request renderer against its table of features, and the members other than messages and tools. */
import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { FEATURES, type Feature, type GenerationRequest, type ReasoningRequest } from '../../../generation/request.ts';
import { requestOf, turn } from '../../../generation/testing/request-of.ts';
import { readFate } from '../../request/translation-notes.ts';
import { CAPABLE, withChatTraits } from '../../testing/capable-upstream.ts';
import type { ChatTraits, UpstreamTraits } from '../../upstream-traits.ts';
import { refusalOf, render } from '../testing/chat-request.ts';
import { RENDERED_FEATURES } from './render-request.ts';

const STRICT =
  '{"type":"object","properties":{"n":{"type":"integer","const":9007199254740993}},"required":["n"],"additionalProperties":false}';
const reasoningRequest = (members: Partial<ReasoningRequest>): ReasoningRequest => ({
  mode: null,
  budgetTokens: null,
  effort: null,
  display: null,
  ...members,
});
const schemaFormat = (strict: boolean | null, schema = STRICT, name: string | null = null) =>
  ({ kind: 'json_schema', name, description: null, schema, strict }) as const;

/** A request that uses the feature, and the member that carries it. */
const ASKS: Readonly<Record<Feature, readonly [Partial<GenerationRequest>, string, unknown]>> = {
  tools: [{ tools: [toolNamed('f')] }, 'tools', [{ type: 'function', function: { name: 'f' } }]],
  tool_choice: [{ tools: [toolNamed('f')], tool_choice: { kind: 'required' } }, 'tool_choice', 'required'],
  parallel_tool_calls: [{ tools: [toolNamed('f')], parallel_tool_calls: false }, 'parallel_tool_calls', false],
  output_limit: [{ outputTokensMax: 100 }, 'max_completion_tokens', 100],
  stop: [{ stop: ['END'] }, 'stop', ['END']],
  temperature: [{ temperature: 0.5 }, 'temperature', 0.5],
  top_p: [{ top_p: 0.5 }, 'top_p', 0.5],
  top_k: [{ top_k: 40 }, 'top_k', 40],
  frequency_penalty: [{ frequency_penalty: 1 }, 'frequency_penalty', 1],
  presence_penalty: [{ presence_penalty: 1 }, 'presence_penalty', 1],
  seed: [{ seed: 7 }, 'seed', 7],
  reasoning: [{ reasoning: reasoningRequest({ effort: 'high' }) }, 'reasoning_effort', 'high'],
  output_format: [{ output_format: { kind: 'json' } }, 'response_format', { type: 'json_object' }],
  verbosity: [{ verbosity: 'low' }, 'verbosity', 'low'],
  end_user: [{ end_user: 'u1' }, 'safety_identifier', 'u1'],
  service_tier: [{ service_tier: 'flex' }, 'service_tier', 'flex'],
  cache_marks: [
    { turns: [turn('user', [{ kind: 'text', text: 'a', citations: [], cache_mark: { ttlMinutes: null } }])] },
    'messages',
    [{ role: 'user', content: [{ type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } }] }],
  ],
  web_search: [
    { web_search: { context_size: 'low', location: '{"city":"London"}' } },
    'web_search_options',
    { search_context_size: 'low', user_location: { type: 'approximate', approximate: { city: 'London' } } },
  ],
  logprobs: [{ logprobs: { top: 3 } }, 'top_logprobs', 3],
};

function toolNamed(name: string) {
  return { kind: 'function', name, description: null, parameters: null, strict: null, cache_mark: null } as const;
}

describe('a capable provider handles each feature as the table states', () => {
  test.each(FEATURES)('%s', (feature) => {
    const [members, member, sent] = ASKS[feature];
    expect(['carried', 'emulated']).toContain(readFate(RENDERED_FEATURES[feature]).fate);
    const { body, dropped } = render(requestOf(members), CAPABLE, true);
    expect([body[member], dropped]).toEqual([sent, []]);
  });
});

describe('a host that lacks it drops it by name, unless the key is strict', () => {
  const POOR = withChatTraits({
    sampling: false,
    top_k: false,
    efforts: [],
    cacheMarks: false,
    openaiMembers: false,
    parallelToolCalls: false,
  });
  const droppable: Feature[] = [
    ...(['parallel_tool_calls', 'temperature', 'top_p', 'top_k', 'frequency_penalty', 'presence_penalty'] as const),
    ...(['reasoning', 'verbosity', 'end_user', 'service_tier', 'cache_marks'] as const),
  ];
  test.each(droppable)('%s', (feature) => {
    const [members] = ASKS[feature];
    const request = requestOf({ ...members, named: { [feature]: 'as_the_caller_says' } });
    expect(render(request, POOR).dropped).toEqual(['as_the_caller_says']);
    expect(refusalOf(() => render(request, POOR, true)).param).toBe('as_the_caller_says');
  });

  test('web_search is refused', () => {
    expect(refusalOf(() => render(requestOf(ASKS.web_search[0]), POOR)).param).toBe('web_search');
  });

  test('values that only repeat the default are not worth a word', () => {
    const defaults = { temperature: 1, top_p: 1, frequency_penalty: 0, presence_penalty: 0, service_tier: 'auto' };
    expect(render(requestOf(defaults), POOR, true).body).toEqual({
      model: 'upstream-model',
      messages: [{ role: 'user', content: 'hello' }],
    });
  });
});

test('a mark on the whole request cannot be carried, and is reported', () => {
  const request = requestOf({ cache_mark: { ttlMinutes: 5 }, named: { cache_marks: 'cache_control' } });
  expect(render(request).dropped).toEqual(['cache_control']);
  expect(refusalOf(() => render(request, CAPABLE, true)).param).toBe('cache_control');
});

test('renders nothing for a request without options', () => {
  const { body, tools, outputTool, extractsJson, stopTexts } = render(requestOf({}));
  expect(body).toEqual({ model: 'upstream-model', messages: [{ role: 'user', content: 'hello' }] });
  expect([tools.restored.size, tools.custom.size, outputTool, extractsJson, stopTexts]).toEqual([
    0,
    0,
    null,
    false,
    [],
  ]);
});

test('a stream requests usage if the host accepts the option', () => {
  expect(render(requestOf({ stream: true })).body).toMatchObject({
    stream: true,
    stream_options: { include_usage: true },
  });
  expect(render(requestOf({ stream: true }), withChatTraits({ usageOption: false })).body).not.toContainKey(
    'stream_options',
  );
});

describe('the output limit', () => {
  const limited = (requested: number, traits: UpstreamTraits) =>
    render(requestOf({ outputTokensMax: requested, named: { output_limit: 'max_tokens' } }), traits);

  test('is under the name that the host knows', () => {
    expect(limited(5, withChatTraits({ outputLimitMember: 'max_tokens' })).body.max_tokens).toBe(5);
  });

  test('is lowered to the maximum of the model, and reported', () => {
    const { body, dropped } = limited(9000, withChatTraits({}, { outputTokensMax: 8000 }));
    expect([body.max_completion_tokens, dropped]).toEqual([8000, ['max_tokens']]);
    expect(limited(8000, withChatTraits({}, { outputTokensMax: 8000 })).dropped).toEqual([]);
  });

  test('of 0 is refused', () => {
    expect(refusalOf(() => limited(0, CAPABLE)).message).toBe(
      'max_tokens: found 0; the model "m" answers with at least 1 token',
    );
  });
});

describe('stop texts', () => {
  const request = requestOf({ stop: ['A', 'B', 'C', 'D', 'E'], named: { stop: 'stop_sequences' } });

  test('are refused above the maximum of the provider', () => {
    expect(refusalOf(() => render(request, withChatTraits({ stopMax: 4 }))).message).toBe(
      'stop_sequences: found 5 texts; the model "m" takes at most 4',
    );
  });

  test('are matched by the gateway if the provider supports none', () => {
    const { body, stopTexts, dropped } = render(request, withChatTraits({ stopMax: 0 }), true);
    expect([body.stop, stopTexts, dropped]).toEqual([undefined, ['A', 'B', 'C', 'D', 'E'], []]);
  });
});

describe('reasoning', () => {
  const sentOf = (reasoning: ReasoningRequest, efforts: readonly string[] | null = null) => {
    const { body, dropped } = render(
      requestOf({ reasoning, named: { reasoning: 'thinking' } }),
      withChatTraits({ efforts }),
    );
    return [body.reasoning_effort, dropped.length > 0];
  };

  test.each([
    [reasoningRequest({ mode: 'off' }), 'none'],
    [reasoningRequest({ mode: 'off', effort: 'high' }), 'none'],
    [reasoningRequest({ mode: 'between_tools' }), 'minimal'],
    [reasoningRequest({ mode: 'adaptive' }), undefined],
    [reasoningRequest({ mode: 'adaptive', effort: 'max' }), 'max'],
    [reasoningRequest({ mode: 'budget', budgetTokens: 2048 }), 'low'],
    [reasoningRequest({ mode: 'budget', budgetTokens: 2049 }), 'medium'],
    [reasoningRequest({ mode: 'budget', budgetTokens: 8192 }), 'medium'],
    [reasoningRequest({ mode: 'budget', budgetTokens: 24576 }), 'high'],
    [reasoningRequest({ mode: 'budget', budgetTokens: 24577 }), 'xhigh'],
    [reasoningRequest({ mode: 'budget', budgetTokens: 31999, effort: 'low' }), 'low'],
  ])('%j is %p', (reasoning, sent) => {
    expect(sentOf(reasoning)).toEqual([sent, false]);
  });

  test.each([
    [reasoningRequest({ effort: 'max' }), ['low', 'medium', 'high'], 'high', true],
    [reasoningRequest({ effort: 'minimal' }), ['none', 'low'], 'none', true],
    [reasoningRequest({ mode: 'off' }), ['low', 'medium', 'high'], 'low', true],
    [reasoningRequest({ mode: 'off' }), ['default', 'none'], 'none', false],
    [reasoningRequest({ mode: 'budget', budgetTokens: 50_000 }), ['low', 'high'], 'high', false],
    [reasoningRequest({ effort: 'low' }), [], undefined, true],
    [reasoningRequest({ effort: 'low' }), ['on'], undefined, true],
    [reasoningRequest({ mode: 'adaptive' }), [], undefined, false],
  ] as const)('%j where %j are taken is %p', (reasoning, efforts, sent, named) => {
    expect(sentOf(reasoning, efforts)).toEqual([sent, named]);
  });

  test('is not requested from a model that does not reason', () => {
    const traits = { ...CAPABLE, takes: { ...CAPABLE.takes, reasoning: false } };
    const off = render(requestOf({ reasoning: reasoningRequest({ mode: 'off' }) }), traits);
    expect([off.body.reasoning_effort, off.dropped]).toEqual([undefined, []]);
    expect(render(requestOf({ reasoning: reasoningRequest({ mode: 'adaptive' }) }), traits).dropped).toEqual([
      'reasoning',
    ]);
  });
});

describe('the output format', () => {
  const formatOf = (format: NonNullable<GenerationRequest['output_format']>, traits = CAPABLE) =>
    render(requestOf({ output_format: format, named: { output_format: 'output_config.format' } }), traits);

  test('is sent as it was written, under a name, strict where it can be', () => {
    expect(formatOf(schemaFormat(null)).json).toContain(
      `"response_format":{"type":"json_schema","json_schema":{"name":"output","schema":${STRICT},"strict":true}}`,
    );
    const loose = formatOf(schemaFormat(null, '{"type":"object"}'));
    expect([loose.body.response_format.json_schema, loose.dropped]).toEqual([
      { name: 'output', schema: { type: 'object' } },
      [],
    ]);
  });

  test('vector 58: a recursive schema is passed', () => {
    const schema = '{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"}';
    expect(formatOf(schemaFormat(null, schema)).body.response_format.json_schema.schema).toEqual(JSON.parse(schema));
  });

  test('reports a strict schema that cannot be enforced', () => {
    expect(formatOf(schemaFormat(true, '{"type":"object"}')).dropped).toEqual(['output_config.format.strict']);
    expect(formatOf(schemaFormat(true), withChatTraits({ strictSchemas: false })).dropped).toEqual([
      'output_config.format.strict',
    ]);
  });

  test('refuses a schema for a model that supports none', () => {
    const traits = { ...CAPABLE, takes: { ...CAPABLE.takes, structured_output: false } };
    expect(refusalOf(() => formatOf(schemaFormat(null), traits)).param).toBe('output_config.format');
  });
});

test('ids of devices that Claude Code sends are hashed, other users are sent as they are', () => {
  const end_user = 'user_0a1b_account__session_2c3d';
  const hash = createHash('sha256').update(end_user).digest('hex').slice(0, 32);
  expect(render(requestOf({ end_user, named: { end_user: 'metadata.user_id' } })).body.safety_identifier).toBe(hash);
  expect(render(requestOf({ end_user, named: { end_user: 'user' } })).body.safety_identifier).toBe(end_user);
  expect(render(requestOf({ end_user: 'x'.repeat(129) })).body.safety_identifier).toHaveLength(32);
});

test('the tier of messages has its name here', () => {
  expect(render(requestOf({ service_tier: 'standard_only' })).body.service_tier).toBe('default');
  expect(render(requestOf({ service_tier: 'auto' })).body.service_tier).toBe('auto');
});

describe('a provider with a switch for reasoning', () => {
  const sentOf = (reasoning: ReasoningRequest, chat: Partial<ChatTraits>) => {
    const traits = withChatTraits({ efforts: [], ...chat });
    const { body, dropped } = render(requestOf({ reasoning }), traits);
    const { thinking, enable_thinking, thinking_budget, reasoning_effort } = body;
    expect(dropped.length > 0).toBe(reasoning.effort !== null && chat.efforts === undefined);
    return JSON.parse(JSON.stringify({ thinking, enable_thinking, thinking_budget, reasoning_effort }));
  };
  const type = { thinkingSwitch: 'type' } as const;
  const enable = { thinkingSwitch: 'enable' } as const;

  test.each([
    [reasoningRequest({ mode: 'off' }), type, { thinking: { type: 'disabled' } }],
    [reasoningRequest({ mode: 'budget', budgetTokens: 5_000 }), type, { thinking: { type: 'enabled' } }],
    [reasoningRequest({ effort: 'high' }), type, { thinking: { type: 'enabled' } }],
    [
      reasoningRequest({ effort: 'high' }),
      { ...type, efforts: ['high', 'max'] },
      { thinking: { type: 'enabled' }, reasoning_effort: 'high' },
    ],
    [reasoningRequest({ mode: 'off' }), { ...type, efforts: ['high', 'max'] }, { thinking: { type: 'disabled' } }],
    [reasoningRequest({ mode: 'off' }), enable, { enable_thinking: false }],
    [
      reasoningRequest({ mode: 'budget', budgetTokens: 5_000 }),
      enable,
      { enable_thinking: true, thinking_budget: 5_000 },
    ],
  ])('%j with %j is %j', (reasoning, chat, sent) => {
    expect(sentOf(reasoning, chat)).toEqual(sent);
  });

  test('gets it only for a model that is known to reason', () => {
    const traits = withChatTraits(type, { takes: { ...CAPABLE.takes, reasoning: null } });
    expect(render(requestOf({ reasoning: reasoningRequest({ mode: 'off' }) }), traits).body.thinking).toBeUndefined();
  });
});

test.each([
  [0, undefined, ['a', 'b']],
  [2, ['a', 'b'], []],
])('an empty stop sequence stops nothing, where %p are taken', (stopMax, sent, searched) => {
  const { body, stopTexts } = render(requestOf({ stop: ['', 'a', 'b'] }), withChatTraits({ stopMax }));
  expect([body.stop, stopTexts]).toEqual([sent, searched]);
});

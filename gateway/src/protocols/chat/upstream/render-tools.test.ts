/** Tests how tools and the tool choice are rendered. */
import { describe, expect, test } from 'bun:test';
import type { GenerationRequest, Tool } from '../../../generation/request.ts';
import { requestOf } from '../../../generation/testing/request-of.ts';
import { CAPABLE, withChatTraits } from '../../testing/capable-upstream.ts';
import { refusalOf, render } from '../testing/chat-request.ts';

const STRICT = '{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}';
const OPEN = '{"type":"object","properties":{"a":{"type":"string"}}}';

function tool(name: string, members: Partial<Extract<Tool, { kind: 'function' }>> = {}): Tool {
  return { kind: 'function', name, description: null, parameters: OPEN, strict: null, cache_mark: null, ...members };
}

const rendered = (members: Partial<GenerationRequest>, traits = CAPABLE) =>
  render(requestOf({ tools: [tool('f')], ...members }), traits);

test('a schema is sent as it was written', () => {
  const parameters = '{"properties":{"n":{"const":9007199254740993}}, "type":"object"}';
  expect(rendered({ tools: [tool('f', { description: 'd', parameters })] }).json).toContain(
    `"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":${parameters}}}]`,
  );
});

test('keeps the grammar of a free-text tool', () => {
  const grammar = '{"definition":"start: \\"a\\"","syntax":"lark"}';
  const { body } = rendered({ tools: [{ kind: 'custom', name: 'm', description: null, grammar }] });
  expect(body.tools).toEqual([
    { type: 'custom', custom: { name: 'm', format: { type: 'grammar', grammar: JSON.parse(grammar) } } },
  ]);
});

test('a compatible host gets a free-text tool as a function', () => {
  const traits = withChatTraits({ openaiMembers: false });
  const tools: Tool[] = [{ kind: 'custom', name: 'm', description: 'd', grammar: null }];
  const { body, tools: names } = rendered({ tools, tool_choice: { kind: 'tool', name: 'm' } }, traits);
  const parameters = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };
  expect(body.tools).toEqual([{ type: 'function', function: { name: 'm', description: 'd', parameters } }]);
  expect([body.tool_choice, [...names.custom]]).toEqual([{ type: 'function', function: { name: 'm' } }, ['m']]);
});

test('a tool that only another host has is refused by its name', () => {
  const native = { origin: 'messages', json: '{}' };
  const tools: Tool[] = [{ kind: 'opaque', type: 'web_search_20250305', name: 'web_search', native }];
  expect(refusalOf(() => rendered({ tools }))).toEqual({
    param: 'tools',
    message:
      'tools: found the tool "web_search" of type "web_search_20250305", which the model "m" does not have; leave it out or send a function',
  });
});

test('a model without tools refuses them', () => {
  const traits = { ...CAPABLE, takes: { ...CAPABLE.takes, tools: false } };
  expect(refusalOf(() => rendered({}, traits)).param).toBe('tools');
});

describe('strict', () => {
  const strictOf = (parameters: string | null, strict: boolean | null, traits = CAPABLE) => {
    const { body, dropped } = rendered({ tools: [tool('f', { parameters, strict })] }, traits);
    return [body.tools[0].function.strict, dropped];
  };
  const loose = withChatTraits({ strictSchemas: false });

  test.each([
    ['asked for, and the schema allows it', STRICT, true, CAPABLE, true, []],
    ['asked for, but the schema is open', OPEN, true, CAPABLE, undefined, ['tools.0.strict']],
    ['asked for, but there is no schema', null, true, CAPABLE, undefined, ['tools.0.strict']],
    ['asked for, but the host takes it not', STRICT, true, loose, undefined, ['tools.0.strict']],
    ['not asked for', STRICT, null, CAPABLE, undefined, []],
    ['refused', STRICT, false, CAPABLE, false, []],
    ['refused, at a host that takes it not', STRICT, false, loose, undefined, []],
  ] as const)('%s', (_case, parameters, requested, traits, sent, dropped) => {
    expect(strictOf(parameters, requested, traits)).toEqual([sent, [...dropped]]);
  });
});

describe('tool_choice', () => {
  const allowed = { kind: 'allowed', mode: 'required', names: ['g'] } as const;
  const tools = [tool('f'), tool('g')];

  test.each(['auto', 'none', 'required'] as const)('%s', (kind) => {
    expect(rendered({ tool_choice: { kind } }).body.tool_choice).toBe(kind);
  });

  test('a refused free-text tool is named', () => {
    const { body } = rendered({
      tools: [{ kind: 'custom', name: 'm', description: null, grammar: null }],
      tool_choice: { kind: 'tool', name: 'm' },
    });
    expect(body.tool_choice).toEqual({ type: 'custom', custom: { name: 'm' } });
  });

  test('a choice among some tools is sent, or emulated by omitting the others', () => {
    expect(rendered({ tools, tool_choice: allowed }).body.tool_choice).toEqual({
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'g' } }] },
    });
    const { body } = rendered({ tools, tool_choice: allowed }, withChatTraits({ openaiMembers: false }));
    expect([body.tool_choice, body.tools.length, body.tools[0].function.name]).toEqual(['required', 1, 'g']);
  });

  test('among tools that are not there is refused where one must be called', () => {
    const none = (mode: 'auto' | 'required') => ({ kind: 'allowed', mode, names: ['h'] }) as const;
    const plain = withChatTraits({ openaiMembers: false });
    expect(refusalOf(() => rendered({ tools, tool_choice: none('required') }, plain)).param).toBe('tool_choice');
    expect(rendered({ tools, tool_choice: none('auto') }, plain).body).not.toContainKeys(['tools', 'tool_choice']);
  });

  test('without tools, omits a choice of none and refuses any other', () => {
    expect(rendered({ tools: [], tool_choice: { kind: 'auto' } }).body).not.toContainKeys(['tools', 'tool_choice']);
    expect(refusalOf(() => rendered({ tools: [], tool_choice: { kind: 'required' } })).param).toBe('tool_choice');
  });
});

test('parallel_tool_calls is sent where the host takes it; false is named where not', () => {
  const without = withChatTraits({ parallelToolCalls: false });
  expect(rendered({ parallel_tool_calls: false }).body.parallel_tool_calls).toBe(false);
  expect(rendered({ parallel_tool_calls: false, tools: [] }).body).not.toContainKey('parallel_tool_calls');
  expect(rendered({ parallel_tool_calls: false }, without).dropped).toEqual(['parallel_tool_calls']);
  expect(rendered({ parallel_tool_calls: true }, without).dropped).toEqual([]);
});

test('a schema gets what it lacks for OpenAI, although it says nothing', () => {
  const tool = { kind: 'function', name: 'f', description: null, strict: null, cache_mark: null } as const;
  const { body } = render(requestOf({ tools: [{ ...tool, parameters: '{"type":"object"}' }] }));
  expect(body.tools[0].function.parameters).toEqual({ type: 'object', properties: {} });
});

/** Tests how tools and the tool choice are parsed, in the current and in the deprecated form. */
import { describe, expect, test } from 'bun:test';
import { parse, refusalOf } from '../testing/chat-request.ts';

const toolsOf = (...tools: unknown[]) => parse({ tools }).request.tools;
const choiceOf = (tool_choice: unknown) => parse({ tool_choice }).request.tool_choice;

describe('tools', () => {
  test('keep their schema as it was written', () => {
    const parameters = '{"type":"object","properties":{"z":{"const":9007199254740993},"a":{}},"a":1}';
    const text = `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":${parameters},"strict":true}}]}`;
    expect(parse(text).request.tools).toEqual([
      { kind: 'function', name: 'f', description: 'd', parameters, strict: true, cache_mark: null },
    ]);
  });

  test('tools without a type but with a function are functions; both forms may have marks', () => {
    const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    expect(
      toolsOf({ function: { name: 'f', description: '' }, ...mark }, { function: { name: 'g', ...mark } }),
    ).toEqual([
      { kind: 'function', name: 'f', description: '', parameters: null, strict: null, cache_mark: { ttlMinutes: 60 } },
      {
        kind: 'function',
        name: 'g',
        description: null,
        parameters: null,
        strict: null,
        cache_mark: { ttlMinutes: 60 },
      },
    ]);
  });

  test('tools of free text keep their grammar', () => {
    const grammar = { definition: 'start: "a"', syntax: 'lark' };
    expect(
      toolsOf(
        { type: 'custom', custom: { name: 'a', description: 'd', format: { type: 'grammar', grammar } } },
        { type: 'custom', custom: { name: 'b', format: { type: 'text' } } },
      ),
    ).toEqual([
      { kind: 'custom', name: 'a', description: 'd', grammar: JSON.stringify(grammar) },
      { kind: 'custom', name: 'b', description: null, grammar: null },
    ]);
  });

  test('tools of an unknown type are unchanged', () => {
    const tool = { type: 'openrouter:web_search', parameters: { max_uses: 1 } };
    expect(toolsOf(tool)).toEqual([
      { kind: 'opaque', type: tool.type, name: null, native: { origin: 'chat', json: JSON.stringify(tool) } },
    ]);
  });

  test('as deprecated functions are functions', () => {
    const { request } = parse({ functions: [{ name: 'f' }], function_call: { name: 'f' } });
    expect(request.tools).toMatchObject([{ kind: 'function', name: 'f' }]);
    expect(request.tool_choice).toEqual({ kind: 'tool', name: 'f' });
    expect(request.named).toEqual({ tools: 'functions', tool_choice: 'function_call' });
  });

  test('tools in both forms at once are refused', () => {
    const both = { functions: [{ name: 'f' }], tools: [{ type: 'function', function: { name: 'g' } }] };
    expect(refusalOf(() => parse(both)).param).toBe('functions');
  });

  test.each([
    [{}, 'tools.0.function'],
    [{ type: 'function', function: {} }, 'tools.0.function.name'],
    [{ type: 'function', function: { name: '' } }, 'tools.0.function.name'],
    [{ type: 'function', function: { name: 'f', parameters: [] } }, 'tools.0.function.parameters'],
    [{ type: 'function', function: { name: 'f', strict: 'yes' } }, 'tools.0.function.strict'],
    [{ type: 'custom', custom: { name: 'f', format: { type: 'regex' } } }, 'tools.0.custom.format.type'],
    [7, 'tools.0'],
  ])('%j is refused, naming %s', (tool, param) => {
    expect(refusalOf(() => toolsOf(tool)).param).toBe(param);
  });
});

describe('tool_choice', () => {
  test.each([
    ['none', { kind: 'none' }],
    ['auto', { kind: 'auto' }],
    ['required', { kind: 'required' }],
    ['any', { kind: 'required' }],
    [
      { type: 'function', function: { name: 'f' } },
      { kind: 'tool', name: 'f' },
    ],
    [{ function: { name: 'f' } }, { kind: 'tool', name: 'f' }],
    [
      { type: 'custom', custom: { name: 'f' } },
      { kind: 'tool', name: 'f' },
    ],
    [
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
      { kind: 'allowed', mode: 'required', names: ['f'] },
    ],
  ] as const)('%j', (written, read) => {
    expect(choiceOf(written)).toEqual(read as ReturnType<typeof choiceOf>);
  });

  test('bug: Envoy AI Gateway, the word "function" is no tool’s name', () => {
    expect(refusalOf(() => choiceOf('function')).message).toBe(
      'tool_choice: found "function"; expected none, auto, required, or an object that names a tool',
    );
  });

  test.each([
    [{ type: 'auto' }, 'tool_choice.type'],
    [{ type: 'function' }, 'tool_choice.function'],
    [{ type: 'allowed_tools', allowed_tools: { mode: 'some', tools: [] } }, 'tool_choice.allowed_tools.mode'],
    [{ type: 'allowed_tools', allowed_tools: { mode: 'auto' } }, 'tool_choice.allowed_tools.tools'],
    [7, 'tool_choice'],
  ])('%j is refused, naming %s', (written, param) => {
    expect(refusalOf(() => choiceOf(written)).param).toBe(param);
  });
});

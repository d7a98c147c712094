/**
 * Tests the rendering of tools, the tool choice and tools for structured output against the wire reference, B.4, B.9
 * and C.1.
 */
import { describe, expect, test } from 'bun:test';
import { textPart } from '../../../generation/part.ts';
import type { GenerationRequest, Tool, ToolChoice } from '../../../generation/request.ts';
import { CAPABLE, withMessagesTraits } from '../../testing/capable-upstream.ts';
import { refusal, render, requestWith } from '../testing/request-rig.ts';

type FunctionTool = Extract<Tool, { kind: 'function' }>;
const tool = (name: string, changes: Partial<FunctionTool> = {}): FunctionTool => ({
  kind: 'function',
  name,
  description: null,
  parameters: '{"type":"object"}',
  strict: null,
  cache_mark: null,
  ...changes,
});
const toolsOf = (...tools: Tool[]) => render(requestWith({ tools }));
const schemaOf = (parameters: string | null) => {
  const { json } = toolsOf(tool('t', { parameters }));
  return json.slice(json.indexOf('"input_schema":') + 15, json.lastIndexOf('}]'));
};
const UNFORCED = withMessagesTraits({ forcedToolChoice: false });

describe('tools', () => {
  test('a function keeps its words, its schema and its strictness', () => {
    const { body } = toolsOf(tool('t', { description: 'd', strict: true, cache_mark: { ttlMinutes: 60 } }));
    expect(body.tools).toEqual([
      {
        name: 't',
        description: 'd',
        input_schema: { type: 'object', properties: {}, additionalProperties: false },
        strict: true,
        cache_control: { type: 'ephemeral', ttl: '1h' },
      },
    ]);
  });

  test('the schema of a strict one is fitted to what Anthropic holds arguments to, of another left as it is', () => {
    const parameters = '{"type":"object","properties":{"a":{"type":"string","maxLength":9}}}';
    const strict = toolsOf(tool('s', { strict: true, parameters }), tool('t', { strict: false, parameters }));
    const fitted = { a: { type: 'string', description: '{maxLength: 9}' } };
    expect(strict.body.tools[0].input_schema).toEqual({
      type: 'object',
      properties: fitted,
      additionalProperties: false,
    });
    expect(strict.body.tools[1].input_schema).toEqual(JSON.parse(parameters));
    expect(strict.dropped).toEqual(['tools.0.parameters.maxLength']);
  });

  test.each([
    [null, '{"type":"object","properties":{}}'],
    ['{}', '{"type":"object"}'],
    [
      '{"properties":{"a":{"maximum":9007199254740993}} }',
      '{"properties":{"a":{"maximum":9007199254740993}},"type":"object" }',
    ],
    ['{"type":null}', '{"type":"object"}'],
    [
      '{ "type" : "object", "$defs": {"n":{"$ref":"#/$defs/n"}} }',
      '{ "type" : "object", "$defs": {"n":{"$ref":"#/$defs/n"}} }',
    ],
  ])('the schema %j is written as %s', (parameters, written) => {
    expect(schemaOf(parameters)).toBe(written);
  });

  test.each(['{"type":"array"}', '{"type":["object","null"]}', 'true'])('the schema %s is refused', (parameters) => {
    expect(refusal(() => toolsOf(tool('a'), tool('t', { parameters })))?.param).toBe('tools.1');
  });

  test('a strict tool that takes a map is sent without strict, because a closed one could only be empty', () => {
    const map = '{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}}}';
    const { body, dropped } = toolsOf(tool('t', { parameters: map, strict: true }));
    expect([body.tools[0].input_schema, body.tools[0].strict]).toEqual([JSON.parse(map), undefined]);
    expect(dropped).toEqual(['tools.0.strict']);
  });

  test('vector 46: a name that is too long or odd gets an alias, the same in the history and the choice', () => {
    const long = `mcp__${'x'.repeat(150)}`;
    const turns = [
      { role: 'user', name: null, path: 'messages.0', parts: [textPart('hi')] },
      {
        role: 'assistant',
        name: null,
        path: 'messages.1',
        parts: [{ kind: 'tool_call', id: 'a', name: long, tool: 'function', arguments: '', cache_mark: null }],
      },
      {
        role: 'user',
        name: null,
        path: 'messages.2',
        parts: [{ kind: 'tool_result', call_id: 'a', parts: [], is_error: false, cache_mark: null }],
      },
    ] as const;
    const { body, tools } = render(
      requestWith({ turns, tools: [tool(long), tool('dot.ted')], tool_choice: { kind: 'tool', name: long } }),
    );
    const [first, second] = body.tools;
    expect(first.name).toMatch(/^mcp__x+_[0-9a-f]{8}$/);
    expect(first.name).toHaveLength(128);
    expect(body.messages[1].content[0].name).toBe(first.name);
    expect(body.tool_choice).toEqual({ type: 'tool', name: first.name });
    expect([...tools.restored]).toEqual([
      [first.name, long],
      [second.name, 'dot.ted'],
    ]);
  });

  test('a tool of free text is a function of one text, and is known again', () => {
    const { body, tools } = toolsOf({ kind: 'custom', name: 'run', description: 'd', grammar: null });
    expect(body.tools).toEqual([
      {
        name: 'run',
        description: 'd',
        input_schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
      },
    ]);
    expect([...tools.custom]).toEqual(['run']);
  });

  test('a grammar, and a tool that another format runs, are refused; one of Anthropic goes as it is', () => {
    expect(refusal(() => toolsOf({ kind: 'custom', name: 'run', description: null, grammar: '{}' }))?.param).toBe(
      'tools.0',
    );
    const native = (origin: string): Tool => ({
      kind: 'opaque',
      type: 'x',
      name: 'n',
      native: { origin, json: '{"type":"x", "n":1.0}' },
    });
    expect(refusal(() => toolsOf(native('gemini')))?.message).toContain('a tool of type x');
    expect(toolsOf(native('messages')).json).toContain('"tools":[{"type":"x", "n":1.0}]');
  });

  test('a model without tools refuses them, and one without schemas drops strict', () => {
    const request = requestWith({ tools: [tool('t', { strict: true })], named: { tools: 'tools' } });
    expect(refusal(() => render(request, withMessagesTraits({}, { tools: false })))?.param).toBe('tools');
    const { body, dropped } = render(request, withMessagesTraits({}, { structured_output: false }));
    expect([body.tools[0].strict, dropped]).toEqual([undefined, ['tools.0.strict']]);
  });

  test('the search is a tool of Anthropic, and is refused elsewhere', () => {
    const web_search = { context_size: 'high', location: ' {"city":"Bern","country":"CH"} ' };
    const request = requestWith({ web_search, named: { web_search: 'web_search_options' } });
    const { body, dropped } = render(request);
    const user_location = { type: 'approximate', city: 'Bern', country: 'CH' };
    expect(body.tools).toEqual([{ type: 'web_search_20250305', name: 'web_search', user_location }]);
    expect(dropped).toEqual(['web_search_options.search_context_size']);
    expect(refusal(() => render(request, withMessagesTraits({ firstParty: false })))?.param).toBe('web_search_options');
  });
});

describe('the choice of a tool', () => {
  const choose = (tool_choice: ToolChoice | null, parallel_tool_calls: boolean | null = null, traits = CAPABLE) =>
    render(
      requestWith({
        tools: [tool('a'), tool('b')],
        tool_choice,
        parallel_tool_calls,
        named: { tool_choice: 'tool_choice' },
      }),
      traits,
    ).body;

  test.each([
    [null, null, undefined],
    [null, true, undefined],
    [null, false, { type: 'auto', disable_parallel_tool_use: true }],
    [{ kind: 'auto' }, null, { type: 'auto' }],
    [{ kind: 'required' }, false, { type: 'any', disable_parallel_tool_use: true }],
    [{ kind: 'none' }, false, { type: 'none' }],
    [{ kind: 'tool', name: 'b' }, false, { type: 'tool', name: 'b', disable_parallel_tool_use: true }],
  ] as const)('%j with parallel calls %j is %j', (choice, parallel, written) => {
    expect(choose(choice, parallel).tool_choice).toEqual(written);
  });

  test('the allowed tools are all that is sent', () => {
    const auto = choose({ kind: 'allowed', mode: 'auto', names: ['b'] });
    expect([auto.tools.map(({ name }: { name: string }) => name), auto.tool_choice]).toEqual([['b'], { type: 'auto' }]);
    expect(choose({ kind: 'allowed', mode: 'required', names: ['b', 'a'] }).tool_choice).toEqual({ type: 'any' });
  });

  test('vector 45: a forced tool where the model cannot be forced is refused', () => {
    for (const choice of [
      { kind: 'required' },
      { kind: 'tool', name: 'a' },
      { kind: 'allowed', mode: 'required', names: ['a'] },
    ] as const) {
      expect(refusal(() => choose(choice, null, UNFORCED))).toEqual({
        param: 'tool_choice',
        message: 'tool_choice: upstream-model cannot be made to call a tool; ask for "auto", or choose another model',
      });
    }
    expect(choose({ kind: 'auto' }, null, UNFORCED).tool_choice).toEqual({ type: 'auto' });
  });

  test('a choice of a tool that is not there is refused, and one among none', () => {
    expect(refusal(() => choose({ kind: 'tool', name: 'c' }))?.message).toContain('found the tool "c"');
    expect(refusal(() => choose({ kind: 'allowed', mode: 'auto', names: ['a', 'c'] }))?.param).toBe('tool_choice');
    expect(refusal(() => render(requestWith({ tool_choice: { kind: 'required' } })))?.message).toContain(
      'a choice without tools',
    );
  });

  test('renders nothing without tools', () => {
    const { body } = render(requestWith({ tool_choice: { kind: 'auto' }, parallel_tool_calls: false }));
    expect([body.tools, body.tool_choice]).toEqual([undefined, undefined]);
  });
});

describe('the form of the answer', () => {
  const schema =
    '{"type":"object","properties":{"n":{"maximum":9007199254740993,"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}';
  const format = { kind: 'json_schema', name: 'out', description: 'the sum', schema, strict: true } as const;
  const ask = (changes: Partial<GenerationRequest>, traits = withMessagesTraits({}, { structured_output: false })) =>
    render(requestWith({ output_format: format, named: { output_format: 'response_format' }, ...changes }), traits);

  test('a schema that Anthropic takes is carried as it was written', () => {
    const closed =
      '{"type":"object", "properties":{"n":{"$ref":"#/$defs/n"}}, "$defs":{"n":{"const":9007199254740993}}, "additionalProperties":false}';
    const { json, outputTool, dropped } = ask({ output_format: { ...format, schema: closed } }, CAPABLE);
    expect(json).toContain(`"output_config":{"format":{"type":"json_schema","schema":${closed}}}`);
    expect([outputTool, dropped]).toEqual([null, []]);
  });

  test.each([
    '{"type":"object","properties":{"counts":{"type":"object","additionalProperties":{"type":"integer"}}}}',
    '{"type":"object"}',
  ])('the schema %s, which would be empty if closed, goes through a tool', (open) => {
    const { body, outputTool, dropped } = ask({ output_format: { ...format, schema: open } }, CAPABLE);
    expect([body.output_config, body.tools[0].input_schema]).toEqual([undefined, JSON.parse(open)]);
    expect([outputTool, dropped]).toEqual(['json_output', []]);
  });

  test('vector 58: a schema that refers to itself, which Anthropic refuses, goes through a tool', () => {
    const tree =
      '{"type":"object","properties":{"tree":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"array","items":{"$ref":"#/$defs/n"}}}}';
    const { body, json, outputTool, dropped } = ask({ output_format: { ...format, schema: tree } }, CAPABLE);
    expect(json).toContain(`"input_schema":${tree}`);
    expect([body.output_config, outputTool, dropped]).toEqual([undefined, 'json_output', []]);
    const strict = { ...tool('a'), parameters: tree, strict: true } as const;
    const asked = ask({ output_format: null, tools: [strict] }, CAPABLE);
    expect(asked.json).toContain(`"input_schema":${tree}`);
    expect([asked.body.tools[0].strict, asked.dropped]).toEqual([undefined, ['tools.0.strict']]);
  });

  test('another schema is closed, and losses are reported, or refused for a strict key', () => {
    const { body, dropped } = ask({}, CAPABLE);
    expect(body.output_config.format.schema).toEqual({
      type: 'object',
      properties: { n: { $ref: '#/$defs/n' } },
      $defs: { n: { type: 'integer' } },
      additionalProperties: false,
    });
    expect(dropped).toEqual(['response_format.schema.maximum']);
    const request = requestWith({ output_format: format, named: { output_format: 'response_format' } });
    expect(refusal(() => render(request, CAPABLE, true))?.param).toBe('response_format.schema.maximum');
  });

  test('a model without schemas gets a tool for it', () => {
    const { body, json, outputTool } = ask({});
    expect(outputTool).toBe('json_output');
    expect(json).toContain(`"input_schema":${schema}`);
    expect(body.tool_choice).toEqual({ type: 'tool', name: 'json_output', disable_parallel_tool_use: true });
    expect([body.output_config, body.system]).toEqual([undefined, undefined]);
  });

  test('with the caller’s own tools, any of them may be called first', () => {
    const { body, outputTool } = ask({ tools: [tool('json_output')] });
    expect(outputTool).toBe('json_output_2');
    expect(body.tools.map(({ name }: { name: string }) => name)).toEqual(['json_output', 'json_output_2']);
    expect(body.tool_choice).toEqual({ type: 'any' });
  });

  test('tools that must not be called are not offered', () => {
    expect(ask({ tools: [tool('a')], tool_choice: { kind: 'none' } }).body.tools).toHaveLength(1);
  });

  test('a call that the caller forces needs no form', () => {
    const { body, outputTool } = ask({ tools: [tool('a')], tool_choice: { kind: 'tool', name: 'a' } });
    expect([outputTool, body.tools.length, body.tool_choice]).toEqual([null, 1, { type: 'tool', name: 'a' }]);
  });

  test('if no tool can be forced, the prompt requests it', () => {
    const { body } = ask({}, withMessagesTraits({ forcedToolChoice: false }, { structured_output: false }));
    expect(body.tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true });
    expect(body.system.at(-1).text).toContain('"json_output"');
  });

  test('a schema that is no object, and a model without tools, are refused', () => {
    const list = { ...format, schema: '{"type":"array"}' };
    expect(refusal(() => ask({ output_format: list }))?.param).toBe('response_format');
    expect(refusal(() => ask({}, withMessagesTraits({}, { structured_output: false, tools: false })))?.param).toBe(
      'response_format',
    );
  });

  test('the prompt requests plain JSON, and the answer is checked', () => {
    const { body, extractsJson, outputTool } = ask({ output_format: { kind: 'json' } }, CAPABLE);
    expect(body.system).toEqual([{ type: 'text', text: 'Answer with a single JSON object and nothing else.' }]);
    expect([extractsJson, outputTool]).toEqual([true, null]);
  });
});

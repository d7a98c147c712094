/** Tests the request vectors of Gemini: tools, choices, signatures, ids, schemas, formats. */
import { expect, test } from 'bun:test';
import { type Json, list, object } from '../wire-text.ts';
import { partsOf, type Written, writeFor } from './rig.ts';

const LOOK = { type: 'function', function: { name: 'look', parameters: objectOf({ where: { type: 'string' } }) } };
const WAIT = { type: 'function', function: { name: 'wait', parameters: objectOf({ minutes: { type: 'integer' } }) } };
const ASKED = { role: 'user', content: 'When does the ferry leave?' };

function objectOf(properties: object) {
  return { type: 'object', properties };
}

function chat(model: string, request: object): Written {
  return writeFor(model, 'chat', { messages: [ASKED], ...request });
}

const calling = ({ body }: Written) => object(object(body.toolConfig)?.functionCallingConfig);
const config = ({ body }: Written): Json => object(body.generationConfig) ?? {};

const signed = (thought_signature: string) => ({ extra_content: { google: { thought_signature } } });
const callOf = (id: string, more: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: '{"where":"pier"}' },
  ...more,
});

/** Two calls of one turn and their results. */
const PARALLEL = (first: object) => [
  ASKED,
  { role: 'assistant', content: null, tool_calls: [callOf('a', first), callOf('b')] },
  { role: 'tool', tool_call_id: 'b', content: 'fog' },
  { role: 'tool', tool_call_id: 'a', content: 'sun' },
];

/** Two turns of Claude: thinking and a call in each. */
const FROM_CLAUDE = [
  ASKED,
  ...['t1', 't2'].flatMap((id) => [
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Let me see.', signature: 'c2ln' },
        { type: 'tool_use', id, name: 'look', input: { where: 'pier' } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'sun' }] },
  ]),
];

test('vector 1: tool_choice required with two tools is ANY without names', () => {
  expect(calling(chat('gemini-3-pro', { tools: [LOOK, WAIT], tool_choice: 'required' }))).toEqual({ mode: 'ANY' });
});

test('vector 2: a named tool is ANY with its name', () => {
  const written = writeFor('gemini-3-pro', 'messages', {
    messages: [ASKED],
    tools: [{ name: 'f', input_schema: objectOf({ a: { type: 'string' } }) }],
    tool_choice: { type: 'tool', name: 'f' },
  });
  expect(calling(written)).toEqual({ mode: 'ANY', allowedFunctionNames: ['f'] });
});

test('vector 3: the choice none keeps the declarations and removes the search', () => {
  const written = chat('gemini-3-pro', { tools: [LOOK], tool_choice: 'none', web_search_options: {} });
  expect(calling(written)).toEqual({ mode: 'NONE' });
  expect(list(written.body.tools).map((tool) => Object.keys(object(tool) ?? {}))).toEqual([['functionDeclarations']]);
});

test('vector 4: parallel calls are one content, and only the first is signed', () => {
  const written = chat('gemini-3-pro', { tools: [LOOK], messages: PARALLEL(signed('SIG')) });
  expect(
    partsOf(written, 1).map(({ functionCall, thoughtSignature }) => [object(functionCall)?.id, thoughtSignature]),
  ).toEqual([
    ['a', 'SIG'],
    ['b', undefined],
  ]);
  const results = partsOf(written, 2).map((part) => object(part.functionResponse));
  expect(results.map((result) => [result?.id, result?.name, result?.response])).toEqual([
    ['a', 'look', { output: 'sun' }],
    ['b', 'look', { output: 'fog' }],
  ]);
});

test.each([
  [
    'vector 5: from Claude to Gemini 3, each turn begins with the stand-in',
    'gemini-3-pro',
    'skip_thought_signature_validator',
  ],
  ['vector 6: from Claude to Gemini 2.5, nothing stands in', 'gemini-2.5-flash', undefined],
])('%s', (_, model, standIn) => {
  const written = writeFor(model, 'messages', {
    messages: FROM_CLAUDE,
    tools: [{ name: 'look', input_schema: objectOf({ where: { type: 'string' } }) }],
  });
  const turns = list(written.body.contents).map((content) => object(content)?.role);
  expect(turns).toEqual(['user', 'model', 'user', 'model', 'user']);
  for (const turn of [1, 3]) {
    expect(partsOf(written, turn).map((part) => [Object.keys(part)[0], part.thoughtSignature])).toEqual([
      ['functionCall', standIn],
    ]);
  }
});

test('vector 7: calls and results have ids at AI Studio only', () => {
  const request = { tools: [LOOK], messages: PARALLEL({}) };
  const idsAt = (platform: 'ai_studio' | 'vertex') => {
    const written = writeFor('gemini-3-pro', 'chat', request, platform);
    return [1, 2].flatMap((turn) =>
      partsOf(written, turn).map(({ functionCall, functionResponse }) => object(functionCall ?? functionResponse)?.id),
    );
  };
  expect(idsAt('ai_studio')).toEqual(['a', 'b', 'a', 'b']);
  expect(idsAt('vertex')).toEqual([undefined, undefined, undefined, undefined]);
});

test('vector 8: a result with $ref is sent as a string', () => {
  const messages = [
    ASKED,
    { role: 'assistant', content: null, tool_calls: [callOf('a')] },
    { role: 'tool', tool_call_id: 'a', content: '{"$ref":"#/a"}' },
  ];
  const [result] = partsOf(chat('gemini-3-pro', { tools: [LOOK], messages }), 2);
  expect(object(result?.functionResponse)?.response).toEqual({ output: '{"$ref":"#/a"}' });
});

test('vector 9: const becomes an enum, $defs and oneOf stay, pattern is dropped and named', () => {
  const schema = {
    type: 'object',
    properties: {
      kind: { const: 'ferry' },
      where: { $ref: '#/$defs/place' },
      when: { oneOf: [{ type: 'string', pattern: '^[0-9:]+$' }, { type: 'integer' }] },
    },
    $defs: { place: { type: 'string' } },
  };
  const written = chat('gemini-2.5-flash', {
    response_format: { type: 'json_schema', json_schema: { name: 'trip', schema } },
  });
  expect(config(written).responseJsonSchema).toEqual({
    type: 'object',
    properties: {
      kind: { enum: ['ferry'] },
      where: { $ref: '#/$defs/place' },
      when: { oneOf: [{ type: 'string', description: '{pattern: "^[0-9:]+$"}' }, { type: 'integer' }] },
    },
    $defs: { place: { type: 'string' } },
  });
  expect(written.dropped).toEqual(['response_format.schema.pattern']);
});

test('vector 10: a schema beside functions is a tool before Gemini 3, and sent with them from it on', () => {
  const schema = objectOf({ at: { type: 'string' } });
  const request = { tools: [LOOK], response_format: { type: 'json_schema', json_schema: { name: 'trip', schema } } };
  const before = chat('gemini-2.5-pro', request);
  expect(before.outputTool).toBe('json_output');
  expect([config(before).responseMimeType, calling(before)]).toEqual([undefined, { mode: 'ANY' }]);
  const since = chat('gemini-3-pro', request);
  expect([since.outputTool, calling(since)]).toEqual([null, null]);
  expect(config(since)).toMatchObject({ responseMimeType: 'application/json', responseJsonSchema: schema });
});

test.each([
  ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }, ['reasoning_effort']],
  ['gemini-2.5-pro', 'low', { thinkingBudget: 2048, includeThoughts: true }, []],
  ['gemini-2.5-pro', 'xhigh', { thinkingBudget: 32_768, includeThoughts: true }, []],
  ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }, []],
  ['gemini-2.5-flash-lite', 'xhigh', { thinkingBudget: 24_576, includeThoughts: true }, []],
  ['gemini-3-flash-preview', 'minimal', { thinkingLevel: 'minimal', includeThoughts: true }, []],
  ['gemini-3-flash-preview', 'none', { thinkingLevel: 'minimal' }, ['reasoning_effort']],
  ['gemini-3.6-flash', 'xhigh', { thinkingLevel: 'high', includeThoughts: true }, ['reasoning_effort']],
  ['gemini-3.7-flash', 'minimal', { thinkingLevel: 'low', includeThoughts: true }, []],
  ['gemini-3.7-flash-lite', 'minimal', { thinkingLevel: 'minimal', includeThoughts: true }, []],
  ['gemini-flash-latest', 'none', { thinkingLevel: 'low' }, ['reasoning_effort']],
  ['gemini-3.1-pro-preview', 'medium', { thinkingLevel: 'medium', includeThoughts: true }, []],
  ['gemini-4-hydrogen', 'xhigh', { thinkingLevel: 'xhigh', includeThoughts: true }, []],
  ['gemini-9-xenon', 'minimal', { thinkingLevel: 'low', includeThoughts: true }, []],
  ['gemini-2.0-flash', 'low', undefined, ['reasoning_effort']],
] as const)('%s thinks for the effort %s as the table says', (model, reasoning_effort, thinkingConfig, dropped) => {
  const written = chat(model, { reasoning_effort });
  expect([config(written).thinkingConfig, written.dropped]).toEqual([thinkingConfig, [...dropped]]);
});

test('functions beside the search need Gemini 3', () => {
  const request = { tools: [LOOK], web_search_options: {} };
  expect(() => chat('gemini-2.5-flash', request)).toThrow('cannot use the tools of its provider beside functions');
  const written = chat('gemini-3-pro', request);
  expect(written.body.toolConfig).toEqual({
    functionCallingConfig: { mode: 'VALIDATED' },
    includeServerSideToolInvocations: true,
  });
  expect(list(written.body.tools)[1]).toEqual({ googleSearch: {} });
});

test('media of a result stand inside of it from Gemini 3 on, and beside it before', () => {
  const png = 'iVBORw0KGgo=';
  const messages = [
    ASKED,
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'a',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }],
        },
      ],
    },
  ];
  const inline = { inlineData: { mimeType: 'image/png', data: png } };
  const tools = [{ name: 'look', input_schema: objectOf({}) }];
  const at = (model: string) => partsOf(writeFor(model, 'messages', { messages, tools }), 2);
  const result = { id: 'a', name: 'look', response: { output: '' } };
  expect(at('gemini-3-pro')).toEqual([{ functionResponse: { ...result, parts: [inline] } }]);
  expect(at('gemini-2.5-pro')).toEqual([{ functionResponse: result }, inline]);
});

test('media after results are in the order of the calls, as the results are', () => {
  const resultOf = (id: string, data: string) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }],
  });
  const calls = ['a', 'b'].map((id) => ({ type: 'tool_use', id, name: 'look', input: {} }));
  const content = [resultOf('b', 'Qg=='), resultOf('a', 'QQ==')];
  const messages = [ASKED, { role: 'assistant', content: calls }, { role: 'user', content }];
  const parts = partsOf(writeFor('gemini-2.5-pro', 'messages', { messages }), 2);
  const said = parts.map(
    ({ functionResponse, inlineData }) => object(functionResponse)?.id ?? object(inlineData)?.data,
  );
  expect(said).toEqual(['a', 'b', 'QQ==', 'Qg==']);
});

test('Gemma gets the instructions before the first words of the user', () => {
  const messages = [{ role: 'system', content: 'Be brief.' }, ASKED];
  const written = chat('gemma-3-27b-it', { messages });
  expect(written.body.systemInstruction).toBeUndefined();
  expect(partsOf(written, 0)).toEqual([{ text: 'Be brief.' }, { text: ASKED.content }]);
});

test('stop texts beyond the fifth are searched for by the gateway', () => {
  const stop = ['a', 'b', 'c', 'd', 'e', 'f'];
  const written = writeFor('gemini-3-pro', 'messages', { messages: [ASKED], stop_sequences: stop });
  expect([config(written).stopSequences, written.stopTexts]).toEqual([stop.slice(0, 5), ['f']]);
});

test.each([
  [{ type: 'object', additionalProperties: { type: 'string' } }],
  [{ type: 'object', properties: {}, additionalProperties: true }],
  [{ type: 'object', properties: {}, additionalProperties: {} }],
])('the arguments of a tool that takes any names stay: %j', (parameters) => {
  const { body } = chat('gemini-2.5-flash', { tools: [{ type: 'function', function: { name: 'set', parameters } }] });
  expect(body.tools).toEqual([{ functionDeclarations: [{ name: 'set', parametersJsonSchema: parameters }] }]);
});

test.each([[{ type: 'object' }], [{ type: 'object', properties: {}, additionalProperties: false }]])(
  'a tool without arguments has no schema: %j',
  (parameters) => {
    const { body } = chat('gemini-2.5-flash', { tools: [{ type: 'function', function: { name: 'set', parameters } }] });
    expect(body.tools).toEqual([{ functionDeclarations: [{ name: 'set' }] }]);
  },
);

test('patterns of names of arguments are told in words', () => {
  const parameters = { type: 'object', patternProperties: { '^x-': { type: 'string' } } };
  const { body } = chat('gemini-2.5-flash', { tools: [{ type: 'function', function: { name: 'set', parameters } }] });
  const description = '{patternProperties: {"^x-":{"type":"string"}}}';
  const parametersJsonSchema = { type: 'object', description };
  expect(body.tools).toEqual([{ functionDeclarations: [{ name: 'set', parametersJsonSchema }] }]);
});

test('a circle of required arguments is opened, because Gemini refuses it', () => {
  const either = { anyOf: [{ type: 'string' }, { $ref: '#/$defs/filter' }] };
  const pair = { type: 'object', properties: { left: either, right: either, by: { type: 'string' } } };
  const list = { type: 'array', items: { $ref: '#/$defs/filter' } };
  const parameters = {
    type: 'object',
    properties: { filter: { $ref: '#/$defs/filter' } },
    required: ['filter'],
    $defs: {
      filter: {
        type: 'object',
        properties: { and: { ...pair, required: ['left', 'right', 'by'] }, any: list, all: { ...list, minItems: 1 } },
        required: ['and', 'any', 'all'],
      },
    },
  };
  const { body, dropped } = chat('gemini-3-pro', {
    tools: [{ type: 'function', function: { name: 'f', parameters } }],
  });
  const { and, any, all } = parameters.$defs.filter.properties;
  const filter = {
    type: 'object',
    properties: { and: { ...and, required: ['by'] }, any, all },
    required: ['and', 'any'],
  };
  expect(body.tools).toEqual([
    { functionDeclarations: [{ name: 'f', parametersJsonSchema: { ...parameters, $defs: { filter } } }] },
  ]);
  expect(dropped).toEqual([]);
});

test('a name that begins with a digit gets an underscore', () => {
  const tool = { type: 'function', function: { name: '2nd', parameters: objectOf({}) } };
  const [tools] = list(chat('gemini-3-pro', { tools: [tool] }).body.tools).map(object);
  expect(tools).toEqual({ functionDeclarations: [{ name: '_2nd' }] });
});

test('a URL has a media type, by its end or by the kind of its part', () => {
  const image = (url: string) => ({ type: 'image_url', image_url: { url } });
  const content = [image('https://harbor.example/pier.png?w=1'), image('https://harbor.example/pier')];
  expect(partsOf(chat('gemini-3-pro', { messages: [{ role: 'user', content }] }), 0)).toEqual([
    { fileData: { mimeType: 'image/png', fileUri: 'https://harbor.example/pier.png?w=1' } },
    { fileData: { mimeType: 'image/jpeg', fileUri: 'https://harbor.example/pier' } },
  ]);
});

test.each([
  'gs://operator-bucket/report.pdf',
  'GS://operator-bucket/report.pdf',
  'https://generativelanguage.googleapis.com/v1beta/files/abc',
  'https://eu-aiplatform.googleapis.com./v1/files/abc',
  'files/abc',
])('an address that Google would read with the operator’s credential is refused: %s', (url) => {
  const content = [{ type: 'document', source: { type: 'url', url } }];
  const messages = [{ role: 'user', content }];
  expect(() => writeFor('gemini-3-pro', 'messages', { messages })).toThrow('no public URL');
});

test('instructions between turns are the user’s, marked; an attribution of Claude Code is left out', () => {
  const system = [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2' },
    { type: 'text', text: 'Be brief.' },
  ];
  const { body } = writeFor('gemini-3-pro', 'messages', { system, messages: [ASKED] });
  expect(body.systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }] });
  const messages = [ASKED, { role: 'assistant', content: 'At noon.' }, { role: 'system', content: 'Hurry.' }, ASKED];
  expect(partsOf(chat('gemini-3-pro', { messages }), 2)).toEqual([
    { text: '<system>Hurry.</system>' },
    { text: ASKED.content },
  ]);
});

/** Tests the rendering of Converse requests against provider reference C.3, and the table of features. */
import { describe, expect, test } from 'bun:test';
import type { Part, ReasoningPart, ToolCallPart } from '../../../generation/part.ts';
import { textPart } from '../../../generation/part.ts';
import { FEATURES, type Feature, type GenerationRequest, type Tool } from '../../../generation/request.ts';
import { assistantTurn, turn, userTurn } from '../../../generation/testing/request-of.ts';
import { refusal } from '../../messages/testing/request-rig.ts';
import { readFate } from '../../request/translation-notes.ts';
import { CAPABLE } from '../../testing/capable-upstream.ts';
import { vendorOf, vendorTraits } from '../shared/vendors.ts';
import { CLAUDE, GPT_OSS, LLAMA, MISTRAL, NOVA, render, traitsOf } from '../testing/converse-rig.ts';
import { RENDERED_FEATURES } from './render-request.ts';

const marked = (text: string, ttlMinutes: number | null = null): Part => ({
  ...textPart(text),
  cache_mark: { ttlMinutes },
});
const call = (id: string, changes: Partial<ToolCallPart> = {}): Part => ({
  kind: 'tool_call',
  id,
  name: 'look',
  tool: 'function',
  arguments: '{"n":1.0}',
  cache_mark: null,
  ...changes,
});
const result = (call_id: string, ...parts: readonly Part[]): Part => ({
  kind: 'tool_result',
  call_id,
  parts: parts as Extract<Part, { kind: 'tool_result' }>['parts'],
  is_error: false,
  cache_mark: null,
});
const reasoning = (changes: Partial<ReasoningPart> = {}): Part => ({
  kind: 'reasoning',
  text: 'so',
  signature: 'c2ln',
  redacted: false,
  issuer: 'messages',
  ...changes,
});
const tool = (name: string, changes: Partial<Extract<Tool, { kind: 'function' }>> = {}): Tool => ({
  kind: 'function',
  name,
  description: null,
  parameters: null,
  strict: null,
  cache_mark: null,
  ...changes,
});
const document = (title: string | null, text = 'a'): Part => ({
  kind: 'document',
  source: { kind: 'text', text },
  title,
  context: null,
  cites: false,
  cache_mark: null,
});
const PNG = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
const image = (base64: string): Part => ({
  kind: 'image',
  source: { kind: 'base64', media_type: 'image/jpeg', base64 },
  detail: null,
  cache_mark: null,
});
const contentOf = (...parts: readonly Part[]) => render({ turns: [userTurn(...parts)] }).body.messages[0].content;

test('a plain request is its messages: model and stream are in the address', () => {
  expect(render({ stream: true }).json).toBe('{"messages":[{"role":"user","content":[{"text":"hello"}]}]}');
});

describe('the vendor of a model', () => {
  test.each([
    [CLAUDE, 'anthropic'],
    ['anthropic.claude-v2', 'anthropic'],
    ['us.deepseek.r1-v1:0', 'deepseek'],
    ['moonshot.kimi-k2-thinking', 'moonshot'],
    ['us.anthropic.claude-3-7-sonnet-20250219-v1:0', 'anthropic'],
    ['arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-2-lite-v1:0', 'amazon'],
    ['arn:aws:bedrock:us-east-1::foundation-model/qwen.qwen3-32b-v1:0', 'qwen'],
    ['arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123', null],
  ])('%s is %p', (model, vendor) => {
    expect(vendorOf(model)).toBe(vendor);
  });

  test.each([
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', true],
    ['anthropic.claude-opus-4-8', true],
    ['anthropic.claude-haiku-5-20261001-v1:0', true],
    ['us.anthropic.claude-sonnet-4-20250514-v1:0', false],
    ['us.anthropic.claude-opus-4-1-20250805-v1:0', false],
    ['anthropic.claude-3-7-sonnet-20250219-v1:0', false],
    ['anthropic.claude-v2', false],
    ['anthropic.claude-instant-v1', false],
    ['us.amazon.nova-2-lite-v1:0', false],
    ['qwen.qwen3-32b-v1:0', true],
  ])('%s keeps to schemas: %p', (model, schemas) => {
    expect(vendorTraits(model).schemas).toBe(schemas);
  });
});

describe('messages', () => {
  test('are joined by role, without blank texts, and results come first', () => {
    const turns = [
      assistantTurn(textPart('first')),
      userTurn(textPart('a'), textPart(' ')),
      userTurn(textPart('b')),
      assistantTurn(call('c1'), call('c2')),
      userTurn(textPart('beside'), result('c2', textPart('two')), result('c1', textPart(''))),
    ];
    const { body } = render({ turns, tools: [tool('look')] });
    const use = (toolUseId: string) => ({ toolUse: { toolUseId, name: 'look', input: { n: 1 } } });
    expect(body.messages).toEqual([
      { role: 'user', content: [{ text: '(continued)' }] },
      { role: 'assistant', content: [{ text: 'first' }] },
      { role: 'user', content: [{ text: 'a' }, { text: 'b' }] },
      { role: 'assistant', content: [use('c1'), use('c2')] },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'c1', content: [{ text: '(no output)' }] } },
          { toolResult: { toolUseId: 'c2', content: [{ text: 'two' }] } },
          { text: 'beside' },
        ],
      },
    ]);
    expect(render({ turns, tools: [tool('look')] }).json).toContain('"input":{"n":1.0}');
  });

  test('have instructions in front, and later ones as the user’s', () => {
    const turns = [
      turn('system', [textPart('be kind')]),
      userTurn(textPart('a')),
      turn('developer', [textPart('now')]),
    ];
    expect(render({ turns }, NOVA).body).toMatchObject({
      system: [{ text: 'be kind' }],
      messages: [{ role: 'user', content: [{ text: 'a' }, { text: '<system>now</system>' }] }],
    });
    expect(render({ turns: [...turns, userTurn(textPart('b'))] }).body.messages[1]).toEqual({
      role: 'system',
      content: [{ text: 'now' }],
    });
  });

  test('have a beginning of the answer without white space at its end', () => {
    const turns = [userTurn(textPart('a')), assistantTurn(textPart('So \n'))];
    const { body, dropped } = render({ turns });
    expect([body.messages[1].content, dropped]).toEqual([[{ text: 'So' }], ['messages[].content']]);
  });

  test('have reasoning only if it is signed, and only at models of Anthropic', () => {
    const parts = [
      reasoning(),
      reasoning({ redacted: true, signature: 'aGk=', text: '' }),
      reasoning({ signature: null }),
      reasoning({ signature: 'gw1.mark' }),
      reasoning({ issuer: 'gemini' }),
      textPart('b'),
    ];
    const turns = [userTurn(textPart('a')), assistantTurn(...parts), userTurn(textPart('c'))];
    expect(render({ turns }).body.messages[1].content).toEqual([
      { reasoningContent: { reasoningText: { text: 'so', signature: 'c2ln' } } },
      { reasoningContent: { redactedContent: 'aGk=' } },
      { text: 'b' },
    ]);
    expect(render({ turns }, GPT_OSS).body.messages[1].content).toEqual([{ text: 'b' }]);
  });

  test('that are empty after all are refused', () => {
    expect(refusal(() => render({ turns: [userTurn(textPart(' '))] }))?.message).toContain('nothing that can be read');
  });
});

describe('media', () => {
  test('have the format of their bytes', () => {
    expect(contentOf(image(PNG))).toEqual([{ image: { format: 'png', source: { bytes: PNG } } }]);
    expect(refusal(() => contentOf(image('aGVsbG8=')))?.message).toContain('whose bytes are none of those');
  });

  test('behind an address are refused, because Bedrock fetches nothing', () => {
    const source = { kind: 'url', url: 'https://a.example/b.png' } as const;
    const one: Part = { kind: 'image', source, detail: null, cache_mark: null };
    expect(refusal(() => contentOf(one))?.message).toContain('which Bedrock does not fetch');
  });

  test('sounds have the format that was declared', () => {
    const sound = (media_type: string): Part => {
      return { kind: 'audio', source: { kind: 'base64', media_type, base64: 'aGk=' }, detail: null, cache_mark: null };
    };
    for (const [type, format] of [
      ['mpeg', 'mp3'],
      ['mp4', 'mp4'],
      ['mkv', 'mkv'],
      ['pcm', 'pcm'],
    ] as const) {
      expect(contentOf(sound(`audio/${type}`))).toEqual([{ audio: { format, source: { bytes: 'aGk=' } } }]);
    }
    expect(refusal(() => contentOf(sound('audio/midi')))?.message).toContain('expected wav or mp3');
  });

  test('documents have clean names, each its own, and a text beside them', () => {
    const named = (...titles: readonly (string | null)[]) =>
      contentOf(...titles.map((title) => document(title))).flatMap(
        (block: { document?: { name: string } }) => block.document?.name ?? [],
      );
    expect(named('a.b  (c)\n[d]-é.txt', null, null, 'x'.repeat(300))).toEqual([
      'a b (c) [d]- txt',
      'Document',
      'Document 2',
      'x'.repeat(194),
    ]);
    expect(contentOf(document('t', 'words'))).toEqual([
      { document: { format: 'txt', name: 't', source: { bytes: Buffer.from('words').toString('base64') } } },
      { text: 'See the document.' },
    ]);
  });

  test('search results of Anthropic’s format keep their form; other blocks become words', () => {
    const json = JSON.stringify({
      source: 'S',
      title: 'T',
      content: [{ type: 'text', text: 'a' }],
      citations: { enabled: true },
    });
    const opaque = (type: string): Part => ({ kind: 'opaque', type, native: { origin: 'messages', json }, words: 'w' });
    expect(contentOf(opaque('search_result'), opaque('other'))).toEqual([
      { searchResult: { source: 'S', title: 'T', content: [{ text: 'a' }], citations: { enabled: true } } },
      { text: 'w' },
    ]);
  });
});

describe('names and ids', () => {
  test('that Bedrock refuses get aliases', () => {
    const turns = [
      userTurn(textPart('a')),
      assistantTurn(call('a.b:c'), call('ü'), call('x', { name: 'odd.name' })),
      userTurn(result('a.b:c'), result('ü'), result('x')),
    ];
    const { body, tools } = render({ turns, tools: [tool('look'), tool('odd.name')] });
    const [one, two, three] = body.messages[1].content.map(({ toolUse }: { toolUse: object }) => toolUse);
    expect([one.toolUseId, two.toolUseId, three.name]).toEqual([
      'a.b:c',
      expect.stringMatching(/^__[0-9a-f]{8}$/),
      expect.any(String),
    ]);
    expect(tools.restored.get(three.name)).toBe('odd.name');
    expect(body.messages[2].content[1].toolResult.toolUseId).toBe(two.toolUseId);
    const atMistral = render({ turns, tools: [tool('look'), tool('odd.name')] }, MISTRAL).body.messages[1].content;
    for (const { toolUse } of atMistral) expect(toolUse.toolUseId).toMatch(/^[A-Za-z0-9]{9}$/);
  });
});

describe('cache points', () => {
  const POINT = { cachePoint: { type: 'default' } };

  test('follow what is marked, with an hour where the model has it', () => {
    const request: Partial<GenerationRequest> = {
      turns: [turn('system', [marked('s', 60)]), userTurn(marked('a'))],
      tools: [tool('look', { cache_mark: { ttlMinutes: 5 } })],
    };
    const claude = render(request).body;
    expect([claude.system, claude.messages[0].content, claude.toolConfig.tools.slice(1)]).toEqual([
      [{ text: 's' }, { cachePoint: { type: 'default', ttl: '1h' } }],
      [{ text: 'a' }, POINT],
      [POINT],
    ]);
    const nova = render(request, NOVA);
    expect([nova.body.system, nova.body.toolConfig.tools.length, nova.dropped]).toEqual([
      [{ text: 's' }, POINT],
      1,
      ['cache_control', 'cache_control.ttl'],
    ]);
    const llama = render(request, LLAMA);
    expect([llama.json.includes('cachePoint'), llama.dropped]).toEqual([false, ['cache_control']]);
  });

  test('are at most four, the last ones; a mark on the whole request is one', () => {
    const turns = [userTurn(...['a', 'b', 'c', 'd'].map((text) => marked(text)), textPart('e'))];
    const { body, dropped } = render({ turns, cache_mark: { ttlMinutes: null } });
    const shape = body.messages[0].content.map((block: object) => ('cachePoint' in block ? '|' : 'x')).join('');
    expect([shape, dropped]).toEqual(['xx|x|x|x|', ['cache_control']]);
  });

  test('of the whole request are behind the last words of the user, also where the model continues an answer', () => {
    const turns = [userTurn(textPart('a')), assistantTurn(textPart('So'))];
    const { body, dropped } = render({ turns, cache_mark: { ttlMinutes: null } });
    expect([body.messages[0].content, body.messages[1].content, dropped]).toEqual([
      [{ text: 'a' }, POINT],
      [{ text: 'So' }],
      [],
    ]);
  });

  test('of a result’s parts are behind the result', () => {
    const turns = [userTurn(textPart('a')), assistantTurn(call('c')), userTurn(result('c', marked('x')))];
    const { content } = render({ turns, tools: [tool('look')] }).body.messages[2];
    expect(content).toEqual([{ toolResult: { toolUseId: 'c', content: [{ text: 'x' }] } }, POINT]);
  });
});

describe('tools', () => {
  const history = [userTurn(textPart('a')), assistantTurn(call('c')), userTurn(result('c', textPart('b')))];
  const tools = [tool('look', { description: ' ', parameters: '{"properties":{}}' }), tool('other')];

  test('have a schema of type object, and no blank description', () => {
    expect(render({ tools: [tools[0] ?? tool('x')] }).body.toolConfig).toEqual({
      tools: [{ toolSpec: { name: 'look', inputSchema: { json: { properties: {}, type: 'object' } } } }],
    });
  });

  test.each<readonly [GenerationRequest['tool_choice'], object | undefined]>([
    [null, undefined],
    [{ kind: 'auto' }, { auto: {} }],
    [{ kind: 'required' }, { any: {} }],
    [{ kind: 'tool', name: 'look' }, { tool: { name: 'look' } }],
    [{ kind: 'allowed', mode: 'required', names: ['look'] }, { any: {} }],
  ])('with the choice %j have toolChoice %j', (tool_choice, expected) => {
    expect(render({ tools, tool_choice }).body.toolConfig.toolChoice).toEqual(expected);
  });

  test('with the choice none are left out; they stay, and it is named, if the history has calls', () => {
    expect(render({ tools, tool_choice: { kind: 'none' } }).body.toolConfig).toBeUndefined();
    const { body, dropped } = render({ turns: history, tools, tool_choice: { kind: 'none' } });
    expect([body.toolConfig.tools.length, body.toolConfig.toolChoice, dropped]).toEqual([
      2,
      undefined,
      ['tool_choice'],
    ]);
  });

  test('of earlier calls that are no longer offered have a stub', () => {
    const { body } = render({ turns: history });
    expect(body.toolConfig.tools).toMatchObject([
      { toolSpec: { name: 'look', inputSchema: { json: { type: 'object' } } } },
    ]);
  });

  test('may be called one at a time at models of Anthropic', () => {
    const claude = render({ tools, tool_choice: { kind: 'required' }, parallel_tool_calls: false });
    expect([claude.body.toolConfig.toolChoice, claude.body.additionalModelRequestFields, claude.dropped]).toEqual([
      undefined,
      { tool_choice: { type: 'any', disable_parallel_tool_use: true } },
      [],
    ]);
    const nova = render({ tools, parallel_tool_calls: false }, NOVA);
    expect([nova.body.additionalModelRequestFields, nova.dropped]).toEqual([undefined, ['parallel_tool_calls']]);
  });

  test('are strict where the model keeps to schemas', () => {
    const strict = [tool('look', { strict: true, parameters: '{"type":"object","properties":{}}' })];
    expect(render({ tools: strict }).body.toolConfig.tools[0].toolSpec.strict).toBe(true);
    expect(render({ tools: strict }, NOVA).dropped).toEqual(['tools.0.strict']);
  });

  test.each<readonly [string, Partial<GenerationRequest>]>([
    [
      'unknown to Bedrock',
      { tools: [{ kind: 'opaque', type: 'bash', name: 'bash', native: { origin: 'messages', json: '{}' } }] },
    ],
    ['to a grammar', { tools: [{ kind: 'custom', name: 'f', description: null, grammar: '{}' }] }],
    ['has no search', { web_search: { context_size: null, location: null } }],
    ['which is not among tools', { tools, tool_choice: { kind: 'tool', name: 'x' } }],
  ])('are refused: %s', (words, changes) => {
    expect(refusal(() => render(changes))?.message).toContain(words);
  });
});

describe('sampling and limits', () => {
  const inference = (changes: Partial<GenerationRequest>, model = CLAUDE) => {
    const { body, dropped, stopTexts } = render(changes, model);
    return [body.inferenceConfig, body.additionalModelRequestFields, dropped, stopTexts];
  };

  test('are clamped, and named', () => {
    expect(inference({ temperature: 1.7, top_p: 0.5, outputTokensMax: 9 })).toEqual([
      { maxTokens: 9, temperature: 1, topP: 0.5 },
      undefined,
      ['temperature'],
      [],
    ]);
    const limited = render({ outputTokensMax: 900 }, CLAUDE, traitsOf(CLAUDE, { outputTokensMax: 50 }));
    expect([limited.body.inferenceConfig, limited.dropped]).toEqual([{ maxTokens: 50 }, ['max_tokens']]);
    expect(refusal(() => render({ outputTokensMax: 0 }))?.param).toBe('max_tokens');
  });

  test('top_k is in the vendor’s own field', () => {
    expect(inference({ top_k: 5 })[1]).toEqual({ top_k: 5 });
    expect(inference({ top_k: 5 }, NOVA)[1]).toEqual({ inferenceConfig: { topK: 5 } });
    expect(inference({ top_k: 5 }, LLAMA).slice(1, 3)).toEqual([undefined, ['top_k']]);
  });

  test('stop sequences are asked back at models of Anthropic, and looked for where the model takes none', () => {
    expect(inference({ stop: ['x', ' ', ''] })).toEqual([{ stopSequences: ['x'] }, undefined, [], [' ']]);
    expect(inference({ stop: ['x'] }, GPT_OSS)).toEqual([undefined, undefined, [], ['x']]);
    const paths = (stream: boolean) => render({ stop: ['x'], stream }).body.additionalModelResponseFieldPaths;
    expect([paths(false), paths(true)]).toEqual([['/stop_sequence'], ['/delta/stop_sequence']]);
    expect(render({ stop: ['x'] }, NOVA).body.additionalModelResponseFieldPaths).toBeUndefined();
  });

  test('that OpenAI’s closed models refuse are dropped, defaults without a word', () => {
    const model = 'openai.gpt-5.2-v1:0';
    expect(inference({ temperature: 0.5, top_p: 1 }, model)).toEqual([undefined, undefined, ['temperature'], []]);
  });
});

describe('reasoning', () => {
  const effort = (level: 'low' | 'high' | 'xhigh') => ({
    mode: null,
    budgetTokens: null,
    effort: level,
    display: null,
  });
  const fields = (changes: Partial<GenerationRequest>, model: string) => {
    const { body, dropped } = render(changes, model);
    return [body.additionalModelRequestFields, dropped];
  };

  test('is asked for in each vendor’s words', () => {
    const budget = { mode: 'budget', budgetTokens: 2000, effort: null, display: null } as const;
    expect(render({ reasoning: budget }).body).toMatchObject({
      inferenceConfig: { maxTokens: 8192 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2000 } },
    });
    expect(fields({ reasoning: effort('high') }, GPT_OSS)).toEqual([{ reasoning_effort: 'high' }, []]);
    expect(fields({ reasoning: effort('xhigh') }, GPT_OSS)).toEqual([{ reasoning_effort: 'high' }, ['reasoning']]);
    expect(fields({ reasoning: effort('xhigh') }, 'openai.gpt-5.2-v1:0')).toEqual([
      { reasoning: { effort: 'xhigh' } },
      [],
    ]);
    expect(fields({ reasoning: effort('low') }, LLAMA)).toEqual([undefined, ['reasoning']]);
    expect(fields({ reasoning: { ...budget, mode: 'off', budgetTokens: null } }, LLAMA)).toEqual([undefined, []]);
  });

  test('of Nova is at its highest only without an output limit', () => {
    const nova = (maxReasoningEffort: string) => ({ reasoningConfig: { type: 'enabled', maxReasoningEffort } });
    expect(fields({ reasoning: effort('high') }, NOVA)).toEqual([nova('high'), []]);
    expect(fields({ reasoning: effort('high'), outputTokensMax: 9 }, NOVA)).toEqual([nova('medium'), ['reasoning']]);
    expect(fields({ reasoning: effort('high'), temperature: 0.5 }, NOVA)).toEqual([nova('high'), ['temperature']]);
  });
});

describe('an output format', () => {
  const format = {
    kind: 'json_schema',
    name: 'City',
    description: 'd',
    schema: '{"type":"object","properties":{"name":{"type":"string"}}}',
    strict: null,
  } as const;

  test('is a schema as text where the model keeps to it', () => {
    const { textFormat } = render({ output_format: format }).body.outputConfig;
    expect(textFormat).toMatchObject({
      type: 'json_schema',
      structure: { jsonSchema: { name: 'City', description: 'd' } },
    });
    expect(JSON.parse(textFormat.structure.jsonSchema.schema)).toMatchObject({ type: 'object' });
  });

  test('of a map goes through a tool, whose arguments need not be closed', () => {
    const schema = '{"type":"object","additionalProperties":{"type":"number"}}';
    const { body, outputTool } = render({ output_format: { ...format, schema } });
    expect([body.outputConfig, outputTool]).toEqual([undefined, 'json_output']);
    expect(body.toolConfig.tools[0].toolSpec.inputSchema.json).toEqual(JSON.parse(schema));
  });

  test('goes through a tool where it does not', () => {
    const { body, outputTool } = render({ output_format: format }, NOVA);
    expect([body.outputConfig, outputTool, body.toolConfig.toolChoice]).toEqual([
      undefined,
      'json_output',
      { tool: { name: 'json_output' } },
    ]);
  });

  test('of plain JSON is an instruction', () => {
    const { body, extractsJson } = render({ output_format: { kind: 'json' } });
    expect([extractsJson, body.system]).toEqual([
      true,
      [{ text: 'Answer with a single JSON object and nothing else.' }],
    ]);
  });
});

test('settings of the operator are a guardrail, a tier and a latency; of the guardrail one only in streams', () => {
  const guardrail = { identifier: 'abc', version: '1', trace: 'enabled', streamProcessing: 'sync' } as const;
  const converse = { guardrail, serviceTier: 'flex', latency: 'optimized' } as const;
  const of = (stream: boolean) => render({ stream }, CLAUDE, traitsOf(CLAUDE, { converse })).body;
  const config = { guardrailIdentifier: 'abc', guardrailVersion: '1', trace: 'enabled' };
  expect(of(false)).toMatchObject({ serviceTier: { type: 'flex' }, performanceConfig: { latency: 'optimized' } });
  expect([of(false).guardrailConfig, of(true).guardrailConfig]).toEqual([
    config,
    { ...config, streamProcessingMode: 'sync' },
  ]);
});

test('the attribution of Claude Code is left out of the instructions', () => {
  const [attribution, words] = [textPart('x-anthropic-billing-header: cc_version=2;'), textPart('Be brief.')];
  const { body } = render({ turns: [turn('system', [attribution, words]), userTurn(textPart('Hi'))] });
  expect(body.system).toEqual([{ text: 'Be brief.' }]);
});

test('an end user is a label, hashed where it is private or no label', () => {
  const label = (end_user: string, named = 'user') =>
    render({ end_user, named: { end_user: named } }).body.requestMetadata;
  expect(label('user@a.example')).toEqual({ end_user: 'user@a.example' });
  expect(label('ü')).toEqual({ end_user: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(label('device', 'metadata.user_id')).toEqual({ end_user: expect.stringMatching(/^[0-9a-f]{32}$/) });
});

/** A request with each feature, and the member that shows it. */
const SAMPLES: { readonly [feature in Feature]: readonly [changes: Partial<GenerationRequest>, member: string] } = {
  tools: [{ tools: [tool('look')] }, 'toolConfig'],
  tool_choice: [{ tools: [tool('look')], tool_choice: { kind: 'required' } }, 'toolConfig'],
  parallel_tool_calls: [{ tools: [tool('look')], parallel_tool_calls: false }, 'additionalModelRequestFields'],
  output_limit: [{ outputTokensMax: 5 }, 'inferenceConfig'],
  stop: [{ stop: ['x'] }, 'inferenceConfig'],
  temperature: [{ temperature: 0.5 }, 'inferenceConfig'],
  top_p: [{ top_p: 0.5 }, 'inferenceConfig'],
  top_k: [{ top_k: 5 }, 'additionalModelRequestFields'],
  frequency_penalty: [{ frequency_penalty: 1 }, ''],
  presence_penalty: [{ presence_penalty: 1 }, ''],
  seed: [{ seed: 1 }, ''],
  reasoning: [
    { reasoning: { mode: 'adaptive', budgetTokens: null, effort: 'low', display: null } },
    'additionalModelRequestFields',
  ],
  output_format: [
    { output_format: { kind: 'json_schema', name: null, description: null, schema: '{}', strict: null } },
    'outputConfig',
  ],
  verbosity: [{ verbosity: 'high' }, ''],
  end_user: [{ end_user: 'u' }, 'requestMetadata'],
  service_tier: [{ service_tier: 'priority' }, ''],
  cache_marks: [{ cache_mark: { ttlMinutes: null } }, 'messages'],
  web_search: [{ web_search: { context_size: null, location: null } }, ''],
  logprobs: [{ logprobs: { top: 2 } }, ''],
};

test.each(FEATURES)('%s has the fate that the table says', (feature) => {
  const [changes, member] = SAMPLES[feature];
  const { fate } = readFate(RENDERED_FEATURES[feature]);
  const traits = { ...CAPABLE, model: CLAUDE };
  const refused = refusal(() => render(changes, CLAUDE, traits));
  expect(refused === null ? 'taken' : 'refused').toBe(fate === 'refused' ? 'refused' : 'taken');
  if (refused !== null) return;
  const { body, dropped } = render(changes, CLAUDE, traits);
  expect(dropped).toEqual(fate === 'dropped' ? [feature] : []);
  if (fate === 'dropped') expect(refusal(() => render(changes, CLAUDE, traits, true))?.param).toBe(feature);
  else expect(Object.keys(body)).toContain(member);
});

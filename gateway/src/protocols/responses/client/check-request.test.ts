/** Tests client-protocol.ts and state-members.ts: facts of checked requests, refusals of types, and stored state. */
import { describe, expect, test } from 'bun:test';
import { CallFailure } from '../../../errors/call-failure.ts';
import { CONTEXT, outlineOf, refusalOf } from '../../testing/outline-of.ts';
import { RECORDED_REQUESTS } from '../testing/recorded.ts';
import { responsesClient } from './client-protocol.ts';

const { checkRequest } = responsesClient;
const check = (members: object) => checkRequest(outlineOf({ model: 'm', input: 'hi', ...members }), CONTEXT);
const refusal = (members: object) => refusalOf(checkRequest, { model: 'm', input: 'hi', ...members });

describe('a request', () => {
  test('has its model, limit, stream, end user and usage', () => {
    const facts = check({ max_output_tokens: 50, stream: true, safety_identifier: 'u1', user: 'u2' });
    expect(facts).toMatchObject({
      model: 'm',
      stream: true,
      wantsUsage: true,
      endUser: 'u1',
      outputTokensMax: 50,
      outputLimitMember: 'max_output_tokens',
      otherLimit: null,
      mayChangeLimit: false,
      answers: 1,
      extras: undefined,
      priced: undefined,
    });
    expect(check({ max_output_tokens: null, stream: null, store: false, background: false })).toMatchObject({
      stream: false,
      outputTokensMax: null,
      outputLimitMember: null,
    });
  });

  test('limits of other formats may count at some provider', () => {
    for (const name of ['max_tokens', 'max_completion_tokens', 'n_predict'])
      expect(check({ [name]: 5 }).mayChangeLimit).toBe(true);
  });

  test('counts media of messages and of outputs apart from the text', () => {
    const image = { type: 'input_image', image_url: `data:image/png;base64,${'a'.repeat(5000)}` };
    const facts = check({
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'see' }, image] },
        { type: 'function_call_output', call_id: 'c', output: [image] },
        { type: 'computer_call_output', call_id: 'd', output: { ...image, type: 'computer_screenshot' } },
      ],
    });
    expect([facts.mediaParts, facts.inputBytes < 1000, facts.extras?.mediaInput]).toEqual([3, true, true]);
  });

  test("holds for requests of the provider's tools, as many as are allowed", () => {
    const tools = [{ type: 'web_search_2025_08_26' }, { type: 'file_search' }, { type: 'function', name: 'f' }];
    expect([...(check({ tools }).extras?.toolRequests ?? [])]).toEqual([
      ['web_search', 10],
      ['file_search', 10],
    ]);
    expect(check({ tools, max_tool_calls: 2 }).extras?.toolRequests.get('web_search')).toBe(2);
    expect(check({ tools: [{ type: 'image_generation' }] }).extras?.mediaOutput).toBe(true);
  });

  test('names the tier and other models', () => {
    expect(check({ service_tier: 'priority' }).priced?.tier).toEqual({ service_tier: 'priority' });
    expect(check({ tools: [{ type: 'image_generation', model: 'gpt-image-1' }] }).priced?.models).toMatchObject([
      { path: 'tools.0.model', name: 'gpt-image-1' },
    ]);
  });

  // Vector 40, for a provider of the format.
  test('may have items, parts, tools and members of unknown types', () => {
    const input = [
      { type: 'foo', bar: 1 },
      { role: 'user', content: [{ type: 'baz' }], passthrough: {} },
    ];
    expect(check({ input, tools: [{ type: 'new' }], client_metadata: {}, text: { new: 1 } }).model).toBe('m');
  });
});

test.each([{ previous_response_id: 'resp_1' }, { conversation: 'conv_1' }, { prompt: { id: 'pmpt_1' } }])(
  'may have no input but %p',
  (before) => {
    for (const input of [undefined, null]) expect(check({ input, ...before }).stored).toHaveLength(1);
  },
);

describe('is refused', () => {
  test.each([
    [[], undefined],
    [{ input: 'hi' }, 'model'],
    [{ model: 'm' }, 'input'],
    [{ model: 'm', input: null, prompt: null, previous_response_id: null }, 'input'],
    [{ model: 'm', input: 5 }, 'input'],
    [{ model: 'm', input: ['hi'] }, 'input.0'],
    [{ model: 'm', input: [{ role: 'user', content: ['hi'] }] }, 'input.0.content.0'],
    [{ model: 'm', input: 'hi', max_output_tokens: 0 }, 'max_output_tokens'],
    [{ model: 'm', input: 'hi', max_output_tokens: '9' }, 'max_output_tokens'],
    [{ model: 'm', input: 'hi', stream: 'yes' }, 'stream'],
    [{ model: 'm', input: 'hi', temperature: 3 }, 'temperature'],
    [{ model: 'm', input: 'hi', tools: {} }, 'tools'],
    [{ model: 'm', input: 'hi', include: 'all' }, 'include'],
  ])('%p', (body, param) => {
    const found = refusalOf(checkRequest, body);
    expect([found?.kind, found?.param]).toEqual(['invalid_request', param]);
  });
});

describe('stored state', () => {
  const user = (part: object) => ({ input: [{ role: 'user', content: [part] }] });
  test.each([
    [{ previous_response_id: 'resp_1' }, 'response', 'previous_response_id'],
    [{ conversation: 'conv_1' }, 'conversation', 'conversation'],
    [{ conversation: { id: 'conv_1' } }, 'conversation', 'conversation'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt', 'prompt'],
    ...['text', 'input', 'file'].map((name): [object, string, string] => [
      { prompt: { variables: { [name]: { type: 'input_file', file_id: 'file-1' } } } },
      'file',
      `prompt.variables.${name}.file_id`,
    ]),
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'item', 'input.0'],
    [
      {
        input: [
          { role: 'user', content: 'a' },
          { type: null, id: 'rs_1' },
        ],
      },
      'item',
      'input.1',
    ],
    [{ input: [{ id: 'rs_1' }] }, 'item', 'input.0'],
    [{ input: [{ type: 'reasoning', id: 'rs_1', summary: [] }] }, 'item', 'input.0'],
    ...[null, '', 1, {}].map((encrypted_content): [object, string, string] => [
      { input: [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content }] },
      'item',
      'input.0',
    ]),
    [{ input: [{ type: 'image_generation_call', id: 'ig_1' }] }, 'item', 'input.0'],
    [{ input: [{ type: 'image_generation_call', id: 'ig_1', result: '' }] }, 'item', 'input.0'],
    [user({ type: 'input_image', file_id: 'file-1' }), 'file', 'input.0.content.0.file_id'],
    [user({ type: 'input_file', 'file\u005fid': 'file-1' }), 'file', 'input.0.content.0.file_id'],
    [
      { input: [{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_file', file_id: 'f' }] }] },
      'file',
      'input.0.output.0.file_id',
    ],
    [
      {
        input: [{ type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', file_id: 'f' } }],
      },
      'file',
      'input.0.output.file_id',
    ],
    [
      { input: [{ type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1' }] },
      'container',
      'input.0.container_id',
    ],
    [
      {
        input: [
          { type: 'additional_tools', role: 'developer', tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
        ],
      },
      'vector_store',
      'input.0.tools.0.vector_store_ids',
    ],
    [{ tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }, 'vector_store', 'tools.0.vector_store_ids'],
    [{ tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }, 'container', 'tools.0.container'],
    [
      { tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'] } }] },
      'file',
      'tools.0.container.file_ids',
    ],
    [
      { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'c' } }] },
      'container',
      'tools.0.environment.container_id',
    ],
    [
      { tools: [{ type: 'image_generation', input_image_mask: { file_id: 'f' } }] },
      'file',
      'tools.0.input_image_mask.file_id',
    ],
    [{ tools: [{ type: 'mcp', connector_id: 'connector_gmail' }] }, 'connector', 'tools.0.connector_id'],
    [
      { prompt_cache_options: { comparison_response_id: 'resp_1' } },
      'response',
      'prompt_cache_options.comparison_response_id',
    ],
  ] as ReadonlyArray<[object, string, string]>)('is found: %j', (members, kind, path) => {
    expect(check(members).stored).toMatchObject([{ kind: kind as 'file', path }]);
  });

  test('names its ids, of lists too', () => {
    const tools = [{ type: 'file_search', vector_store_ids: ['vs_1', 'vs_2'] }];
    const found = check({ previous_response_id: 'resp_1', tools }).stored;
    expect(found?.map(({ id }) => id)).toEqual(['resp_1', 'vs_1', 'vs_2']);
  });

  test('a response in the background is noted, for its target must keep it', () => {
    expect(check({ background: true }).background).toBe(true);
    for (const background of [false, null]) expect(check({ background }).background).toBeUndefined();
    expect(refusal({ background: 'yes' })?.param).toBe('background');
  });

  test('but members of that look pass elsewhere', () => {
    const passes = {
      previous_response_id: null,
      conversation: null,
      store: true,
      include: ['reasoning.encrypted_content'],
      input: [
        { role: 'user', content: 'a' },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'blob' },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'a' }] },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'b', annotations: [] }],
        },
        { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{"file_id":"x"}' },
        { type: 'compaction', encrypted_content: 'blob' },
      ],
      tools: [
        { type: 'code_interpreter', container: { type: 'auto', file_ids: [] } },
        { type: 'function', name: 'f', parameters: { properties: { file_id: { type: 'string' } } } },
        { type: 'mcp', server_label: 's', server_url: 'https://mcp.example' },
      ],
    };
    expect(check(passes).stored).toBeUndefined();
  });
});

test.skipIf(RECORDED_REQUESTS === null)(
  'recorded requests pass, and their stored state is found (needs the recordings)',
  () => {
    const found = new Set<string>();
    const refused = new Set<string>();
    for (const { body } of RECORDED_REQUESTS ?? []) {
      try {
        for (const { path } of checkRequest(outlineOf(body), CONTEXT).stored ?? [])
          found.add(path.replaceAll(/\.\d+/g, '[]'));
      } catch (error) {
        if (!(error instanceof CallFailure)) throw error;
        refused.add(error.details.param ?? '');
      }
    }
    // A stored prompt may name the model.
    expect([...refused].sort()).toEqual(['model']);
    expect([...found].sort()).toEqual([
      'conversation',
      'input[]',
      'input[].container_id',
      'input[].content[].file_id',
      'input[].output[].file_id',
      'previous_response_id',
      'tools[].container.file_ids',
      'tools[].vector_store_ids',
    ]);
  },
);

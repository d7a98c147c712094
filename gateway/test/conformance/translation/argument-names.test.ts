/** Tests that a tool whose arguments have names that Anthropic refuses works there, and keeps its names for the client. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Pair, sentTexts, startPair } from '../../harness/start-pair.ts';

const MODELS = ['claude-sonnet-4-6', 'amazon.nova-pro-v1:0'] as const;
const BIG = '9007199254740993';
const FILTER = '_filter_0c097d40';
const PAGE = 'page_size__2ee479a6';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((fakeUrl) => {
    const target = (provider: string) => ({ targets: [{ provider }], price: { input: 1, output: 5 } });
    return {
      providers: {
        claude: { kind: 'anthropic', base_url: `${fakeUrl}/v1`, api_key: 'none' },
        bedrock: { kind: 'bedrock', door: 'runtime', base_url: fakeUrl, region: 'eu-central-1', api_key: 'lab' },
      },
      models: { [MODELS[0]]: target('claude'), [MODELS[1]]: target('bedrock') },
    };
  });
});
afterAll(() => pair.stop());

const schema = {
  type: 'object',
  properties: { $filter: { type: 'string' }, 'page[size]': { type: 'integer' }, top: { properties: { $a: {} } } },
  required: ['$filter', 'top'],
};
const messages = [
  { role: 'user', content: 'List.' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'list', arguments: `{"page[size]": ${BIG}}` } }],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'none' },
];

async function ask(model: string, more: object): Promise<string> {
  const response = await fetch(`${pair.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${pair.gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, ...more }),
  });
  expect(response.status).toBe(200);
  return response.text();
}

/** The arguments of the calls in an answer, or its text, plain or streamed. */
function readAnswer(text: string): string {
  const answers = text.startsWith('{') ? [text] : [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => data);
  return answers
    .flatMap((json) => JSON.parse(json).choices)
    .map(({ message, delta = message }) => delta.tool_calls?.[0]?.function.arguments ?? delta.content ?? '')
    .join('');
}

describe.each(MODELS)('%s', (model) => {
  const tools = [{ type: 'function', function: { name: 'list', parameters: schema } }];

  test.each([false, true])('gets names that it takes, and the client its own, streamed: %j', async (stream) => {
    const input = { [FILTER]: 'a', top: { [FILTER]: 1 } };
    pair.fake.script(model, { say: { calls: [{ id: 'call_2', name: 'list', input }] } });
    expect(JSON.parse(readAnswer(await ask(model, { tools, stream })))).toEqual({ $filter: 'a', top: { [FILTER]: 1 } });
    const sent = sentTexts(pair, model).at(-1) ?? '';
    expect(sent).toContain(
      `"properties":{"${FILTER}":{"type":"string"},"${PAGE}":{"type":"integer"},"top":{"properties":`,
    );
    expect(sent).toContain(`"required":["${FILTER}","top"]`);
    expect(sent).toContain(`{"${PAGE}": ${BIG}}`);
  });
});

test.each([false, true])('an answer that goes through a tool has its own names, streamed: %j', async (stream) => {
  const [model] = MODELS;
  pair.fake.script(model, { say: { calls: [{ id: 'call_2', name: 'json_output', input: { [FILTER]: 'a' } }] } });
  const map = { ...schema, properties: { ...schema.properties, map: { type: 'object', additionalProperties: {} } } };
  const response_format = { type: 'json_schema', json_schema: { name: 'out', schema: map } };
  expect(JSON.parse(readAnswer(await ask(model, { response_format, stream })))).toEqual({ $filter: 'a' });
  expect(sentTexts(pair, model).at(-1)).toContain(`"required":["${FILTER}","top"]`);
});

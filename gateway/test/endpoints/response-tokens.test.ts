/** Tests counts of the tokens of a response: by the provider's counter, else estimated, without cost or record. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { type ObjectUpstream, startObjectUpstream } from './object-upstream.ts';

let upstream: ObjectUpstream;
let gateway: RunningGateway;

beforeAll(async () => {
  upstream = startObjectUpstream();
  const base_url = upstream.url;
  const price = { input: 1, output: 5 };
  const model = (provider: string) => ({ targets: [{ provider, model: 'there' }], price });
  gateway = await startGateway({
    config: {
      providers: {
        host: { kind: 'openai', base_url, api_key: 'credential-host' },
        plain: { kind: 'openai-compatible', base_url, api_key: 'credential-plain' },
        spoken: { kind: 'openai-compatible', preset: 'xai', base_url, api_key: 'credential-spoken' },
        imitator: { kind: 'anthropic-compatible', base_url, api_key: 'credential-imitator' },
      },
      models: { m: model('host'), translated: model('plain'), spoken: model('spoken'), claude: model('imitator') },
    },
  });
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

async function count(body: object, path = 'responses/input_tokens') {
  const response = await fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: (await response.json()) as { [member: string]: unknown } };
}

const input = 'Where is the harbor?';

test('OpenAI counts: it gets the body with its own name of the model', async () => {
  const before = (await gateway.calls()).length;
  const { status, json } = await count({ model: 'm', input });
  expect([status, json]).toEqual([200, { object: 'response.input_tokens', input_tokens: 7 }]);
  const { path, body, credential } = upstream.served.at(-1) ?? {};
  expect([path, credential]).toEqual(['/v1/responses/input_tokens', 'credential-host']);
  expect(JSON.parse(body ?? '')).toEqual({ model: 'there', input });
  expect(await gateway.calls()).toHaveLength(before);
});

test('without an input, its instructions are counted', async () => {
  expect((await count({ model: 'm', instructions: input })).status).toBe(200);
  expect((await count({ model: 'm' }, 'responses')).status).toBe(400);
});

test.each(['translated', 'spoken'])(
  'a model without a counter (%s) gets an estimate, and no request',
  async (model) => {
    const before = upstream.served.length;
    const { status, json } = await count({ model, input });
    expect([status, json.object]).toEqual([200, 'response.input_tokens']);
    expect(json.input_tokens).toBeGreaterThan(3);
    expect(json.input_tokens).toBeLessThan(60);
    expect(upstream.served).toHaveLength(before);
  },
);

test('a host of the messages format without a counter gets an estimate, too', async () => {
  const messages = [{ role: 'user', content: input }];
  const { status, json } = await count({ model: 'claude', messages }, 'messages/count_tokens');
  expect([status, Object.keys(json)]).toEqual([200, ['input_tokens']]);
});

test('a host that lacks the path gets an estimate', async () => {
  upstream.failWith = { status: 404, body: '{"error":{"message":"Not found"}}' };
  const { status, json } = await count({ model: 'm', input });
  upstream.failWith = null;
  expect([status, json.object]).toEqual([200, 'response.input_tokens']);
});

test.each([
  ['an earlier response that is not stored', { previous_response_id: 'resp_none' }, 400],
  [
    'a file that is not stored',
    { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-none' }] }] },
    404,
  ],
  ['an unknown model', { model: 'none' }, 400],
])('%s is refused', async (_name, members, expected) => {
  const before = upstream.served.length;
  expect((await count({ model: 'm', input, ...members })).status).toBe(expected);
  expect(upstream.served).toHaveLength(before);
});

/**
 * Tests responses that the gateway keeps itself, for models of other formats (`defaults.store_responses`): continuing and
 * referring to them, their routes, and other workspaces and accounts.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { type Answer, ask } from '../harness/ask.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { control, createKey } from './make-key.ts';
import { type StoredUpstream, startStoredUpstream } from './stored-upstream.ts';
import { createTenantKeys, type TenantKeys } from './tenants.ts';

let upstream: StoredUpstream;
let gateway: RunningGateway;
let keys: TenantKeys & { readonly silent: string };

function configFor(url: string): object {
  const provider = { kind: 'openai-compatible', base_url: url, api_key: 'credential-plain' };
  return {
    defaults: { store_responses: 'on' },
    providers: { plain: provider, host: { kind: 'openai', base_url: url, api_key: 'credential-host' } },
    models: {
      m: { targets: [{ provider: 'plain' }], price: { input: 1, output: 5 } },
      native: { targets: [{ provider: 'host' }], price: { input: 1, output: 5 } },
    },
  };
}

beforeAll(async () => {
  upstream = startStoredUpstream();
  gateway = await startGateway({ config: configFor(upstream.url) });
  await control(gateway, 'workspaces.create', { id: 'silent', account: 'default', bodies: 'off' });
  keys = {
    ...(await createTenantKeys(gateway)),
    silent: (await createKey(gateway, { workspace: 'silent' })).key,
  };
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

/** Of a stream, `json` is the response of its last event. */
async function send(
  method: string,
  path: string,
  key = keys.own,
  body?: object,
): Promise<Pick<Answer, 'status' | 'json'>> {
  const { status, json, text } = await ask(`${gateway.url}/v1/${path}`, { method, key, body });
  return { status, json: json ?? lastResponse(text) };
}

function lastResponse(stream: string): unknown {
  return JSON.parse(stream.trim().split('data: ').at(-1) ?? '').response;
}

const create = (members: object, key = keys.own) =>
  send('POST', 'responses', key, { model: 'm', input: 'hi', ...members });
interface Message {
  readonly role: string;
  readonly content: unknown;
}
/** The texts of the messages that upstream got last. */
const sentTexts = () => ((upstream.served.at(-1)?.body.messages ?? []) as Message[]).map(textOf);
const textOf = ({ role, content }: Message) =>
  `${role}: ${typeof content === 'string' ? content : (content as { text: string }[]).map(({ text }) => text).join('')}`;

describe.each([false, true])('with stream: %p', (stream) => {
  test('a response says that it is stored, and a later one continues it with its whole conversation', async () => {
    const first = await create({ stream, input: 'one', instructions: 'Be brief' });
    expect(first.json).toMatchObject({ store: true, previous_response_id: null, status: 'completed' });
    expect((await create({ prompt_cache_options: { comparison_response_id: first.json.id } })).status).toBe(400);
    const second = await create({
      stream,
      input: [{ role: 'user', content: 'two' }],
      previous_response_id: first.json.id,
    });
    expect(second.json).toMatchObject({ store: true, previous_response_id: first.json.id });
    // Instructions are not inherited.
    expect(sentTexts()).toEqual(['user: one', 'assistant: Hello', 'user: two']);
    await create({ stream, input: 'three', previous_response_id: second.json.id }, keys.colleague);
    expect(sentTexts()).toEqual(['user: one', 'assistant: Hello', 'user: two', 'assistant: Hello', 'user: three']);
  });

  test.each([undefined, null])('a response goes on without a new input: %p', async (input) => {
    const first = await create({ stream, input: 'one' });
    const second = await create({ stream, input, previous_response_id: first.json.id });
    expect(second.json).toMatchObject({ status: 'completed', previous_response_id: first.json.id });
    expect(sentTexts()).toEqual(['user: one', 'assistant: Hello']);
    await create({ stream, input: 'two', previous_response_id: second.json.id });
    expect(sentTexts()).toEqual(['user: one', 'assistant: HelloHello', 'user: two']);
  });

  test('a reference to an item stands for the item', async () => {
    const { json } = await create({ stream, input: 'one' });
    const input = [
      { role: 'user', content: 'one' },
      { type: 'item_reference', id: json.output[0].id },
      { role: 'user', content: 'two' },
    ];
    expect((await create({ stream, input })).status).toBe(200);
    expect(sentTexts()).toEqual(['user: one', 'assistant: Hello', 'user: two']);
  });

  test('another workspace and another account cannot continue it, or tell that it exists', async () => {
    const { json } = await create({ stream });
    const before = upstream.served.length;
    for (const key of [keys.workspace, keys.account]) {
      const foreign = await create({ previous_response_id: json.id }, key);
      expect([foreign.status, foreign.json.error.code]).toEqual([400, 'previous_response_not_found']);
      expect(foreign.json).toEqual((await create({ previous_response_id: 'resp_none' }, key)).json);
      expect((await create({ input: [{ type: 'item_reference', id: json.output[0].id }] }, key)).status).toBe(400);
    }
    expect(upstream.served).toHaveLength(before);
  });
});

test('a conversation that is kept here goes on at a model of the format', async () => {
  const { json } = await create({ input: 'one' });
  expect((await create({ model: 'native', input: 'two', previous_response_id: json.id })).status).toBe(200);
  const { body } = upstream.served.at(-1) ?? {};
  expect(body?.previous_response_id).toBeUndefined();
  expect(body?.input).toMatchObject([
    { role: 'user', content: 'one' },
    { type: 'message', role: 'assistant' },
    { role: 'user', content: 'two' },
  ]);
});

test('its routes serve its workspace, without a request to a provider', async () => {
  const { json } = await create({
    input: [
      { role: 'user', content: 'one' },
      { role: 'user', content: 'two' },
    ],
  });
  const client = new OpenAI({ apiKey: keys.colleague, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const before = upstream.served.length;
  expect(await client.responses.retrieve(json.id)).toMatchObject({ id: json.id, output: json.output });
  const items = await client.responses.inputItems.list(json.id, { order: 'asc' });
  expect(items.data).toMatchObject([{ content: 'one' }, { content: 'two' }]);
  const page = await client.responses.inputItems.list(json.id, { limit: 1 });
  expect([page.data, page.has_more]).toMatchObject([[{ content: 'two' }], true]);
  expect((await page.getNextPage()).data).toMatchObject([{ content: 'one' }]);
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'order=up', 'after=msg_none', 'before=msg_in_1']) {
    const { status, json: refused } = await send('GET', `responses/${json.id}/input_items?${query}`);
    expect([query, status, refused.error.param]).toEqual([query, 400, query.split('=')[0]]);
  }
  expect((await send('POST', `responses/${json.id}/cancel`)).status).toBe(400);
  for (const key of [keys.workspace, keys.account]) {
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/input_items'],
      ['POST', '/cancel'],
      ['DELETE', ''],
    ] as const) {
      const foreign = await send(method, `responses/${json.id}${path}`, key);
      expect(foreign).toEqual(await send(method, `responses/resp_none${path}`, key));
      expect(foreign.status).toBe(404);
    }
  }
  await client.responses.delete(json.id);
  expect((await send('GET', `responses/${json.id}`)).status).toBe(404);
  expect((await create({ previous_response_id: json.id })).status).toBe(400);
  expect(upstream.served).toHaveLength(before);
});

test('nothing is kept of a request that says so, of a workspace without prompts, or of a failed answer', async () => {
  const refused = await create({ store: false });
  expect(refused.json.store).toBe(false);
  const silent = await create({}, keys.silent);
  expect(silent.json.store).toBe(false);
  for (const [id, key] of [
    [refused.json.id, keys.own],
    [silent.json.id, keys.silent],
  ] as const)
    expect((await send('GET', `responses/${id}`, key)).status).toBe(404);
});

test('it survives a kill of the process', async () => {
  const { json } = await create({ input: 'one' });
  gateway.signal('SIGKILL');
  await gateway.exited;
  gateway = await startGateway({ config: configFor(upstream.url), dataDir: gateway.dataDir });
  expect((await create({ input: 'two', previous_response_id: json.id })).status).toBe(200);
  expect(sentTexts()).toEqual(['user: one', 'assistant: Hello', 'user: two']);
}, 60_000);

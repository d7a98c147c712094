/**
 * Tests responses in the background (contract, 10.13): their hold outlives the request, they are settled once, with or
 * without a client, and only their workspace reaches them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Answer, ask, send as sendTo } from '../harness/ask.ts';
import { eventually } from '../harness/eventually.ts';
import { openSocket } from '../harness/socket-client.ts';
import { type CallLine, type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { type BackgroundUpstream, startBackgroundUpstream } from './background-upstream.ts';
import { createTenantKeys, type TenantKeys } from './tenants.ts';

let upstream: BackgroundUpstream;
let gateway: RunningGateway;
let keys: TenantKeys;

beforeAll(async () => {
  upstream = startBackgroundUpstream();
  const price = { input: 1, output: 5, modifiers: { service_tier: { flex: 0.5 } } };
  gateway = await startGateway({
    config: {
      providers: {
        host: { kind: 'openai', base_url: upstream.url, api_key: 'credential' },
        plain: { kind: 'openai-compatible', base_url: upstream.url, api_key: 'credential-plain' },
      },
      models: {
        m: { targets: [{ provider: 'host' }], price },
        translated: { targets: [{ provider: 'plain' }], price },
      },
    },
  });
  keys = await createTenantKeys(gateway);
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const urlOf = (path: string) => `${gateway.url}/v1/${path}`;

const send = (method: string, path: string, body?: object, key = keys.own, signal?: AbortSignal): Promise<Response> =>
  sendTo(urlOf(path), { method, key, body, signal });

const call = (method: string, path: string, body?: object, key = keys.own): Promise<Answer> =>
  ask(urlOf(path), { method, key, body });

const ASKED = { model: 'm', input: 'hi', background: true, max_output_tokens: 100 };

async function begin(members: object = {}): Promise<{ id: string; requestId: string }> {
  const { status, json, headers } = await call('POST', 'responses', { ...ASKED, ...members });
  expect([status, json.status]).toEqual([200, 'queued']);
  return { id: json.id, requestId: headers.get('x-request-id') ?? '' };
}

async function recordsOf(requestId: string): Promise<CallLine[]> {
  return (await gateway.calls()).filter(({ request_id }) => request_id === requestId);
}

/** The record of a call once it is settled. */
function settled(requestId: string): Promise<CallLine> {
  return eventually('a settlement', async () => (await recordsOf(requestId))[0] ?? null, 10_000);
}

describe('a response in the background', () => {
  test('is settled with its usage when a client reads its end', async () => {
    const { id, requestId } = await begin();
    expect((await call('GET', `responses/${id}`)).json.status).toBe('queued');
    expect(await recordsOf(requestId)).toEqual([]);
    upstream.become(id, 'completed');
    expect((await call('GET', `responses/${id}`)).json).toMatchObject({
      status: 'completed',
      usage: { total_tokens: 14 },
    });
    const record = await settled(requestId);
    expect(record).toMatchObject({
      protocol: 'responses',
      model: 'm',
      status: 200,
      error: null,
      finish_reason: 'completed',
      usage: { input: 11, output: 3 },
      usage_source: 'upstream',
      cost_nano_usd: '26000',
      attempts: [{ provider: 'host', status: 200 }],
    });
    // Its items may be named from then on.
    const next = { model: 'm', input: [{ type: 'item_reference', id: `msg_${id}` }] };
    const { status, json } = await call('POST', 'responses', { ...next, background: true });
    expect(status).toBe(200);
    expect((await call('POST', `responses/${json.id}/cancel`)).status).toBe(200);
  });

  test('is settled without a client, by polling', async () => {
    const { id, requestId } = await begin();
    upstream.become(id, 'completed');
    expect(await settled(requestId)).toMatchObject({ cost_nano_usd: '26000', finish_reason: 'completed' });
  });

  test('is begun once for an idempotency key', async () => {
    const headers = {
      authorization: `Bearer ${keys.own}`,
      'content-type': 'application/json',
      'idempotency-key': 'one',
    };
    const create = () => fetch(`${gateway.url}/v1/responses`, { method: 'POST', headers, body: JSON.stringify(ASKED) });
    const first = (await (await create()).json()) as { readonly id: string };
    const again = await create();
    expect(await again.json()).toEqual(first);
    expect(upstream.ids.at(-1)).toBe(first.id);
    expect((await call('POST', `responses/${first.id}/cancel`)).status).toBe(200);
  });

  test('that the provider does not store is fetched and settled all the same', async () => {
    const { id, requestId } = await begin({ store: false });
    expect((await call('GET', `responses/${id}`)).json).toMatchObject({ status: 'queued', store: false });
    upstream.become(id, 'completed');
    await call('GET', `responses/${id}`);
    expect(await settled(requestId)).toMatchObject({ cost_nano_usd: '26000' });
  });

  test.each([
    ['another than the usual', {}, { service_tier: 'flex' }, '13000'],
    ['the one that was asked for, where it states none', { service_tier: 'flex' }, {}, '13000'],
    ['the usual one, where another was asked for', { service_tier: 'flex' }, { service_tier: 'default' }, '26000'],
    ['one without a known price, at the list price', { service_tier: 'flex' }, { service_tier: 'new' }, '26000'],
  ])('is charged at the tier that answers: %s', async (_, asked, ended, cost) => {
    const { id, requestId } = await begin(asked);
    upstream.ended = ended;
    upstream.become(id, 'completed');
    await call('GET', `responses/${id}`);
    expect(await settled(requestId)).toMatchObject({ cost_nano_usd: cost });
    upstream.ended = {};
  });

  test('read by two clients at once is settled once', async () => {
    const { id, requestId } = await begin();
    upstream.become(id, 'completed');
    await Promise.all([keys.own, keys.colleague].map((key) => call('GET', `responses/${id}`, undefined, key)));
    await settled(requestId);
    await call('GET', `responses/${id}`);
    expect(await recordsOf(requestId)).toHaveLength(1);
  });

  test('is cancelled at once, and charged for its input', async () => {
    const { id, requestId } = await begin();
    expect((await call('POST', `responses/${id}/cancel`)).json.status).toBe('cancelled');
    expect(await settled(requestId)).toMatchObject({
      status: 200,
      error: null,
      finish_reason: 'cancelled',
      usage: { output: 0 },
      usage_source: 'counted',
    });
  });

  test('that failed costs nothing, and its record says why', async () => {
    const { id, requestId } = await begin();
    upstream.become(id, 'failed');
    expect((await call('GET', `responses/${id}`)).json.status).toBe('failed');
    expect(await settled(requestId)).toMatchObject({
      error: 'upstream_failed',
      reason: { kind: 'cut', upstream: { type: 'server_error', message: 'it broke' }, at_step: 'answer' },
      usage_source: 'void',
      cost_nano_usd: '0',
    });
  });

  test.each([
    ['OpenAI', { error: { message: 'not found', type: 'invalid_request_error' } }],
    ['xAI', { code: 'Some requested entity was not found', error: 'Response not found' }],
  ])('that was deleted before its end is charged at the held amount, and flagged (%s)', async (_, missing) => {
    const { id, requestId } = await begin();
    upstream.missing = missing;
    expect((await call('DELETE', `responses/${id}`)).json).toEqual({ id, object: 'response', deleted: true });
    expect((await call('GET', `responses/${id}`)).status).toBe(404);
    const record = await settled(requestId);
    expect(record).toMatchObject({ usage_flags: ['held_amount'], usage: { output: 100 }, error: 'upstream_failed' });
    expect(Number(record.cost_nano_usd)).toBeGreaterThanOrEqual(500_000);
  });

  test('that was deleted after its end is charged for its usage', async () => {
    const { id, requestId } = await begin();
    upstream.become(id, 'completed');
    expect((await call('DELETE', `responses/${id}`)).json).toEqual({ id, object: 'response', deleted: true });
    expect(await settled(requestId)).toMatchObject({ cost_nano_usd: '26000', finish_reason: 'completed', error: null });
  });

  test('is unknown to other workspaces and accounts', async () => {
    const { id, requestId } = await begin();
    const before = upstream.served.length;
    for (const key of [keys.workspace, keys.account]) {
      for (const [method, path] of [
        ['GET', id],
        ['GET', `${id}?stream=true`],
        ['GET', `${id}?stream=true&starting_after=1`],
        ['POST', `${id}/cancel`],
        ['DELETE', id],
      ] as const) {
        const { status, json } = await call(method, `responses/${path}`, undefined, key);
        const unknown = await call(method, `responses/${path.replace(id, 'resp_none')}`, undefined, key);
        expect([status, json]).toEqual([404, unknown.json]);
      }
    }
    expect(upstream.served.slice(before).filter((line) => line !== `GET /v1/responses/${id}`)).toEqual([]);
    upstream.become(id, 'completed');
    await call('GET', `responses/${id}`);
    await settled(requestId);
  });
});

// Vector 19.
test('a model behind a provider that keeps nothing cannot answer in the background', async () => {
  const before = upstream.served.length;
  for (const stream of [false, true]) {
    const { status, json } = await call('POST', 'responses', { ...ASKED, model: 'translated', stream });
    expect([status, json.error.code, json.error.param]).toEqual([400, 'unsupported_parameter', 'background']);
  }
  expect(upstream.served).toHaveLength(before);
});

describe('a stream in the background', () => {
  /** Reads a stream until the text appears in it. */
  async function readUntil(response: Response, text: string): Promise<string> {
    let read = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      read += decoder.decode(chunk, { stream: true });
      if (read.includes(text)) break;
    }
    return read;
  }

  test('that comes to its end is settled as any other', async () => {
    const response = await send('POST', 'responses', { ...ASKED, stream: true });
    const requestId = response.headers.get('x-request-id') ?? '';
    const id = await eventually('the response', () => upstream.ids.at(-1) ?? null, 5_000);
    upstream.become(id, 'completed');
    expect(await response.text()).toContain('response.completed');
    expect(await settled(requestId)).toMatchObject({ stream: true, cost_nano_usd: '26000', error: null });
    expect(await recordsOf(requestId)).toHaveLength(1);
  });

  /** The text of a stream up to where it broke off; null: it came to its end. */
  async function readBroken(response: Response): Promise<string | null> {
    let read = '';
    try {
      for await (const chunk of response.body ?? []) read += Buffer.from(chunk).toString();
    } catch {
      return read;
    }
    return null;
  }

  test('that breaks off breaks the connection, whether it is the first or resumed: the response has not failed', async () => {
    const response = await send('POST', 'responses', { ...ASKED, stream: true });
    const requestId = response.headers.get('x-request-id') ?? '';
    const id = await eventually('the response', () => upstream.ids.at(-1) ?? null, 5_000);
    await eventually('its row', async () => (await call('GET', `responses/${id}`)).status === 200 || null, 5_000);
    const first = readBroken(response);
    upstream.breakStreams(id);
    const read = await first;
    expect([read?.includes('response.queued'), read?.includes('response.failed')]).toEqual([true, false]);
    const resumed = await send('GET', `responses/${id}?stream=true&starting_after=0`);
    const second = readBroken(resumed);
    upstream.breakStreams(id);
    expect(await second).not.toContain('response.failed');
    upstream.become(id, 'completed');
    await call('GET', `responses/${id}`);
    expect(await settled(requestId)).toMatchObject({ stream: true, cost_nano_usd: '26000', error: null });
  });

  test('that breaks off at once tells its id before the connection breaks', async () => {
    upstream.breaksEarly = true;
    const response = await send('POST', 'responses', { ...ASKED, stream: true });
    const read = await readBroken(response);
    upstream.breaksEarly = false;
    const id = /"id":"(resp_\d+)"/.exec(read ?? '')?.[1] ?? '';
    expect([id, read?.includes('response.failed')]).toEqual([upstream.ids.at(-1) ?? 'none', false]);
    upstream.become(id, 'completed');
    await call('GET', `responses/${id}`);
    expect(await settled(response.headers.get('x-request-id') ?? '')).toMatchObject({ cost_nano_usd: '26000' });
  });

  test('whose client left is given again for an idempotency key as far as it came, and read on by its id', async () => {
    const leaving = new AbortController();
    const create = (signal?: AbortSignal) =>
      fetch(urlOf('responses'), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${keys.own}`,
          'content-type': 'application/json',
          'idempotency-key': 'left-stream',
        },
        body: JSON.stringify({ ...ASKED, stream: true }),
        signal: signal ?? null,
      });
    const response = await create(leaving.signal);
    const requestId = response.headers.get('x-request-id') ?? '';
    const begun = await readUntil(response, 'response.queued');
    const count = upstream.ids.length;
    leaving.abort();
    const again = await eventually('the end of the run', async () => {
      const answer = await create();
      return answer.status === 409 && (await answer.text()).includes('still running') ? null : answer;
    });
    expect([again.status, again.headers.get('x-tollgate-replayed'), await again.text()]).toEqual([200, 'true', begun]);
    expect(upstream.ids).toHaveLength(count);
    const id = /"id":"(resp_\d+)"/.exec(begun)?.[1] ?? '';
    upstream.become(id, 'completed');
    const rest = await (await send('GET', `responses/${id}?stream=true&starting_after=1`)).text();
    expect([rest.includes('response.completed'), rest.includes('response.queued')]).toEqual([true, false]);
    expect(await settled(requestId)).toMatchObject({ stream: true, cost_nano_usd: '26000', error: null });
  });

  test('whose client leaves goes on, is resumed from an event, and is settled once', async () => {
    const leaving = new AbortController();
    const response = await send('POST', 'responses', { ...ASKED, stream: true }, keys.own, leaving.signal);
    const requestId = response.headers.get('x-request-id') ?? '';
    const begun = await readUntil(response, 'response.queued');
    leaving.abort();
    const id = /"id":"(resp_\d+)"/.exec(begun)?.[1] ?? '';
    const path = `responses/${id}?stream=true&starting_after=1`;
    const resuming = send('GET', path);
    await eventually('the request', () => upstream.served.includes(`GET /v1/${path}`) || null, 5_000);
    expect(await recordsOf(requestId)).toEqual([]);
    upstream.become(id, 'completed');
    const resumed = await resuming;
    expect([resumed.status, resumed.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const rest = await resumed.text();
    expect([rest.includes('response.completed'), rest.includes('response.queued')]).toEqual([true, false]);
    expect(await settled(requestId)).toMatchObject({ stream: true, cost_nano_usd: '26000', error: null });
    expect(await recordsOf(requestId)).toHaveLength(1);
  });
});

test('over a WebSocket it goes on after the connection was closed', async () => {
  const client = await openSocket(`${gateway.url}/v1/responses`, { authorization: `Bearer ${keys.own}` });
  const known = new Set((await gateway.calls()).map(({ request_id }) => request_id));
  client.send({ type: 'response.create', ...ASKED });
  await client.until('response.queued');
  client.socket.close();
  await client.closed;
  const id = upstream.ids.at(-1) ?? '';
  upstream.become(id, 'completed');
  const found = () => gateway.calls().then((calls) => calls.find(({ request_id }) => !known.has(request_id)) ?? null);
  const record = await eventually('a settlement', found, 10_000);
  expect(record).toMatchObject({ stream: true, cost_nano_usd: '26000', finish_reason: 'completed' });
});

test('the query of a stream is checked', async () => {
  const { id, requestId } = await begin();
  for (const [query, param] of [
    ['stream=yes', 'stream'],
    ['starting_after=3', 'starting_after'],
    ['stream=true&starting_after=x', 'starting_after'],
  ]) {
    const { status, json } = await call('GET', `responses/${id}?${query}`);
    expect([status, json.error.param]).toEqual([400, param]);
  }
  upstream.become(id, 'completed');
  await call('GET', `responses/${id}`);
  await settled(requestId);
});

test('the ledger is proved with all of them, and nothing is held any more', async () => {
  const [account] = await eventually(
    'the last settlement',
    async () => {
      const { stdout } = await gateway.run('accounts', 'list', '--json');
      const found = stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      return found.every(({ held_nano_usd }) => held_nano_usd === '0') ? found : null;
    },
    10_000,
  );
  expect(account).toMatchObject({ held_nano_usd: '0' });
  expect((await gateway.run('verify')).status).toBe(0);
});

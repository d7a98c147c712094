/**
 * Tests Responses over WebSocket through a running gateway: the same events, money and limits as by POST, conversations
 * continued on a connection, and what ends one. Specification of the Responses API, A.3; contract, 10.10.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { asObject, asText, type JsonObject } from '../../../src/protocols/json.ts';
import { SEAL } from '../../fake-upstream/answer/responses-answer.ts';
import { connectRaw } from '../../fake-upstream/raw-client.ts';
import { eventually } from '../../harness/eventually.ts';
import { openSocket, type SocketClient } from '../../harness/socket-client.ts';
import { type Pair, startPair } from '../../harness/start-pair.ts';

const PRICE = { input: 1, output: 5 };
/** Upstream's format by the beginning of a model's name. */
const SIDES = { r: 'lab-responses', c: 'lab', m: 'lab-messages' } as const;
const OWN = ['cut', 'gone', 'limited', 'rejecting', 'held', 'endless', 'silent'];

function configFor(fakeUrl: string, limits: object, server: object = {}): object {
  const base = { base_url: `${fakeUrl}/v1`, api_key: 'lab-credential' };
  const target = (provider: string, model: string) => ({ targets: [{ provider, model }], price: PRICE });
  const speeches = Object.entries(SIDES).flatMap(([side, provider]) =>
    ['ok', 'think', 'tool'].map((speech) => [`${side}-${speech}`, target(provider, speech)] as const),
  );
  return {
    defaults: { routing: { max_extra_attempts: 0 } },
    server,
    limits,
    providers: {
      lab: { kind: 'openai-compatible', ...base },
      'lab-messages': { kind: 'anthropic', ...base },
      'lab-responses': { kind: 'openai', ...base },
    },
    models: {
      ...Object.fromEntries(speeches),
      ...Object.fromEntries(OWN.map((name) => [name, target('lab-responses', name)])),
    },
  };
}

const LIMITS = {
  keep_alive: '500ms',
  body_bytes_max: '64KiB',
  slow_reader_timeout: '1s',
  websockets_per_key_max: 3,
  websocket_history_bytes_max: '8KiB',
};

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) => configFor(url, LIMITS));
  const { fake } = pair;
  fake.script('cut', { answer: 'ok', omitEnd: true });
  fake.script('gone', { status: 500, errorBodyBytes: 100 });
  fake.script('limited', { status: 429, headers: { 'retry-after': '2' }, errorBodyBytes: 100 });
  fake.script('rejecting', {
    status: 400,
    json: { error: { message: 'not so', type: 'invalid_request_error', code: 'unsupported_parameter', param: 'x' } },
  });
  fake.script('held', { answer: 'long:20', holdAfterEvent: 8 });
  fake.script('silent', { answer: 'ok', delayBeforeFirstByteMs: 600_000 });
}, 60_000);
afterAll(() => pair.stop());

/** A key of its own, so that no test meets the limits of another. */
async function makeKey(...flags: string[]): Promise<{ readonly id: string; readonly key: string }> {
  const { stdout } = await pair.gateway.run('keys', 'create', '--name', 'test', '--json', ...flags);
  return JSON.parse(stdout);
}

const open = (key: string, path = '/v1/responses', headers: Readonly<Record<string, string>> = {}) =>
  openSocket(`${pair.gateway.url}${path}`, { authorization: `Bearer ${key}`, ...headers });

/** Runs a test on a connection with a key of its own. */
async function connected(
  run: (client: SocketClient, key: { id: string; key: string }) => Promise<void>,
  flags: readonly string[] = [],
) {
  const key = await makeKey(...flags);
  const client = await open(key.key);
  try {
    await run(client, key);
  } finally {
    client.socket.close();
    await client.closed;
  }
}

const create = (model: string, members: object = {}) => ({
  type: 'response.create',
  model,
  store: false,
  input: [{ role: 'user', content: 'hi' }],
  ...members,
});
const BESIDE = ['keepalive', 'response.metadata'];
const typesOf = (messages: readonly JsonObject[]) =>
  messages.map(({ type }) => String(type)).filter((type) => !BESIDE.includes(type));
const idOf = (messages: readonly JsonObject[]) => asText(asObject(messages.at(-1)?.response)?.id) ?? '';
const lastSent = (model: string) =>
  JSON.parse(Buffer.from(pair.fake.served(model).at(-1)?.requestBody ?? []).toString());
const recordsOf = async ({ id }: { id: string }) => pair.gateway.calls('--key', id);
const errorOf = (message: JsonObject | undefined) => asObject(message?.error);

async function postedTypes(key: string, model: string): Promise<string[]> {
  const reply = await fetch(`${pair.gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...create(model), stream: true, type: undefined }),
  });
  return (await reply.text())
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [String(JSON.parse(line.slice(6)).type)] : []));
}

describe.each(['r', 'c', 'm'])('upstream %s', (side) => {
  test('a response is the events of a POST, with one record of its cost', () =>
    connected(async (client, key) => {
      const messages = await client.ask(create(`${side}-ok`, { stream_id: 'lane' }));
      expect(typesOf(messages)).toEqual(await postedTypes(pair.gateway.key, `${side}-ok`));
      expect(messages.every(({ stream_id }) => stream_id === 'lane')).toBe(true);
      expect(asObject(asObject(messages.at(-1)?.response)?.usage)?.total_tokens).toBe(16);
      expect(await recordsOf(key)).toMatchObject([
        { protocol: 'responses', stream: true, status: 200, error: null, cost_nano_usd: String(11_000 + 25_000) },
      ]);
    }));

  test('the headers of a POST come as an event', () =>
    connected(async (client, key) => {
      const tools = [{ type: 'web_search', external_web_access: true }];
      const [first] = await client.ask(create(`${side}-ok`, { tools }));
      const [record] = await recordsOf(key);
      expect(first).toMatchObject({ type: 'response.metadata', headers: { 'x-request-id': record?.request_id } });
      const { 'x-tollgate-dropped': dropped = '', 'x-tollgate-attempts': attempts } = asObject(first?.headers) ?? {};
      expect([String(dropped).includes('web_search'), attempts]).toEqual([side !== 'r', '1']);
    }));

  test('a conversation goes on by the id of its last response, with the new items only', () =>
    connected(async (client) => {
      const tools = [{ type: 'function', name: 'get_weather', parameters: { type: 'object' }, strict: false }];
      const first = await client.ask(create(`${side}-tool`, { tools }));
      const calls = first.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [asObject(item)] : []));
      const results = calls
        .filter((item) => item?.type === 'function_call')
        .map((item) => ({ type: 'function_call_output', call_id: item?.call_id, output: 'nine degrees' }));
      expect(results.length).toBe(2);
      const second = await client.ask(
        create(`${side}-ok`, { tools, input: results, previous_response_id: idOf(first) }),
      );
      expect(second.at(-1)?.type).toBe('response.completed');
      const sent = JSON.stringify(lastSent('ok'));
      expect(sent).not.toContain('previous_response_id');
      const places = ['"hi"', 'Zürich', 'nine degrees'].map((words) => sent.indexOf(words));
      expect(places.every((place, at) => place > (places[at - 1] ?? -1))).toBe(true);
      const third = await client.ask(create(`${side}-ok`, { previous_response_id: idOf(second), input: 'and?' }));
      expect(third.at(-1)?.type).toBe('response.completed');
      const whole = JSON.stringify(lastSent('ok'));
      for (const words of ['nine degrees', 'Good day to you.', 'and?']) expect(whole).toContain(words);
    }));

  test('reasoning goes back to its issuer', () =>
    connected(async (client) => {
      const include = ['reasoning.encrypted_content'];
      const first = await client.ask(create(`${side}-think`, { include }));
      const next = await client.ask(create(`${side}-ok`, { include, previous_response_id: idOf(first) }));
      expect(next.at(-1)?.type).toBe('response.completed');
      if (side === 'r') expect(JSON.stringify(lastSent('ok').input)).toContain(SEAL);
    }));

  test('generate: false is answered without a call, a record or a charge, and can be continued', () =>
    connected(async (client, key) => {
      const before = pair.fake.served().length;
      const input = [{ role: 'developer', content: 'Be brief' }];
      const prepared = await client.ask(create(`${side}-ok`, { generate: false, input }));
      expect(typesOf(prepared)).toEqual(['response.created', 'response.in_progress', 'response.completed']);
      expect([pair.fake.served().length, await recordsOf(key)]).toEqual([before, []]);
      const answer = await client.ask(create(`${side}-ok`, { previous_response_id: idOf(prepared) }));
      expect(answer.at(-1)?.type).toBe('response.completed');
      expect(JSON.stringify(lastSent('ok'))).toContain('Be brief');
      expect((await recordsOf(key)).length).toBe(1);
    }));
});

test("OpenAI's SDK gets the events, and a failure as one", async () => {
  const { gateway } = pair;
  const client = new ResponsesWS(new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key }));
  let text = '';
  client.on('response.output_text.delta', ({ delta }) => {
    text += delta;
  });
  const failed = new Promise<Error>((resolve) => client.on('error', resolve));
  const completed = new Promise<string>((resolve) =>
    client.on('response.completed', ({ response }) => resolve(response.status ?? '')),
  );
  client.send({ type: 'response.create', model: 'c-ok', input: 'hi', store: false });
  expect([await completed, text]).toEqual(['completed', 'Good day to you.']);
  client.send({ type: 'response.create', model: 'nope', input: 'hi' });
  expect(String(await failed)).toContain('"nope" is not served here');
  client.close();
});

test.each(['/responses', '/v1/v1/responses', '/v1/responses?beta=true'])('%s is served', async (path) => {
  const { key } = await makeKey();
  const client = await open(key, path);
  expect((await client.ask(create('c-ok'))).at(-1)?.type).toBe('response.completed');
  client.socket.close();
});

describe('a conversation is not known', () => {
  const NOT_FOUND = { type: 'error', status: 400, error: { code: 'previous_response_not_found' } };

  test('on another connection, nor by an earlier response', () =>
    connected(async (client, key) => {
      const first = await client.ask(create('c-ok'));
      const other = await open(key.key);
      expect(await other.ask(create('c-ok', { previous_response_id: idOf(first) }))).toMatchObject([NOT_FOUND]);
      other.socket.close();
      await client.ask(create('c-ok', { previous_response_id: idOf(first) }));
      expect(await client.ask(create('c-ok', { previous_response_id: idOf(first) }))).toMatchObject([NOT_FOUND]);
      expect((await client.ask(create('c-ok'))).at(-1)?.type).toBe('response.completed');
    }));

  test('beyond its size', () =>
    connected(async (client) => {
      const large = await client.ask(create('c-ok', { input: 'x'.repeat(9_000) }));
      expect(large.at(-1)?.type).toBe('response.completed');
      expect(await client.ask(create('c-ok', { previous_response_id: idOf(large) }))).toMatchObject([NOT_FOUND]);
    }));

  test('where its reasoning stayed at the provider', () =>
    connected(async (client) => {
      pair.fake.script('think', {
        records: [
          { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } },
          { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
          { type: 'response.output_item.done', output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
          {
            type: 'response.completed',
            response: {
              id: 'resp_1',
              status: 'completed',
              output: [{ type: 'reasoning', id: 'rs_1', summary: [] }],
              usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
            },
          },
        ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
      });
      const first = await client.ask(create('r-think'));
      expect(idOf(first)).toBe('resp_1');
      expect(await client.ask(create('r-ok', { previous_response_id: 'resp_1' }))).toMatchObject([NOT_FOUND]);
    }));

  test('a failed turn leaves it as it was', () =>
    connected(async (client) => {
      const first = await client.ask(create('c-ok'));
      await client.ask(create('gone', { previous_response_id: idOf(first) }));
      const again = await client.ask(create('c-ok', { previous_response_id: idOf(first) }));
      expect(again.at(-1)?.type).toBe('response.completed');
    }));
});

describe('messages that are no request', () => {
  test.each([
    ['{"type":', 'not JSON'],
    ['[1]', 'is array'],
    ['{}', 'has no type'],
    ['{"type":"session.update"}', 'session.update'],
    [new Uint8Array([1, 2, 3]), 'binary'],
  ])('%p gets an error, and the connection goes on', (message, words) =>
    connected(async (client) => {
      client.socket.send(message);
      const refusal = await client.until('error');
      expect([refusal.status, errorOf(refusal)?.type]).toEqual([400, 'invalid_request_error']);
      expect(String(errorOf(refusal)?.message)).toContain(words);
      expect((await client.ask(create('c-ok'))).at(-1)?.type).toBe('response.completed');
    }),
  );

  test('a body that breaks a rule gets the error of a POST', () =>
    connected(async (client) => {
      const [refusal] = await client.ask(create('c-ok', { temperature: 9, stream_id: 'lane' }));
      expect(refusal).toMatchObject({ type: 'error', status: 400, stream_id: 'lane', error: { param: 'temperature' } });
      const [long] = await client.ask(create('c-ok', { stream_id: 'x'.repeat(65) }));
      expect([errorOf(long)?.param, long?.stream_id]).toEqual(['stream_id', undefined]);
    }));

  test('a second request during a response is refused; steering fails; a notice is nothing', () =>
    connected(async (client, key) => {
      client.send(create('held'));
      await client.until('response.output_text.delta');
      client.send({ type: 'response.processed', response_id: 'resp_1' });
      client.send({ type: 'response.steer', previous_response_id: 'resp_1', input: 'left' });
      expect(await client.until('response.steer.failed')).toMatchObject({
        error: { code: 'steering_not_supported' },
        steer: { previous_response_id: 'resp_1', input: 'left' },
      });
      client.send(create('c-ok'));
      expect(errorOf(await client.until('error'))?.message).toContain('is running');
      pair.fake.release();
      await client.until('response.completed');
      expect(typesOf(client.messages).filter((type) => type === 'error').length).toBe(1);
      expect((await recordsOf(key)).length).toBe(1);
    }));

  test('a message above the limit of a body closes the connection', () =>
    connected(async (client) => {
      client.send(create('c-ok', { input: 'x'.repeat(64 * 1024) }));
      expect(await client.closed).toBe(1009);
    }));

  test('a conversation above it is refused', () =>
    connected(async (client) => {
      const first = await client.ask(create('c-ok', { input: 'y'.repeat(6_000) }));
      const [refusal] = await client.ask(
        create('c-ok', { previous_response_id: idOf(first), input: 'x'.repeat(60_000) }),
      );
      expect(refusal).toMatchObject({ type: 'error', status: 413 });
    }));
});

describe('key and limits are those of the moment', () => {
  test('a key revoked on an open connection is refused, and the connection closed', () =>
    connected(async (client, key) => {
      await client.ask(create('c-ok'));
      await pair.gateway.run('keys', 'revoke', key.id);
      const [refusal] = await client.ask(create('c-ok'));
      expect(refusal).toMatchObject({ type: 'error', status: 401, error: { code: 'unauthorized' } });
      expect(await client.closed).toBe(1008);
      expect((await recordsOf(key)).length).toBe(1);
    }));

  test('a spent budget ends the turn', () =>
    connected(
      async (client) => {
        await client.ask(create('c-ok'));
        const refused = await client.ask(create('c-ok'));
        expect(typesOf(refused)).toEqual(['response.created', 'error', 'response.failed']);
        expect(errorOf(asObject(refused.at(-1)?.response) ?? {})?.code).toBe('insufficient_quota');
      },
      ['--budget-usd', '0.00004', '--budget-window', 'total'],
    ));

  test('a rate says how long to wait', () =>
    connected(
      async (client) => {
        await client.ask(create('c-ok'));
        const refused = await client.ask(create('c-ok'));
        const error = errorOf(asObject(refused.at(-1)?.response) ?? {});
        expect(error?.code).toBe('rate_limit_exceeded');
        expect(error?.message).toMatch(/try again in \d+ s$/);
      },
      ['--rpm', '1'],
    ));

  test('generate: false is checked too', () =>
    connected(
      async (client) => {
        const [refusal] = await client.ask(create('c-ok', { generate: false }));
        expect(refusal).toMatchObject({ status: 400, error: { code: 'model_not_found' } });
      },
      ['--models', 'r-ok'],
    ));
});

describe('a failure', () => {
  test('of all targets ends the turn', () =>
    connected(async (client) => {
      const messages = await client.ask(create('gone'));
      expect(typesOf(messages)).toEqual(['response.created', 'error', 'response.failed']);
      expect(errorOf(asObject(messages.at(-1)?.response) ?? {})?.code).toBe('server_is_overloaded');
    }));

  test('of a stream that was cut is told in the stream', () =>
    connected(async (client, key) => {
      const messages = await client.ask(create('cut'));
      expect(typesOf(messages).slice(-2)).toEqual(['error', 'response.failed']);
      expect(await recordsOf(key)).toMatchObject([{ status: 200, error: 'upstream_truncated' }]);
    }));

  test('of the request and of a rate at the provider are told as such', () =>
    connected(async (client) => {
      expect(await client.ask(create('rejecting'))).toMatchObject([
        { type: 'error', status: 400, error: { code: 'unsupported_parameter' } },
      ]);
      const limited = await client.ask(create('limited'));
      expect(errorOf(asObject(limited.at(-1)?.response) ?? {})?.message).toContain('Please try again in 2s.');
    }));
});

describe('a client that leaves ends the call at the provider, which is settled once', () => {
  test.each(['held', 'silent'])('model %s', async (model) => {
    const key = await makeKey();
    const client = await open(key.key);
    const earlier = pair.fake.served(model).length;
    client.send(create(model));
    await (model === 'held'
      ? client.until('response.output_text.delta')
      : pair.fake.until(() => pair.fake.served(model).length > earlier));
    client.socket.close();
    await pair.fake.until(() => pair.fake.served(model).at(-1)?.finished === 'client-left');
    const records = await eventually('the record', async () => {
      const found = await recordsOf(key);
      return found.length > 0 ? found : null;
    });
    expect(records).toMatchObject([{ status: 499, error: 'client_left', usage_source: 'counted' }]);
  });
});

test('silence is filled with keepalive events', () =>
  connected(async (client) => {
    client.send(create('held'));
    await client.until('keepalive');
    pair.fake.release();
    await client.until('response.completed');
  }));

describe('the handshake', () => {
  const HEADERS = {
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-version': '13',
  };
  const shake = (path: string, headers: Readonly<Record<string, string>>) =>
    fetch(`${pair.gateway.url}${path}`, { headers: { ...HEADERS, ...headers } });

  test('needs a key', async () => {
    expect((await shake('/v1/responses', {})).status).toBe(401);
    expect((await shake('/v1/responses', { authorization: 'Bearer tg_no' })).status).toBe(401);
  });

  test('has no idempotency key, and a valid version', async () => {
    const authorization = `Bearer ${pair.gateway.key}`;
    expect((await shake('/v1/responses', { authorization, 'idempotency-key': 'a' })).status).toBe(400);
    expect((await shake('/v1/responses', { authorization, 'sec-websocket-key': 'short' })).status).toBe(400);
  });

  test('without its upgrade header, as a proxy may leave it, gets 426', async () => {
    const { upgrade: _, connection: __, ...left } = HEADERS;
    const headers = { ...left, authorization: `Bearer ${pair.gateway.key}` };
    const reply = await fetch(`${pair.gateway.url}/v1/responses`, { headers });
    expect([reply.status, (await reply.text()).includes('proxy')]).toEqual([426, true]);
  });

  test('of another format is refused with 426', async () => {
    const reply = await shake('/v1/chat/completions', { authorization: `Bearer ${pair.gateway.key}` });
    expect([reply.status, reply.headers.get('connection')]).toEqual([426, 'close']);
  });

  test('beyond the connections of a key gets 426, until one is closed', async () => {
    const { key } = await makeKey();
    const clients = [await open(key), await open(key), await open(key)];
    const metrics = await (await fetch(`${pair.gateway.url}/metrics`)).text();
    expect(Number(/^tollgate_open_websockets (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThanOrEqual(3);
    expect((await shake('/v1/responses', { authorization: `Bearer ${key}` })).status).toBe(426);
    clients[0]?.socket.close();
    await clients[0]?.closed;
    const another = await eventually('a free place', () => open(key).catch(() => null));
    for (const { socket } of [...clients, another]) socket.close();
  });

  test('offers no compression, so that a message is no larger than what arrived', async () => {
    const { key } = await makeKey();
    const raw = await connectRaw(pair.gateway.url);
    raw.send(handshake(key, 'sec-websocket-extensions: permessage-deflate\r\n'));
    await raw.until((client) => client.received().includes('\r\n\r\n'));
    const head = raw.received().toString();
    expect(head).toStartWith('HTTP/1.1 101');
    expect(head.toLowerCase()).not.toContain('sec-websocket-extensions');
    // A compressed frame: RSV1 without an extension.
    raw.send(frameOf(0xc1, Buffer.from([1, 2, 3])));
    expect(await raw.untilEnd()).not.toBe('open');
  });
});

/** The handshake of a raw client. */
function handshake(key: string, lines = ''): string {
  return `GET /v1/responses HTTP/1.1\r\nhost: gw\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\nauthorization: Bearer ${key}\r\n${lines}\r\n`;
}

/** A masked frame, with a mask of zeros. */
function frameOf(first: number, payload: Buffer): Buffer {
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 0xff];
  return Buffer.concat([Buffer.from([first, ...length, 0, 0, 0, 0]), payload]);
}

describe('a client that does not read', () => {
  test('is dropped as on any stream, and its provider is read no further', async () => {
    const key = await makeKey();
    const raw = await connectRaw(pair.gateway.url);
    raw.send(handshake(key.key));
    await raw.until((client) => client.received().includes('\r\n\r\n'));
    raw.pause();
    raw.send(frameOf(0x81, Buffer.from(JSON.stringify(create('endless')))));
    const records = await eventually(
      'the record',
      async () => {
        const found = await recordsOf(key);
        return found.length > 0 ? found : null;
      },
      30_000,
    );
    expect(records).toMatchObject([{ status: 200, error: 'reader_too_slow' }]);
    raw.leave('rst');
  }, 40_000);

  test('and sends pings is dropped once its answers are too many', async () => {
    const { key } = await makeKey();
    const raw = await connectRaw(pair.gateway.url);
    raw.send(handshake(key));
    await raw.until((client) => client.received().includes('\r\n\r\n'));
    raw.pause();
    const pings = Buffer.concat(Array.from({ length: 500 }, () => frameOf(0x89, Buffer.alloc(125, 1))));
    const end = await eventually(
      'the end of the connection',
      () => {
        raw.send(pings);
        return raw.ended() === 'open' ? null : raw.ended();
      },
      30_000,
    );
    expect(end).not.toBe('open');
  }, 40_000);
});

describe('a connection ends', () => {
  test('at its time between two responses, and in a shutdown after its response', async () => {
    const own = await startPair((url) => configFor(url, { websocket_duration: '1s', websockets_max: 2, drain: '0s' }));
    try {
      own.fake.script('held', { answer: 'long:20', holdAfterEvent: 8 });
      const headers = { authorization: `Bearer ${own.gateway.key}` };
      const old = await openSocket(`${own.gateway.url}/v1/responses`, headers);
      expect(errorOf(await old.until('error'))?.code).toBe('websocket_connection_limit_reached');
      expect(await old.closed).toBe(1000);
      const [idle, busy] = await Promise.all([
        openSocket(`${own.gateway.url}/v1/responses`, headers),
        openSocket(`${own.gateway.url}/v1/responses`, headers),
      ]);
      busy.send(create('held'));
      await busy.until('response.output_text.delta');
      const more = await openSocket(`${own.gateway.url}/v1/responses`, headers).catch(() => null);
      // On a busy machine the idle one may have reached its time.
      expect([more === null, idle.socket.readyState === WebSocket.CLOSED]).toContain(true);
      own.gateway.signal('SIGTERM');
      expect(await idle.closed).toBeOneOf([1000, 1001]);
      own.fake.release();
      await busy.until('response.completed');
      expect(await busy.closed).toBeOneOf([1000, 1001]);
      expect(await own.gateway.exited).toBe(0);
    } finally {
      await own.stop();
    }
  });

  test('that is idle where file descriptors run short, not one with a response', async () => {
    const own = await startPair((url) => configFor(url, {}), { openFilesMax: 256 });
    try {
      own.fake.script('held', { answer: 'long:20', holdAfterEvent: 8 });
      const url = `${own.gateway.url}/v1/responses`;
      const headers = { authorization: `Bearer ${own.gateway.key}` };
      const busy = await openSocket(url, headers);
      busy.send(create('held'));
      await busy.until('response.output_text.delta');
      const idle = [await openSocket(url, headers)];
      while (idle[0]?.socket.readyState === WebSocket.OPEN && idle.length < 256) {
        const more = Array.from({ length: 16 }, () => openSocket(url, headers).catch(() => null));
        idle.push(...(await Promise.all(more)).filter((client) => client !== null));
      }
      expect(await idle[0]?.closed).toBe(1001);
      own.fake.release();
      expect((await busy.until('response.completed')).type).toBe('response.completed');
    } finally {
      await own.stop();
    }
  });

  // Vector 30.
  test('before it begins where WebSockets are switched off: 426, so that Codex falls back at once', async () => {
    const own = await startPair((url) => configFor(url, {}, { websocket: 'off' }));
    try {
      const reply = await fetch(`${own.gateway.url}/v1/responses`, {
        headers: { upgrade: 'websocket', connection: 'Upgrade', authorization: `Bearer ${own.gateway.key}` },
      });
      expect([reply.status, reply.headers.get('connection')]).toEqual([426, 'close']);
      expect(await reply.text()).toContain('WebSocket');
      expect((await fetch(`${own.gateway.url}/v1/responses`)).status).toBe(405);
    } finally {
      await own.stop();
    }
  });
});

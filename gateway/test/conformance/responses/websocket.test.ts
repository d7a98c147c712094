/**
 * Tests Responses over WebSocket through a running gateway: the same events, money and limits as by POST, and
 * conversations continued on a connection. Specification of the Responses API, A.3; contract, 10.10.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { asObject } from '../../../src/protocols/json.ts';
import { SEAL } from '../../fake-upstream/answer/responses-answer.ts';
import { eventually } from '../../harness/eventually.ts';
import { create, errorOf, idOf, type SocketRig, shareSocketRig, typesOf } from './websocket-rig.ts';

let rig: SocketRig;
beforeAll(async () => {
  rig = await shareSocketRig();
}, 60_000);

async function postedTypes(key: string, model: string): Promise<string[]> {
  const reply = await fetch(`${rig.gateway.url}/v1/responses`, {
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
    rig.connected(async (client, key) => {
      const messages = await client.ask(create(`${side}-ok`, { stream_id: 'lane' }));
      expect(typesOf(messages)).toEqual(await postedTypes(rig.gateway.key, `${side}-ok`));
      expect(messages.every(({ stream_id }) => stream_id === 'lane')).toBe(true);
      expect(asObject(asObject(messages.at(-1)?.response)?.usage)?.total_tokens).toBe(16);
      expect(await rig.recordsOf(key)).toMatchObject([
        { protocol: 'responses', stream: true, status: 200, error: null, cost_nano_usd: String(11_000 + 25_000) },
      ]);
    }));

  test('the headers of a POST come as an event', () =>
    rig.connected(async (client, key) => {
      const tools = [{ type: 'web_search', external_web_access: true }];
      const [first] = await client.ask(create(`${side}-ok`, { tools }));
      const [record] = await rig.recordsOf(key);
      expect(first).toMatchObject({ type: 'response.metadata', headers: { 'x-request-id': record?.request_id } });
      const { 'x-tollgate-dropped': dropped = '', 'x-tollgate-attempts': attempts } = asObject(first?.headers) ?? {};
      expect([String(dropped).includes('web_search'), attempts]).toEqual([side !== 'r', '1']);
    }));

  test('a conversation goes on by the id of its last response, with the new items only', () =>
    rig.connected(async (client) => {
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
      const sent = JSON.stringify(rig.lastSent('ok'));
      expect(sent).not.toContain('previous_response_id');
      const places = ['"hi"', 'Zürich', 'nine degrees'].map((words) => sent.indexOf(words));
      expect(places.every((place, at) => place > (places[at - 1] ?? -1))).toBe(true);
      const third = await client.ask(create(`${side}-ok`, { previous_response_id: idOf(second), input: 'and?' }));
      expect(third.at(-1)?.type).toBe('response.completed');
      const whole = JSON.stringify(rig.lastSent('ok'));
      for (const words of ['nine degrees', 'Good day to you.', 'and?']) expect(whole).toContain(words);
    }));

  test('reasoning goes back to its issuer', () =>
    rig.connected(async (client) => {
      const include = ['reasoning.encrypted_content'];
      const first = await client.ask(create(`${side}-think`, { include }));
      const next = await client.ask(create(`${side}-ok`, { include, previous_response_id: idOf(first) }));
      expect(next.at(-1)?.type).toBe('response.completed');
      if (side === 'r') expect(JSON.stringify(rig.lastSent('ok').input)).toContain(SEAL);
    }));

  test('generate: false is answered without a call, a record or a charge, and can be continued', () =>
    rig.connected(async (client, key) => {
      const before = rig.fake.served().length;
      const input = [{ role: 'developer', content: 'Be brief' }];
      const prepared = await client.ask(create(`${side}-ok`, { generate: false, input }));
      expect(typesOf(prepared)).toEqual(['response.created', 'response.in_progress', 'response.completed']);
      expect([rig.fake.served().length, await rig.recordsOf(key)]).toEqual([before, []]);
      const answer = await client.ask(create(`${side}-ok`, { previous_response_id: idOf(prepared) }));
      expect(answer.at(-1)?.type).toBe('response.completed');
      expect(JSON.stringify(rig.lastSent('ok'))).toContain('Be brief');
      expect((await rig.recordsOf(key)).length).toBe(1);
    }));
});

test("OpenAI's SDK gets the events, and a failure as one", async () => {
  const { gateway } = rig;
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
  const { key } = await rig.makeKey();
  const client = await rig.open(key, path);
  expect((await client.ask(create('c-ok'))).at(-1)?.type).toBe('response.completed');
  client.socket.close();
});

describe('a conversation is not known', () => {
  const NOT_FOUND = { type: 'error', status: 400, error: { code: 'previous_response_not_found' } };

  test('on another connection, nor by an earlier response', () =>
    rig.connected(async (client, key) => {
      const first = await client.ask(create('c-ok'));
      const other = await rig.open(key.key);
      expect(await other.ask(create('c-ok', { previous_response_id: idOf(first) }))).toMatchObject([NOT_FOUND]);
      other.socket.close();
      await client.ask(create('c-ok', { previous_response_id: idOf(first) }));
      expect(await client.ask(create('c-ok', { previous_response_id: idOf(first) }))).toMatchObject([NOT_FOUND]);
      expect((await client.ask(create('c-ok'))).at(-1)?.type).toBe('response.completed');
    }));

  test('beyond its size', () =>
    rig.connected(async (client) => {
      const large = await client.ask(create('c-ok', { input: 'x'.repeat(9_000) }));
      expect(large.at(-1)?.type).toBe('response.completed');
      expect(await client.ask(create('c-ok', { previous_response_id: idOf(large) }))).toMatchObject([NOT_FOUND]);
    }));

  test('where its reasoning stayed at the provider', () =>
    rig.connected(async (client) => {
      rig.fake.script('think', {
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

  test('after a compaction, which stands for all before it', () =>
    rig.connected(async (client) => {
      const compacted = await client.ask(
        create('c-ok', { input: [{ role: 'user', content: 'hi' }, { type: 'compaction_trigger' }] }),
      );
      expect(compacted.at(-1)?.type).toBe('response.completed');
      expect(await client.ask(create('c-ok', { previous_response_id: idOf(compacted) }))).toMatchObject([NOT_FOUND]);
    }));

  test('a failed turn leaves it as it was', () =>
    rig.connected(async (client) => {
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
    rig.connected(async (client) => {
      client.socket.send(message);
      const refusal = await client.until('error');
      expect([refusal.status, errorOf(refusal)?.type]).toEqual([400, 'invalid_request_error']);
      expect(String(errorOf(refusal)?.message)).toContain(words);
      expect((await client.ask(create('c-ok'))).at(-1)?.type).toBe('response.completed');
    }),
  );

  test('a body that breaks a rule gets the error of a POST', () =>
    rig.connected(async (client) => {
      const [refusal] = await client.ask(create('c-ok', { temperature: 9, stream_id: 'lane' }));
      expect(refusal).toMatchObject({ type: 'error', status: 400, stream_id: 'lane', error: { param: 'temperature' } });
      const [long] = await client.ask(create('c-ok', { stream_id: 'x'.repeat(65) }));
      expect([errorOf(long)?.param, long?.stream_id]).toEqual(['stream_id', undefined]);
    }));

  test('a second request during a response is refused; steering fails; a notice is nothing', () =>
    rig.connected(async (client, key) => {
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
      rig.fake.release();
      await client.until('response.completed');
      expect(typesOf(client.messages).filter((type) => type === 'error').length).toBe(1);
      expect((await rig.recordsOf(key)).length).toBe(1);
    }));

  test('a message above the limit of a body closes the connection', () =>
    rig.connected(async (client) => {
      client.send(create('c-ok', { input: 'x'.repeat(64 * 1024) }));
      expect(await client.closed).toBe(1009);
    }));

  test('a conversation above it is refused', () =>
    rig.connected(async (client) => {
      const first = await client.ask(create('c-ok', { input: 'y'.repeat(6_000) }));
      const [refusal] = await client.ask(
        create('c-ok', { previous_response_id: idOf(first), input: 'x'.repeat(60_000) }),
      );
      expect(refusal).toMatchObject({ type: 'error', status: 413 });
    }));
});

describe('key and limits are those of the moment', () => {
  test('a key revoked on an open connection is refused, and the connection closed', () =>
    rig.connected(async (client, key) => {
      await client.ask(create('c-ok'));
      await rig.gateway.run('keys', 'revoke', key.id);
      const [refusal] = await client.ask(create('c-ok'));
      expect(refusal).toMatchObject({ type: 'error', status: 401, error: { code: 'unauthorized' } });
      expect(await client.closed).toBe(1008);
      expect((await rig.recordsOf(key)).length).toBe(1);
    }));

  test('a spent budget ends the turn', () =>
    rig.connected(
      async (client) => {
        await client.ask(create('c-ok'));
        const refused = await client.ask(create('c-ok'));
        expect(typesOf(refused)).toEqual(['response.created', 'error', 'response.failed']);
        expect(errorOf(asObject(refused.at(-1)?.response) ?? {})?.code).toBe('insufficient_quota');
        expect(asObject(refused.at(-1)?.response)?.model).toBe('c-ok');
      },
      ['--budget-usd', '0.00004', '--budget-window', 'total'],
    ));

  test('a rate says how long to wait', () =>
    rig.connected(
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
    rig.connected(
      async (client) => {
        const [refusal] = await client.ask(create('c-ok', { generate: false }));
        expect(refusal).toMatchObject({ status: 400, error: { code: 'model_not_found' } });
      },
      ['--models', 'r-ok'],
    ));
});

describe('a failure', () => {
  test('of all targets ends the turn', () =>
    rig.connected(async (client) => {
      const messages = await client.ask(create('gone'));
      expect(typesOf(messages)).toEqual(['response.created', 'error', 'response.failed']);
      expect(errorOf(asObject(messages.at(-1)?.response) ?? {})?.code).toBe('server_is_overloaded');
    }));

  test('of a stream that was cut is told in the stream', () =>
    rig.connected(async (client, key) => {
      const messages = await client.ask(create('cut'));
      expect(typesOf(messages).slice(-2)).toEqual(['error', 'response.failed']);
      expect(await rig.recordsOf(key)).toMatchObject([{ status: 200, error: 'upstream_truncated' }]);
    }));

  test('of the request and of a rate at the provider are told as such', () =>
    rig.connected(async (client) => {
      expect(await client.ask(create('rejecting'))).toMatchObject([
        { type: 'error', status: 400, error: { code: 'unsupported_parameter' } },
      ]);
      const limited = await client.ask(create('limited'));
      expect(errorOf(asObject(limited.at(-1)?.response) ?? {})?.message).toContain('Please try again in 2s.');
    }));
});

describe('a client that leaves ends the call at the provider, which is settled once', () => {
  test.each(['held', 'silent'])('model %s', async (model) => {
    const key = await rig.makeKey();
    const client = await rig.open(key.key);
    const earlier = rig.fake.served(model).length;
    client.send(create(model));
    await (model === 'held'
      ? client.until('response.output_text.delta')
      : rig.fake.until(() => rig.fake.served(model).length > earlier));
    client.socket.close();
    await rig.fake.until(() => rig.fake.served(model).at(-1)?.finished === 'client-left');
    const records = await eventually('the record', async () => {
      const found = await rig.recordsOf(key);
      return found.length > 0 ? found : null;
    });
    expect(records).toMatchObject([{ status: 499, error: 'client_left', usage_source: 'counted' }]);
  });
});

test('silence is filled with keepalive events', () =>
  rig.connected(async (client) => {
    client.send(create('held'));
    await client.until('keepalive');
    rig.fake.release();
    await client.until('response.completed');
  }));

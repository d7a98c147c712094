/**
 * Tests authentication: credential headers, malformed keys, keys in every state, scopes. Contract 4 and 5, HTTP 401 and
 * 403.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { generateKeyText } from '../../src/identity/key-format.ts';
import { exchange, rawRequest } from '../fake-upstream/raw-client.ts';
import { eventually } from '../harness/eventually.ts';
import type { SharedPair } from '../harness/start-pair.ts';
import { GOOD_MODELS, get, goodBody, type HeaderChanges, PATHS, post, type Side } from './calls.ts';
import { shareContractPair } from './contract-config.ts';
import { expectRefusal, expectRefusalBody, type Refusal } from './expect-refusal.ts';
import { control, createKey, type MadeKey } from './make-key.ts';

let pair: SharedPair;
let keys: Record<'other' | 'expired' | 'rotated' | 'disabled' | 'revoked' | 'usageOnly', MadeKey>;

beforeAll(async () => {
  pair = await shareContractPair();
  const { gateway } = pair;
  const [other, expired, rotated, disabled, revoked, usageOnly] = await Promise.all([
    createKey(gateway),
    createKey(gateway, { expires_in_ms: 1 }),
    createKey(gateway),
    createKey(gateway),
    createKey(gateway),
    createKey(gateway, { scopes: ['usage'] }),
  ]);
  await control(gateway, 'keys.rotate', { id: rotated.id, grace_ms: 1 });
  await control(gateway, 'keys.disable', { id: disabled.id });
  await control(gateway, 'keys.revoke', { id: revoked.id });
  keys = { other, expired, rotated, disabled, revoked, usageOnly };
});

const SIDES: readonly Side[] = ['chat', 'messages'];

const unauthorized = (says?: string): Refusal => ({
  status: 401,
  type: 'authentication_error',
  code: 'unauthorized',
  param: null,
  shouldRetry: 'false',
  ...(says === undefined ? {} : { says }),
});

/** Sends a good call with these headers in place of its credential. */
function call(side: Side, changes: HeaderChanges): Promise<Response> {
  return post(pair.gateway, side, goodBody(side), { authorization: null, ...changes });
}

async function expectUnauthorized(side: Side, changes: HeaderChanges, says?: string): Promise<void> {
  const response = await call(side, changes);
  expect(response.headers.get('www-authenticate')).toBe('Bearer');
  await expectRefusal(response, side, unauthorized(says));
}

async function expectServed(side: Side, changes: HeaderChanges): Promise<string> {
  const response = await call(side, changes);
  const text = await response.text();
  expect({ status: response.status, text }).toEqual({ status: 200, text: expect.stringContaining('Good') });
  return response.headers.get('x-request-id') ?? '';
}

/** Returns the id of the key in the call's record. */
async function recordedKey(requestId: string): Promise<string> {
  const { stdout } = await pair.gateway.run('calls', '--json', '--request-id', requestId);
  return (JSON.parse(stdout) as { key_id: string }).key_id;
}

describe('one credential header', () => {
  for (const side of SIDES) {
    test(`${side}: bearer and x-api-key alike`, async () => {
      const { key } = pair.gateway;
      for (const authorization of [`Bearer ${key}`, `bearer ${key}`, `BEARER  ${key} `]) {
        await expectServed(side, { authorization });
      }
      await expectServed(side, { 'x-api-key': key });
      await expectServed(side, { 'X-Api-Key': ` ${key} ` });
    });

    test(`${side}: no credential, or one of another form, is 401 and the message says how to send one`, async () => {
      await expectUnauthorized(side, {}, 'authorization: Bearer KEY');
      await expectUnauthorized(side, { 'x-api-key': '' }, 'authorization: Bearer KEY');
      const { key } = pair.gateway;
      for (const authorization of [
        '',
        'Bearer',
        'Bearer ',
        key,
        `Basic ${key}`,
        `Bearer ${key} more`,
        `Token ${key}`,
      ]) {
        await expectUnauthorized(side, { authorization });
      }
    });

    test(`${side}: the key in the query or in the body is no credential`, async () => {
      const { key } = pair.gateway;
      const path: `/${string}` = `${PATHS[side]}?api_key=${key}&key=${key}`;
      const response = await post(pair.gateway, path, goodBody(side, { api_key: key }), { authorization: null });
      await expectRefusal(response, side, unauthorized());
    });
  }
});

describe('both credential headers', () => {
  const nobodys = generateKeyText();

  test('chat: the bearer token takes precedence over x-api-key', async () => {
    const { key } = pair.gateway;
    for (const apiKey of [key, nobodys, 'sk-foreign', '']) {
      await expectServed('chat', { authorization: `Bearer ${key}`, 'x-api-key': apiKey });
    }
    for (const bearer of [nobodys, 'sk-foreign']) {
      await expectUnauthorized('chat', { authorization: `Bearer ${bearer}`, 'x-api-key': key });
    }
  });

  test('messages: x-api-key counts where it has the form of our keys, else bearer', async () => {
    const { key } = pair.gateway;
    await expectServed('messages', { authorization: 'Bearer sk-foreign', 'x-api-key': key });
    await expectServed('messages', { authorization: `Bearer ${nobodys}`, 'x-api-key': key });
    for (const apiKey of ['sk-foreign', 'dummy', '', `${key}x`]) {
      await expectServed('messages', { authorization: `Bearer ${key}`, 'x-api-key': apiKey });
    }
    await expectUnauthorized('messages', { authorization: `Bearer ${key}`, 'x-api-key': nobodys });
    await expectUnauthorized('messages', { authorization: 'Bearer sk-foreign', 'x-api-key': 'sk-foreign-too' });
  });

  test('the record names the key that counted', async () => {
    const { other } = keys;
    const listed = (await control(pair.gateway, 'keys.list', {})) as ReadonlyArray<{ id: string; name: string }>;
    const firstId = listed.find(({ name }) => name === 'first key')?.id ?? '';
    const headers = { authorization: `Bearer ${pair.gateway.key}`, 'x-api-key': other.key };
    expect(await recordedKey(await expectServed('chat', headers))).toBe(firstId);
    expect(await recordedKey(await expectServed('messages', headers))).toBe(other.id);
  });
});

/** Whether the gateway has the beginning of a body; null: not yet. */
async function hasBody(): Promise<true | null> {
  const metrics = await (await fetch(`${pair.gateway.url}/metrics`)).text();
  return /^tollgate_body_bytes [1-9]/m.test(metrics) || null;
}

describe('an unknown or expired key', () => {
  for (const side of SIDES) {
    test(`${side}: a key that is revoked while the body arrives`, async () => {
      const { url } = pair.gateway;
      const { id, key } = await createKey(pair.gateway);
      const bytes = Buffer.from(JSON.stringify(goodBody(side)));
      const body = new ReadableStream({
        async start(stream) {
          stream.enqueue(bytes.subarray(0, 10));
          await eventually('the beginning of the body', hasBody);
          await control(pair.gateway, 'keys.revoke', { id });
          stream.enqueue(bytes.subarray(10));
          stream.close();
        },
      });
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const response = await fetch(`${url}${PATHS[side]}`, { method: 'POST', headers, body });
      await expectRefusal(response, side, unauthorized('revoked'));
    });

    test(`${side}: malformed, unknown, expired, rotated, disabled, revoked`, async () => {
      const { key } = pair.gateway;
      const last = key.at(-1) === 'x' ? 'y' : 'x';
      const malformed = ['tg_', 'sk-abc', `${key.slice(0, -1)}${last}`, key.slice(0, -1), `${key}0`, key.toUpperCase()];
      malformed.push('x'.repeat(8_000), "tg_'OR/**/1=1--", `${key.slice(0, 10)}é${key.slice(11)}`);
      for (const text of malformed) await expectUnauthorized(side, { authorization: `Bearer ${text}` }, 'incomplete');
      await expectUnauthorized(side, { authorization: `Bearer ${generateKeyText()}` }, 'not valid');
      // A rotation of an expired key is refused.
      await expectUnauthorized(side, { authorization: `Bearer ${keys.expired.key}` }, 'Set a later expiry');
      // Its owner has a secret that works: to rotate again would end that one.
      await expectUnauthorized(side, { authorization: `Bearer ${keys.rotated.key}` }, 'Use the new one');
      await expectUnauthorized(
        side,
        { authorization: `Bearer ${keys.disabled.key}` },
        'Ask an admin of its account to enable it',
      );
      await expectUnauthorized(side, { authorization: `Bearer ${keys.revoked.key}` }, 'revoked');
    });

    test(`${side}: the refusal never repeats the key`, async () => {
      const unknown = generateKeyText();
      for (const headers of [
        { authorization: `Bearer ${unknown}` },
        { 'x-api-key': unknown },
        { authorization: unknown },
      ]) {
        expect(await (await call(side, headers)).text()).not.toContain(unknown.slice(3, 20));
      }
    });

    test(`${side}: is refused before its body is read`, async () => {
      const head = rawRequest('POST', PATHS[side], '', { 'content-length': '1000000' });
      const { response, client } = await exchange(pair.gateway.url, head);
      client.leave();
      const headers = new Headers(response?.headers.map(([name, value]): [string, string] => [name, value]));
      expect(response?.status).toBe(401);
      expectRefusalBody(headers, response?.body.toString() ?? '', side, unauthorized());
    });
  }

  test('the lists of models refuse as well, in the words of the side that the version header suggests', async () => {
    for (const path of ['/v1/models', '/v1/models/ok']) {
      const chat = await get(pair.gateway, path, { authorization: null });
      expect(chat.headers.get('www-authenticate')).toBe('Bearer');
      await expectRefusal(chat, 'chat', unauthorized());
      const messages = await get(pair.gateway, path, { authorization: null, 'anthropic-version': '2023-06-01' });
      await expectRefusal(messages, 'messages', unauthorized());
    }
  });

  test('no such caller is recorded', async () => {
    const before = (await pair.gateway.calls()).length;
    const [refused] = await Promise.all([call('chat', {}), call('messages', { 'x-api-key': keys.revoked.key })]);
    await expectServed('chat', { 'x-api-key': pair.gateway.key });
    const after = await pair.gateway.calls();
    expect(after.length).toBe(before + 1);
    expect(after.map(({ request_id }) => request_id)).not.toContain(refused.headers.get('x-request-id') ?? '');
  });
});

describe('scopes', () => {
  for (const side of SIDES) {
    test(`${side}: a key without the scope inference is 403, with that reason`, async () => {
      const response = await post({ ...pair.gateway, key: keys.usageOnly.key }, side, goodBody(side));
      const refusal = { status: 403, type: 'permission_error', code: 'forbidden', says: 'inference' };
      await expectRefusal(response, side, refusal);
    });
  }
});

describe('headers sent twice', () => {
  test('two authorization headers are 401, never the first or the last of them', async () => {
    const { key } = pair.gateway;
    const body = JSON.stringify(goodBody('chat'));
    for (const values of [
      [key, key],
      [key, 'sk-foreign'],
      ['sk-foreign', key],
    ]) {
      const lines = values.map((value) => `authorization: Bearer ${value}\r\n`).join('');
      const head = `POST ${PATHS.chat} HTTP/1.1\r\nhost: a\r\n${lines}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
      const { response, client } = await exchange(pair.gateway.url, Buffer.from(head + body));
      client.leave();
      expect(response?.status).toBe(401);
    }
  });
});

test('upstream never sees the key of the caller', async () => {
  const { key } = pair.gateway;
  for (const side of SIDES) {
    await expectServed(side, { authorization: `Bearer ${key}`, 'x-api-key': key });
    const [served] = await eventually('the call at upstream', () => {
      const calls = pair.fake.served(GOOD_MODELS[side]);
      return calls.length > 0 ? calls.slice(-1) : null;
    });
    const all = `${served?.headLines.join('\n')}\n${Buffer.from(served?.requestBody ?? []).toString()}`;
    expect(all).not.toContain(key.slice(3, 30));
    expect(served?.headers.map(([name]) => name)).not.toContain('authorization');
  }
});

/** Tests that a caller gets JSON or an event stream whatever an upstream sends, and `nosniff` on every route. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { get, goodBody, post, type Side } from './calls.ts';
import { contractConfig, scriptContractModels } from './contract-config.ts';

const PAGE = '<!doctype html><script>alert(document.domain)</script>';
const HTML = { 'content-type': 'text/html; charset=utf-8' };
const MODELS = { chat: 'ok', messages: 'm-ok' } as const;
const SIDES = ['chat', 'messages'] as const satisfies readonly Side[];
/** What upstream says with a page, whether a stream was asked for, and what the caller gets. */
const PAGES = [
  [200, false, 500],
  [200, true, 500],
  [400, false, 400],
  [400, true, 400],
  // The provider's address is wrong.
  [404, false, 500],
  [413, false, 413],
  [422, false, 422],
] as const;
const pageModel = (side: Side, status: number, stream: boolean) => `${side}-page-${status}${stream ? '-stream' : ''}`;
const pageModels = (side: Side) => PAGES.map(([status, stream]) => pageModel(side, status, stream));

let pair: Pair;
beforeAll(async () => {
  const apart = { chat: pageModels('chat'), messages: pageModels('messages') };
  pair = await startPair((url) => contractConfig(url, { apart }));
  scriptContractModels(pair.fake);
});
afterAll(() => pair.stop());

async function expectJson(response: Response, status: number): Promise<Record<string, unknown>> {
  const { headers } = response;
  const text = await response.text();
  expect([response.status, headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([
    status,
    'application/json',
    'nosniff',
  ]);
  expect(text).not.toContain('<script');
  return JSON.parse(text);
}

test.each(SIDES)('%s: a good answer is JSON, whatever type upstream gives it', async (side) => {
  for (const type of ['text/html', 'image/svg+xml', 'application/json; charset=utf-7', null]) {
    pair.fake.script(MODELS[side], { headers: { 'content-type': type } });
    await expectJson(await post(pair.gateway, side, goodBody(side)), 200);
  }
  pair.fake.script(MODELS[side], {});
});

test.each(SIDES)(
  '%s: a page in place of an answer is our fault in JSON, in place of a refusal a refusal in JSON',
  async (side) => {
    for (const [upstream, stream, status] of PAGES) {
      const model = pageModel(side, upstream, stream);
      pair.fake.script(model, { status: upstream, headers: HTML, body: PAGE });
      const body = await expectJson(await post(pair.gateway, side, goodBody(side, { model, stream })), status);
      expect(JSON.stringify(body.error)).toContain('the model provider');
    }
  },
);

test.each(SIDES)(
  '%s: a refusal in plain text is told in our error body, one in JSON passes as it came',
  async (side) => {
    pair.fake.script(MODELS[side], {
      status: 400,
      headers: { 'content-type': 'text/plain' },
      body: 'the prompt is too long',
    });
    const reply = await expectJson(await post(pair.gateway, side, goodBody(side)), 400);
    expect(reply.error).toMatchObject({ message: expect.stringContaining('the prompt is too long') });
    const refusal = { error: { message: 'no', type: 'invalid_request_error', odd: [1] } };
    pair.fake.script(MODELS[side], { status: 400, headers: HTML, json: refusal });
    expect(await expectJson(await post(pair.gateway, side, goodBody(side)), 400)).toEqual(refusal);
    // A value other than an error object is not an error body.
    pair.fake.script(MODELS[side], { status: 400, headers: HTML, body: '"<script>"' });
    await expectJson(await post(pair.gateway, side, goodBody(side)), 400);
    pair.fake.script(MODELS[side], {});
  },
);

test('a count of tokens that is a page is our fault in JSON', async () => {
  pair.fake.script('count-tokens:m-ok', { headers: HTML, body: PAGE });
  await expectJson(await post(pair.gateway, '/v1/messages/count_tokens', goodBody('messages')), 500);
  pair.fake.script('count-tokens:m-ok', { json: { input_tokens: 3 } });
});

test.each(SIDES)('%s: a stream is an event stream', async (side) => {
  const response = await post(pair.gateway, side, goodBody(side, { stream: true }));
  await response.text();
  const { headers } = response;
  expect([headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([
    'text/event-stream; charset=utf-8',
    'nosniff',
  ]);
});

test('every route answers with nosniff: found or not, refused or redirected', async () => {
  const { url } = pair.gateway;
  for (const path of [
    '/',
    '/healthz',
    '/readyz',
    '/openapi.json',
    '/api/hello',
    '/v1/models',
    '/v1/models/ok',
    '/v1/models/gone',
    '/v1/key',
    '/app',
    '/app/keys',
    '/app/assets/gone.js',
    '/app/api',
    '/app/api/session',
    '/app/api/status',
    '/app/api/gone',
    '/app/api/accounts/default/keys',
    '/status',
    '/nowhere',
    '/%',
  ]) {
    for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS']) {
      const response = await fetch(`${url}${path}`, { method, redirect: 'manual' });
      await response.arrayBuffer();
      expect([method, path, response.headers.get('x-content-type-options')]).toEqual([method, path, 'nosniff']);
    }
    const known = await get(pair.gateway, path);
    await known.arrayBuffer();
    expect([path, known.headers.get('x-content-type-options')]).toEqual([path, 'nosniff']);
  }
});

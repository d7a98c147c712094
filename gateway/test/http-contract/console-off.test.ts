/**
 * Tests that `server.console: off` disables the console: its pages, API and status page do not exist, and nothing links
 * to them. Contract, 2 and 3.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { post } from './calls.ts';

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway({ config: { server: { console: 'off' }, providers: { demo: { kind: 'demo' } } } });
});
afterAll(() => gateway.stop());

const PATHS = [
  '/app',
  '/app/',
  '/app/setup?token=x',
  '/app/keys',
  '/app/assets/index.js',
  '/app/api/session',
  '/app/api/sign-in',
  '/app/api/accounts/default/keys',
  '/status',
  '/status?request_id=req_1',
] as const;

describe('is not there', () => {
  test.each(PATHS)('%s', async (path) => {
    const headers = { authorization: `Bearer ${gateway.key}`, accept: 'text/html' };
    const response = await fetch(`${gateway.url}${path}`, { headers, redirect: 'manual' });
    expect([response.status, response.headers.get('content-type')?.split(';')[0]]).toEqual([404, 'application/json']);
  });

  test('requests that change data get no console either', async () => {
    const body = JSON.stringify({
      token: 'x',
      name: 'n',
      email: 'a@example.com',
      password: 'long enough',
      workspace: null,
    });
    const headers = { 'content-type': 'application/json', origin: gateway.url };
    const response = await fetch(`${gateway.url}/app/api/setup`, { method: 'POST', headers, body });
    expect(response.status).toBe(404);
  });
});

test('no link leads there: the root page and the startup output name no console page', async () => {
  const root = await fetch(`${gateway.url}/`, { redirect: 'manual' });
  expect([root.status, await root.json()]).toEqual([200, { service: 'tollgate' }]);
  expect(gateway.stdout()).toContain('Your first API key');
  expect(gateway.stdout()).not.toContain('/app');
});

test('calls are served', async () => {
  const body = { model: 'demo', messages: [{ role: 'user', content: 'Good day.' }] };
  expect((await post(gateway, 'chat', body)).status).toBe(200);
});

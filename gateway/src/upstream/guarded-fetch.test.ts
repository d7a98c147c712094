/** Tests the `fetch` of libraries: what it sends, where it goes, what it refuses. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createGuardedFetch } from './guarded-fetch.ts';

let server: Bun.Server<undefined>;
let origin: string;
let arrived = 0;
beforeAll(() => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      arrived += 1;
      const { pathname, search } = new URL(request.url);
      if (pathname === '/moved') return Response.redirect(`${origin}/elsewhere`, 302);
      if (pathname === '/large') return new Response('x'.repeat(1024 * 1024 + 1));
      if (pathname === '/empty') return new Response(null, { status: 204 });
      if (pathname === '/slow') await Bun.sleep(60_000);
      const { method, headers } = request;
      return Response.json({ method, search, type: headers.get('content-type'), body: await request.text() });
    },
  });
  origin = `http://127.0.0.1:${server.port}`;
});
afterAll(() => server.stop(true));

const trusting = createGuardedFetch((asked) => asked === origin);

test('a form is sent as fetch sends it, to an origin that the operator wrote down', async () => {
  const reply = await trusting(new URL(`${origin}/token?a=1`), {
    method: 'POST',
    body: new URLSearchParams({ b: 'ä' }),
  });
  expect(reply.ok).toBe(true);
  expect(await reply.json()).toEqual({
    method: 'POST',
    search: '?a=1',
    type: 'application/x-www-form-urlencoded;charset=UTF-8',
    body: 'b=%C3%A4',
  });
});

test('a redirect is not followed, an empty answer is empty', async () => {
  const before = arrived;
  const reply = await trusting(`${origin}/moved`);
  expect([reply.status, reply.headers.get('location'), arrived - before]).toEqual([302, `${origin}/elsewhere`, 1]);
  expect([(await trusting(`${origin}/empty`)).status]).toEqual([204]);
});

test('other origins must be https and public', async () => {
  const before = arrived;
  const strict = createGuardedFetch(() => false);
  await expect(strict(`${origin}/`)).rejects.toThrow('is not https');
  await expect(strict(`https://127.0.0.1:${server.port}/`)).rejects.toThrow('not public');
  await expect(strict('https://169.254.169.254/latest')).rejects.toThrow('not public');
  await expect(trusting(`https://localhost:${server.port}/`)).rejects.toThrow('not public');
  expect(arrived).toBe(before);
});

test('an answer above 1 MiB fails, and a caller can leave', async () => {
  await expect(trusting(`${origin}/large`)).rejects.toThrow('larger than');
  const leave = new AbortController();
  const slow = trusting(`${origin}/slow`, { signal: leave.signal });
  setTimeout(() => leave.abort(new Error('gone')), 20);
  await expect(slow).rejects.toThrow('gone');
  await expect(trusting(`${origin}/`, { signal: AbortSignal.abort(new Error('never')) })).rejects.toThrow('never');
});

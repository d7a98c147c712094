/** Tests which responses are compressed, and that they have the same content. */
import { expect, test } from 'bun:test';
import { gunzipSync } from 'node:zlib';
import { jsonReply } from './console-api.ts';

const LARGE = { rows: Array.from({ length: 200 }, (_, at) => ({ at, cost: '$0.00', name: 'söme' })) };

const ask = (method: string, encoding: string | null) =>
  new Request('http://gateway.test/app/api/session', {
    method,
    headers: encoding === null ? {} : { 'accept-encoding': encoding },
  });

test('a large reply is compressed, with the same content', async () => {
  const reply = await jsonReply(LARGE, ask('GET', 'gzip, br'), new Headers({ 'cache-control': 'no-store' }));
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    'cache-control': 'no-store',
    'content-encoding': 'gzip',
    vary: 'accept-encoding',
  });
  expect(reply.headers.get('content-type')).toStartWith('application/json');
  const packed = await reply.arrayBuffer();
  expect(packed.byteLength).toBeLessThan(JSON.stringify(LARGE).length / 4);
  expect(JSON.parse(gunzipSync(packed).toString())).toEqual(LARGE);
});

test.each([
  ['to whom does not take it', LARGE, 'GET', null],
  ['a small one', { ok: true }, 'GET', 'gzip'],
  ['of an act, which may hold a secret', LARGE, 'POST', 'gzip'],
])('it stays as it is: %s', async (_, result, method, encoding) => {
  const reply = await jsonReply(result, ask(method, encoding), new Headers());
  expect(reply.headers.get('content-encoding')).toBeNull();
  expect(await reply.json()).toEqual(result);
});

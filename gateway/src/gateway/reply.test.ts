/** Checks that a reply can be made whatever the operator called his providers and models. */
import { expect, test } from 'bun:test';
import { openCall } from './call.ts';
import { streamReply } from './reply.ts';

test.each([
  ['lab', 'qwen3-32b', 'lab', 'qwen3-32b'],
  ['日本', 'größe/\ud800', '%E6%97%A5%E6%9C%AC', 'gr%C3%B6%C3%9Fe/%EF%BF%BD'],
])('the provider %s and its model %s are named in headers', (provider, model, providerText, modelText) => {
  const call = openCall('chat', new Headers({ 'x-session-id': 's'.repeat(1_000) }));
  const upstream = { kind: 'demo', provider, model } as const;
  call.route = { model, names: [model], protocols: ['chat'], upstream, catalog: null, price: null };
  call.dispatched = true;
  const { headers } = streamReply(call, new ReadableStream());
  expect([headers.get('x-tollgate-provider'), headers.get('x-tollgate-model')]).toEqual([providerText, modelText]);
  expect(call.session).toHaveLength(1_000);
});

/** Tests that a reply can be built whatever names the operator gave their providers and models. */
import { expect, test } from 'bun:test';
import { DEFAULT_ROUTING } from '../../config/config.ts';
import { plainTarget } from '../../config/resolve-routing.ts';
import { plainModel, withCatalog } from '../../config/served-models.ts';
import { demo, localProvider } from '../../providers/kinds/demo.ts';
import { buildRouteTable } from '../../routing/route.ts';
import { setRoute } from '../call.ts';
import { routedCall } from '../testing/routed-call.ts';
import { streamReply } from './reply.ts';

test.each([
  ['lab', 'qwen3-32b', 'lab', 'qwen3-32b'],
  ['日本', 'größe/\ud800', '%E6%97%A5%E6%9C%AC', 'gr%C3%B6%C3%9Fe/%EF%BF%BD'],
])('the provider %s and its model %s are named in headers', (provider, model, providerText, modelText) => {
  const call = routedCall({ headers: { 'x-session-id': 's'.repeat(256) } });
  const target = withCatalog(plainTarget(localProvider(provider, demo), model));
  const served = plainModel(model, [], target, DEFAULT_ROUTING);
  const route = buildRouteTable(new Map([[model, served]]), () => null).get(model);
  if (route === undefined) throw new Error('the model is served');
  setRoute(call, route, route.targets[0]);
  call.attempted = true;
  const { headers } = streamReply(call, new ReadableStream());
  expect([headers.get('x-tollgate-provider'), headers.get('x-tollgate-model')]).toEqual([providerText, modelText]);
  expect(call.session).toHaveLength(256);
});

test('dropped members are named in ASCII, and counted where they exceed the header’s limit', () => {
  const call = routedCall({});
  const headerOf = () => streamReply(call, new ReadableStream()).headers.get('x-tollgate-dropped');
  expect(headerOf()).toBeNull();
  call.dropped = ['seed', 'größe'];
  expect(headerOf()).toBe('seed,gr%C3%B6%C3%9Fe');
  call.dropped = ['tools.0.strict', 'messages[].tool_calls[]."x"', 'a,b%\r\n\ud800'];
  expect(headerOf()).toBe('tools.0.strict,messages[].tool_calls[]."x",a%2Cb%25%0D%0A%EF%BF%BD');
  call.dropped = Array.from({ length: 1_000 }, (_, at) => `member_${at}`);
  expect(headerOf()).toMatch(/^member_0,.*,member_100,.*,and \d+ more$/);
  const named = headerOf()?.split(',') ?? [];
  expect(named.at(-1)).toBe(`and ${1_000 - (named.length - 1)} more`);
});

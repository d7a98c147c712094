/** Tests how the console API shows answers from the cache, and changes the cache of a workspace. */
import { expect, test } from 'bun:test';
import { openScript } from '../console-api/api-visitor.ts';
import { createKey } from '../http-contract/make-key.ts';
import { ask, askUntilHit, FORMATS, newTenant, startCachePair } from './cache-rig.ts';

const { path, body } = FORMATS.chat;

test('hits are found by a query, and name the request that a provider answered', async () => {
  const pair = await startCachePair();
  try {
    const { gateway } = pair;
    const tenant = await newTenant(gateway, {}, 'default');
    const { key } = await createKey(gateway, { scopes: ['admin'] });
    const script = openScript(gateway.url, key);
    const change = (given: object) =>
      script.ask(`PATCH /accounts/default/workspaces/${tenant.workspace}`, { body: given });

    expect((await change({ clear_cache: true })).json.error.message).toContain('clear_cache: answers are not cached');
    const refused = await change({ cache: 'all', bodies: 'off' });
    expect([refused.status, refused.json.error.message]).toEqual([409, expect.stringContaining('cache: found all')]);
    expect((await change({ cache: 'all' })).json).toMatchObject({ cache: 'all', cache_seconds: 3_600 });

    const request = body('c-ok', 'shown');
    const { hit } = await askUntilHit(tenant, path, request);
    const list = async (query: string) => {
      const { json } = await script.ask(`GET /accounts/default/logs?q=${encodeURIComponent(query)}`);
      return (json.calls as { readonly request_id: string }[]).map(({ request_id }) => request_id);
    };
    expect(await list('cached:yes')).toEqual([hit.requestId]);
    expect(await list('cached:no')).not.toContain(hit.requestId);
    const { json } = await script.ask(`GET /accounts/default/logs/${hit.requestId}`);
    const origin = hit.headers.get('x-tollgate-cached-request-id');
    expect(json.call).toMatchObject({ cached_from: origin, usage_source: 'cache', cost_nano_usd: '0' });
    expect(await list('cached:no')).toContain(String(origin));

    const cleared = await change({ clear_cache: true });
    expect(cleared.json.cache).toBe('all');
    expect((await ask(tenant, path, request)).cache).toBe('miss');
    const { json: audit } = await script.ask('GET /accounts/default/audit');
    expect(JSON.stringify(audit)).toContain('cache_since');
  } finally {
    await pair.stop();
  }
}, 60_000);

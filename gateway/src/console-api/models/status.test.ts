/** Tests the service status for anonymous clients: providers by name only if the operator allows it. */
import { expect, test } from 'bun:test';
import type { Actor } from '../kernel/actor.ts';
import { person } from '../testing/policy-rig.ts';
import { statusHandlers } from './status.ts';

const ROUTE = 'GET /status';

function ask(publicStatus: 'summary' | 'full', actor: Actor) {
  const readHealth = (name: string) => ({ state: name === 'lab' ? 'failing' : 'healthy', calls: 9, errors: 9 });
  const providers = new Map([
    ['lab', {}],
    ['anthropic', {}],
  ]);
  const models = {
    running: () => ({ config: { server: { publicStatus }, providers }, providers: [] }),
    readHealth,
    nowMs: () => 0,
  };
  const parts = {
    models,
    deps: () => ({ ready: true, draining: false, recorder: { writable: () => true } }),
    calls: { readCalls: async () => [] },
    version: '1',
    startedAtMs: 0,
  } as unknown as Parameters<typeof statusHandlers>[0];
  const call = { query: {}, actor, address: null } as unknown as Parameters<
    ReturnType<typeof statusHandlers>[typeof ROUTE]
  >[0];
  return statusHandlers(parts)[ROUTE](call);
}

const NAMED = {
  state: 'degraded',
  problems: ['The provider lab is failing.'],
  providers: [
    { name: 'lab', state: 'failing' },
    { name: 'anthropic', state: 'healthy' },
  ],
};

test('strangers hear that a provider is failing, and no name', async () => {
  const summary = await ask('summary', { kind: 'anonymous' });
  expect(summary).toMatchObject({ state: 'degraded', problems: ['A model provider is failing.'], providers: [] });
  expect(JSON.stringify(summary)).not.toContain('lab');
});

test('providers are named with public_status full, and for signed-in users', async () => {
  expect(await ask('full', { kind: 'anonymous' })).toMatchObject(NAMED);
  expect(await ask('summary', person('per_1', 'team', 'viewer'))).toMatchObject(NAMED);
});

/** Tests the states that operators see, and the explanation beside them, over real states of targets. */
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRotation, serveEntered } from '../../config/console-entries.ts';
import { loadConfig } from '../../config/load-config.ts';
import { createKeyDirectory } from '../../identity/key-directory.ts';
import { ChoiceState } from '../../routing/choose/choose.ts';
import { RoutingState } from '../../routing/health/routing-state.ts';
import { buildRouteTable } from '../../routing/route.ts';
import type { StoredOutOfRotation } from '../../store/ports/providers.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { explain } from './explain.ts';
import type { ModelDeps } from './model-deps.ts';
import { readStates } from './routing-states.ts';

const newFolder = temporaryFolders();
const FILE = `
providers:
  one: { kind: openai-compatible, base_url: https://one.example/v1, api_key: the-key-of-one }
  two:
    kind: openai-compatible
    base_url: https://two.example/v1
    api_keys: [ { name: main, key: first-key-of-two }, { name: spare, key: second-key-of-two } ]
models:
  pair: { targets: [ { provider: one, name: first }, { provider: two } ], price: { input: 1, output: 2 } }
  lone: { targets: [ { provider: one } ], price: free }
`;
/** The time of people that belongs to 0 on the clock of states. */
const START_MS = Date.UTC(2026, 10, 20, 11);

function open(outOfRotation: readonly StoredOutOfRotation[] = []) {
  const folder = newFolder();
  writeFileSync(join(folder, 'tollgate.yaml'), FILE);
  const { config, problems } = loadConfig({ cwd: folder, environment: {}, file: join(folder, 'tollgate.yaml') });
  if (config === null) throw new Error(JSON.stringify(problems));
  const entered = { providers: [], credentials: [], routes: [], outOfRotation };
  const served = serveEntered(config, entered, { listCatalogNames: () => [], openCredential: () => null });
  const settings = { config, routes: buildRouteTable(inRotation(served), () => null) };
  const states = new RoutingState(
    () => undefined,
    () => 0.5,
  );
  const choice = new ChoiceState(states);
  let steadyMs = performance.now();
  const readHealth: ModelDeps['readHealth'] = (name) => states.provider(name, steadyMs);
  const parts = {
    models: { running: () => ({ ...served, settings }), readHealth },
    states,
    choice,
    clocks: () => ({ steadyMs, unixMs: START_MS }),
  };
  const [target] = settings.routes.get('pair')?.targets ?? [];
  if (target === undefined) throw new Error('the model pair has targets');
  const health = states.of(target);
  return {
    parts,
    settings,
    choice,
    states,
    /** Lets attempts at the first target of `pair` fail. */
    fail(failure: 'fault' | 'rate' | 'credential', times: number, pauseMs: number | null = null) {
      for (let index = 0; index < times; index++) {
        steadyMs += 1;
        const facts = { workspace: 'w', begunMs: steadyMs, isStream: false, requestBytes: 10, credential: 0 };
        const probes = health.begin(0, 'usable', false, steadyMs);
        health.noteFailure(
          failure,
          pauseMs,
          { ...facts, isLimp: false, probes, isOverdue: false, isSuspect: false },
          steadyMs,
        );
        health.end(0, false);
      }
    },
  };
}

test('an open breaker, a pause and a bench are told with their end and reason; unused single targets are not', () => {
  const opened = open();
  expect(readStates(opened.parts).targets.map(({ target, state }) => `${target} ${state}`)).toEqual([
    'first closed',
    'two/pair closed',
  ]);
  opened.fail('fault', 10);
  const { targets, credentials } = readStates(opened.parts);
  expect(targets[0]).toMatchObject({
    model: 'pair',
    provider: 'one',
    upstream_model: 'pair',
    state: 'open',
    until: expect.stringMatching(/^2026-11-20T11:00:0[45]/),
    why: 'fault',
    faults: 10,
    outcomes: 10,
    trips: 1,
    open_calls: 0,
  });
  expect(credentials.map(({ provider, name, state }) => `${provider}/${name} ${state}`)).toEqual([
    'one/default usable',
    'two/main usable',
    'two/spare usable',
  ]);

  const paused = open();
  paused.fail('rate', 1, 23_000);
  const [cooling] = readStates(paused.parts).credentials;
  expect(cooling).toMatchObject({
    state: 'cooling',
    why: 'rate',
    cooling: [{ upstream_model: 'pair', is_guess: false }],
  });
  expect(Date.parse(cooling?.until ?? '') - START_MS).toBeGreaterThanOrEqual(23_000);

  const refused = open();
  refused.fail('credential', 1);
  expect(readStates(refused.parts).credentials[0]).toMatchObject({ state: 'benched', why: 'credential' });
});

test('a target that is out of rotation is shown, and gets no calls', () => {
  const { parts, settings } = open([
    { kind: 'target', owner: 'pair', name: 'first', sinceMs: 1 },
    { kind: 'credential', owner: 'two', name: 'main', sinceMs: 1 },
  ]);
  const { targets, credentials } = readStates(parts);
  expect(targets.map(({ target, state }) => `${target} ${state}`)).toEqual(['first out', 'two/pair closed']);
  expect(credentials.find(({ name }) => name === 'main')?.state).toBe('out');
  const names = settings.routes
    .get('pair')
    ?.targets.map(({ upstream }) => upstream.credentials.map(({ name }) => name));
  expect(names).toEqual([['spare']]);
});

test('the explanation has the state of each target beside its verdict', async () => {
  const opened = open();
  opened.fail('fault', 10);
  const account = {
    id: 'default',
    name: 'default',
    mode: 'postpaid',
    markUpPpm: 0,
    timeZone: 'UTC',
    holds: null,
    createdAtMs: 0,
  } as const;
  const directory = createKeyDirectory((text) => text, { accounts: [account], workspaces: [], keys: [] });
  const deps = { directory, settings: opened.settings, choice: opened.choice, routing: opened.states };
  const query = { model: 'pair', protocol: null, keyId: null, account: 'default', body: null, session: null };
  // All targets have a price, so no limit is looked up.
  const explained = await explain(
    { states: opened.parts, deps: () => ({ ...deps, billing: undefined as never }) },
    query,
  );
  expect(explained).toMatchObject({ model: 'pair', protocol: 'chat', strategy: 'order', refusal: null });
  expect(explained.targets).toMatchObject([
    { target: 'two/pair', verdict: 'chosen', why: 'fallback', state: 'closed', estimate_nano_usd: expect.any(String) },
    { target: 'first', verdict: 'skipped', why: 'breaker', state: 'open', faults: 10, last_failure: 'fault' },
  ]);
});

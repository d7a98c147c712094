/**
 * Tests the routes about limits over a real store: the tree with its usage, changes that apply to the next call, and an
 * accurate simulator.
 */
import { afterEach, beforeEach, expect, mock, setSystemTime, spyOn, test } from 'bun:test';
import fc from 'fast-check';
import { runsOf } from '../../../test/harness/exhaustive.ts';
import { setPrincipal, setRoute } from '../../call/call.ts';
import type { CallMoney } from '../../call/money/call-money.ts';
import { holdCall } from '../../call/money/hold-call.ts';
import { estimateTokens } from '../../call/money/usage-checks.ts';
import { routedCall } from '../../call/testing/routed-call.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import type { Hold } from '../../store/ports/ledger.ts';
import { sampleRecord } from '../../store/testing/sample-record.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { keepCall, NO_CAPS, openPolicyRig, type PolicyRig, person } from '../testing/policy-rig.ts';

const newFolder = temporaryFolders();
const ADMIN = person('per_admin', 'team', 'admin');
const OPERATOR = person('per_operator', 'default', 'admin');
let rig: PolicyRig;
let keyId: string;

beforeEach(async () => {
  rig = await openPolicyRig(newFolder());
  setClock(Date.UTC(2026, 10, 20, 12));
  keyId = (await rig.run('keys.create', { name: 'n', workspace: 'red' })).id;
});
afterEach(async () => {
  setSystemTime();
  mock.restore();
  expect(rig.faults).toEqual([]);
  await rig.close();
});

/** The call pipeline reads the system's clock: both see the same time. */
function setClock(atMs: number): void {
  rig.nowMs = atMs;
  setSystemTime(atMs);
  // The limits' own clock.
  spyOn(performance, 'now').mockReturnValue(atMs - performance.timeOrigin);
}

/**
 * A call of the key in the call pipeline, up to its hold; returns the held amount (null: refused), and how to end it at
 * no cost.
 */
async function call(facts: object, model = 'm'): Promise<{ held: bigint | null; end(): Promise<void> }> {
  const route = rig.deps.settings.routes.get(model);
  const entry = rig.directory.byHash.get(rig.directory.keys.get(keyId)?.hash ?? '');
  if (route === undefined || entry === undefined) throw new Error('no such model or key');
  let held: bigint | null = null;
  const ledger = {
    ...rig.deps.billing.ledger,
    hold: async ({ amount }: Hold) => {
      held = amount;
    },
    settle: async () => undefined,
  };
  const call = routedCall({ facts, billing: { ...rig.deps.billing, ledger } });
  setPrincipal(call, entry.principal);
  setRoute(call, route, route.targets[0]);
  let money: CallMoney | null = null;
  try {
    money = await holdCall(call);
  } catch (fault) {
    if (!(fault instanceof CallFailure)) throw fault;
  }
  return { held, end: async () => money?.settle(0n, 0, sampleRecord(call.requestId, { cost_nano_usd: '0' })) };
}

const SIMULATE = 'POST /accounts/team/limits/simulate';

test('the tree has account, workspaces, keys and end users, each with limits and use', async () => {
  await rig.run('keys.set', { id: keyId, budget_usd: '1', budget_window: 'day', rpm: 3 });
  await rig.run('limits.set', { account: 'team', concurrency: 2 });
  await rig.run('limits.set', { account: 'team', end_user: '*', rpm: 5 });
  await rig.run('limits.set', { account: 'team', end_user: 'ann', rpm: 6 });
  await rig.run('limits.set', { account: 'default', end_user: 'bob', rpm: 7 });
  await rig.run('limits.set', { model: 'm', tpm: 8 });
  await keepCall(rig, keyId, { cost_nano_usd: '77' });
  const { nodes } = (await rig.ask(ADMIN, 'GET /accounts/team/limits')).json;
  const key = {
    subject: { kind: 'key', id: keyId },
    name: 'n',
    parent: 'red',
    layer: 'account',
    caps: NO_CAPS,
    other_caps: { ...NO_CAPS, budget_usd: '1', budget_window: 'day', rpm: 3 },
  };
  expect(nodes).toMatchObject([
    {
      subject: { kind: 'account', id: 'team' },
      parent: null,
      gauges: [{ sort: 'concurrency', limit: '2', used: '0' }],
    },
    { subject: { kind: 'workspace', id: 'red' }, parent: 'team', caps: NO_CAPS, gauges: [] },
    { subject: { kind: 'workspace', id: 'blue' }, parent: 'team' },
    {
      ...key,
      gauges: [
        { sort: 'rpm' },
        { sort: 'budget', used: '77', limit: '1000000000', resets_at: '2026-11-20T23:00:00.000Z' },
      ],
    },
    { subject: { kind: 'end_user', id: '*' }, parent: null, gauges: [] },
    { subject: { kind: 'end_user', id: 'ann' }, gauges: [{ sort: 'rpm', limit: '6' }] },
  ]);
  expect(nodes).toHaveLength(6);
  const operator = (await rig.ask(OPERATOR, 'GET /accounts/default/limits')).json.nodes;
  expect(operator).toContainEqual(expect.objectContaining({ subject: { kind: 'model', id: 'm' } }));
});

test('new limits apply from the next request to any subject; null removes them', async () => {
  for (const [actor, path, kind] of [
    [ADMIN, `team/limits/key/${keyId}`, 'key'],
    [ADMIN, 'team/limits/workspace/red', 'workspace'],
    [ADMIN, 'team/limits/account/team', 'account'],
    [ADMIN, 'team/limits/end_user/ann', 'end_user'],
    [ADMIN, 'team/limits/end_user/*', 'end_user'],
    [OPERATOR, 'default/limits/model/m', 'model'],
  ] as const) {
    const caps = { ...NO_CAPS, budget_usd: '0', budget_window: 'total' };
    const set = await rig.ask(actor, `PUT /accounts/${path}`, { caps });
    expect(set.json).toMatchObject({ subject: { kind }, caps });
    expect([path, (await call({ endUser: 'ann' })).held]).toEqual([path, null]);
    expect((await rig.ask(actor, `PUT /accounts/${path}`, { caps: NO_CAPS })).json).toMatchObject({
      caps: NO_CAPS,
      gauges: [],
    });
    expect([path, (await call({ endUser: 'ann' })).held ?? 0n]).not.toEqual([path, 0n]);
  }
});

test('subjects that cannot be limited are refused with a message', async () => {
  for (const [path, status] of [
    ['team/limits/key/gone', 404],
    ['team/limits/workspace/gone', 404],
    ['team/limits/account/default', 404],
    ['team/limits/planet/mars', 404],
    ['default/limits/model/gone', 404],
    ['default/limits/model/m-alias', 400],
  ] as const) {
    const actor = path.startsWith('team') ? ADMIN : OPERATOR;
    expect([path, (await rig.ask(actor, `PUT /accounts/${path}`, { caps: NO_CAPS })).status]).toEqual([path, status]);
  }
});

test('a model that is not served cannot be limited; an old rule is shown as without effect and can be removed', async () => {
  const typo = await rig.ask(OPERATOR, 'PUT /accounts/default/limits/model/othr', { caps: NO_CAPS });
  expect([typo.status, typo.json.error]).toMatchObject([
    404,
    { member: 'subject', message: expect.stringContaining('did you mean "other"?') },
  ]);
  const nodesOfModels = async () => {
    const { nodes } = (await rig.ask(OPERATOR, 'GET /accounts/default/limits')).json;
    return nodes
      .filter((node: { subject: { kind: string } }) => node.subject.kind === 'model')
      .map((node: { name: string; binds: boolean }) => [node.name, node.binds]);
  };
  for (const model of ['other', 'm-alias']) await rig.run('limits.set', { model, rpm: 1 });
  const { settings } = rig.deps;
  const routes = new Map([...settings.routes].filter(([name]) => name !== 'other'));
  Object.assign(rig.deps, { settings: { ...settings, routes } });
  expect((await nodesOfModels()).sort()).toEqual([
    ['m-alias', true],
    ['other', false],
  ]);
  for (const model of ['other', 'm-alias']) {
    const taken = await rig.ask(OPERATOR, `PUT /accounts/default/limits/model/${model}`, { caps: NO_CAPS });
    expect([model, taken.status]).toEqual([model, 200]);
  }
  expect(await nodesOfModels()).toEqual([]);
});

test('the simulator predicts the decision of a call, and takes nothing', async () => {
  const perMinute = fc.option(fc.integer({ min: 1, max: 4 }), { nil: null });
  const caps = fc.record({
    rpm: perMinute,
    tpm: fc.option(fc.integer({ min: 50, max: 900 }), { nil: null }),
    concurrency: perMinute,
    budget: fc.option(fc.integer({ min: 0, max: 12 }), { nil: null }),
  });
  const step = fc.record({
    subject: fc.constantFrom('key', 'workspace', 'account', 'end_user', 'model'),
    caps,
    inputBytes: fc.integer({ min: 0, max: 3_000 }),
    maxTokens: fc.option(fc.integer({ min: 1, max: 4_000 }), { nil: null }),
    endUser: fc.option(fc.constantFrom('ann', 'ben'), { nil: null }),
    stream: fc.boolean(),
    releases: fc.boolean(),
    waitMs: fc.integer({ min: 0, max: 40_000 }),
    model: fc.constantFrom('m', 'unpriced'),
  });
  const noCaps = { rpm: null, tpm: null, concurrency: null, budget: null };
  const free = {
    subject: 'key',
    caps: noCaps,
    inputBytes: 10,
    maxTokens: 10,
    endUser: null,
    stream: false,
    releases: true,
    waitMs: 0,
    model: 'm',
  } as const;
  const outcomes = new Set<boolean>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      for (const { subject, caps: given, inputBytes, maxTokens, endUser, stream, releases, waitMs, model } of steps) {
        setClock(rig.nowMs + waitMs);
        const { budget, ...rates } = given;
        const money =
          budget === null
            ? { budget_usd: null, budget_window: null }
            : { budget_usd: `0.00${String(budget).padStart(2, '0')}`, budget_window: 'total' };
        const places = { key: keyId, workspace: 'red', account: 'team', end_user: 'ann', model };
        const [actor, account] = subject === 'model' ? [OPERATOR, 'default'] : [ADMIN, 'team'];
        const put = `PUT /accounts/${account}/limits/${subject}/${places[subject as keyof typeof places]}`;
        expect((await rig.ask(actor, put, { caps: { ...rates, ...money } })).status).toBe(200);
        const simulated = {
          key: keyId,
          model,
          end_user: endUser,
          input_tokens: estimateTokens(inputBytes),
          max_tokens: maxTokens,
          stream,
        };
        const [first, second] = [
          (await rig.ask(ADMIN, SIMULATE, simulated)).json,
          (await rig.ask(ADMIN, SIMULATE, simulated)).json,
        ];
        expect(second.admitted).toBe(first.admitted);
        const facts = { model, inputBytes, mediaParts: 0, outputTokensMax: maxTokens, answers: 1, endUser, stream };
        const { held, end } = await call(facts, model);
        expect([simulated, held !== null]).toEqual([simulated, first.admitted]);
        outcomes.add(first.admitted);
        if (held !== null) expect(first.hold_nano_usd).toBe(String(held));
        if (releases) await end();
      }
    }),
    // Random values alone may all be refused.
    { numRuns: runsOf(25), examples: [[[free, { ...free, caps: { ...noCaps, budget: 0 } }, free]]] },
  );
  expect(outcomes.size).toBe(2);
}, 60_000);

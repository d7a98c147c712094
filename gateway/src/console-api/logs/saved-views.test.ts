/** Tests saved views over the routes: they come back exactly as saved, to those who may see them, and to no one else. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import fc from 'fast-check';
import { runsOf } from '../../../test/harness/exhaustive.ts';
import { SORTS } from '../../lib/query/call-order.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { openPolicyRig, type PolicyRig, person } from '../testing/policy-rig.ts';

const newFolder = temporaryFolders();
const ADA = person('ada', 'team', 'developer');
const EVE = person('eve', 'team', 'developer');
const ADMIN = person('root', 'team', 'admin');
const VIEWER = person('vic', 'team', 'viewer');
const RESTRICTED = person('rex', 'team', 'developer', ['red']);
const STRANGER = person('sam', 'default', 'viewer');
const VIEWS = '/accounts/team/views';

let rig: PolicyRig;
beforeEach(async () => {
  rig = await openPolicyRig(newFolder());
});
afterEach(() => rig.close());

const body = (changes: object = {}) => ({ name: 'slow', shared: false, search: { q: 'duration>10s' }, ...changes });
const save = async (actor: typeof ADA, changes: object = {}) =>
  (await rig.ask(actor, `POST ${VIEWS}`, body(changes))).json.id as string;
const list = async (actor: typeof ADA) => (await rig.ask(actor, `GET ${VIEWS}`)).json;
const names = async (actor: typeof ADA) => (await list(actor)).views.map(({ name }: { name: string }) => name);

const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const search = fc.record(
  {
    q: fc.constantFrom(
      'status:5xx duration>10s',
      'key:"a \\"quoted\\" name" -model:claude*',
      'cost:0.01..$2 user:none',
    ),
    range: fc.constantFrom('24h', 'last_week', 'this_month'),
    from: fc.constant('2026-11-01T00:00:00.000Z'),
    to: fc.constant('2026-11-02T00:00:00.000Z'),
    sort: fc.constantFrom(...SORTS.flatMap((field) => [field, `-${field}`])),
    columns: fc.constantFrom('at', 'at,status,model,cost'),
    view: fc.constant('reasons'),
    model: value,
    end_user: value,
    session: value,
    without: fc.constantFrom('model', 'session,end_user'),
  },
  { requiredKeys: [] },
);

test('saved views are exact: name, query, filters, columns and order come back as they were saved', async () => {
  await fc.assert(
    fc.asyncProperty(search, value, async (saved, given) => {
      const name = given.trim() === '' ? 'plain' : given.trim();
      const id = await save(ADA, { name, search: saved });
      const [found] = (await list(ADA)).views;
      expect(found).toEqual({ id, name, shared: false, editable: true, search: saved });
      expect((await rig.ask(ADA, `PATCH ${VIEWS}/${id}`, { search: {} })).status).toBe(200);
      expect((await list(ADA)).views[0].search).toEqual({});
      expect((await rig.ask(ADA, `DELETE ${VIEWS}/${id}`)).status).toBe(200);
    }),
    { numRuns: runsOf(25) },
  );
});

test('a personal view is its person’s; a shared one is seen by all who read logs there', async () => {
  const own = await save(ADA, { name: 'own' });
  const shared = await save(ADA, { name: 'shared', shared: true });
  expect(await names(ADA)).toEqual(['own', 'shared']);
  for (const other of [EVE, ADMIN, VIEWER, RESTRICTED]) expect(await names(other)).toEqual(['shared']);
  expect((await rig.ask(STRANGER, `GET ${VIEWS}`)).status).toBe(404);
  // Operators enter every account; the personal views there stay personal.
  expect(await names(person('op', 'default', 'owner'))).toEqual(['shared']);
  for (const other of [EVE, ADMIN]) {
    expect((await rig.ask(other, `PATCH ${VIEWS}/${own}`, { name: 'x' })).status).toBe(404);
    expect((await rig.ask(other, `DELETE ${VIEWS}/${own}`)).status).toBe(404);
    expect((await rig.ask(other, 'PUT /accounts/team/pinned-view', { view: own })).status).toBe(404);
  }
  const elsewhere = person('op', 'default', 'owner');
  expect((await rig.ask(elsewhere, `DELETE /accounts/default/views/${shared}`)).status).toBe(404);
  expect(await names(ADA)).toEqual(['own', 'shared']);
});

test('creators and admins change a shared view; viewers share none', async () => {
  const shared = await save(ADA, { shared: true });
  for (const other of [EVE, VIEWER, RESTRICTED]) {
    expect((await rig.ask(other, `PATCH ${VIEWS}/${shared}`, { name: 'x' })).status).toBe(403);
    expect((await rig.ask(other, `DELETE ${VIEWS}/${shared}`)).status).toBe(403);
  }
  expect((await rig.ask(VIEWER, `POST ${VIEWS}`, body({ shared: true }))).json.error.message).toContain(
    'may not share',
  );
  const own = await save(VIEWER);
  expect((await rig.ask(VIEWER, `PATCH ${VIEWS}/${own}`, { shared: true })).status).toBe(403);
  expect((await rig.ask(ADMIN, `PATCH ${VIEWS}/${shared}`, { name: 'renamed' })).status).toBe(200);
  expect(await names(EVE)).toEqual(['renamed']);
  // What an admin makes personal is its creator's again.
  expect((await rig.ask(ADMIN, `PATCH ${VIEWS}/${shared}`, { shared: false })).status).toBe(200);
  expect([await names(ADMIN), await names(ADA)]).toEqual([[], ['renamed']]);
});

test('one view is pinned for each person, until it is gone', async () => {
  const pin = (actor: typeof ADA, view: string | null) => rig.ask(actor, 'PUT /accounts/team/pinned-view', { view });
  const shared = await save(ADA, { shared: true });
  expect((await pin(EVE, shared)).status).toBe(200);
  expect([(await list(EVE)).pinned, (await list(ADA)).pinned]).toEqual([shared, null]);
  await pin(EVE, null);
  expect((await list(EVE)).pinned).toBeNull();
  await pin(EVE, shared);
  await rig.ask(ADA, `DELETE ${VIEWS}/${shared}`);
  expect((await list(EVE)).pinned).toBeNull();
});

test('a wrong query, an unknown member and too many views are refused with their names', async () => {
  const wrong = await rig.ask(ADA, `POST ${VIEWS}`, body({ search: { q: 'durration>10s' } }));
  expect([wrong.status, wrong.json.error.message]).toEqual([400, expect.stringContaining('duration?')]);
  expect((await rig.ask(ADA, `POST ${VIEWS}`, body({ search: { page: 'x' } }))).status).toBe(400);
  for (let nth = 0; nth < 100; nth++) await save(ADA, { name: `v${nth}` });
  const refused = await rig.ask(ADA, `POST ${VIEWS}`, body());
  expect([refused.status, refused.json.error.message]).toEqual([409, expect.stringContaining('100 personal views')]);
});

test('every change is in the audit log', async () => {
  const id = await save(ADA, { shared: true });
  await rig.ask(ADA, `PATCH ${VIEWS}/${id}`, { name: 'new' });
  await rig.ask(ADA, `PATCH ${VIEWS}/${id}`, { name: 'new' });
  await rig.ask(ADA, `DELETE ${VIEWS}/${id}`);
  const all = { account: 'team', workspaces: null, beforeSeq: null, actor: 'ada', act: null, subject: id };
  const entries = await rig.store.audit.read({ ...all, fromMs: null, toMs: null, limit: 10 });
  expect(entries.map(({ act, before, after }) => [act, before, after])).toEqual([
    ['views.delete', { name: 'new', shared: true, search: { q: 'duration>10s' } }, null],
    ['views.set', { name: 'slow' }, { name: 'new' }],
    ['views.create', null, { name: 'slow', shared: true, search: { q: 'duration>10s' } }],
  ]);
});

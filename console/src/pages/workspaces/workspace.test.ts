/** Tests the body sent for a completed workspace form. */
import { expect, test } from 'bun:test';
import { draftWorkspace, readWorkspace, type Workspace, type WorkspaceDraft } from './workspace.ts';

const WORKSPACE: Workspace = {
  id: 'tests',
  models: ['gpt-5*'],
  bodies: 'errors',
  bodies_days: 14,
  required_tags: [],
  cache: 'off',
  cache_seconds: null,
  cache_since: null,
  caps: { rpm: 10, tpm: null, concurrency: null, budget_usd: '3', budget_window: 'week' },
  keys: 2,
  created_at: '2026-11-01T00:00:00.000Z',
  month_nano_usd: '0',
};

const read = (draft: WorkspaceDraft, bodies: 'off' | 'all' = 'off') => readWorkspace(draft, { bodies });

test('an unchanged workspace reads unchanged', () => {
  const { id, models, bodies, bodies_days, cache, caps } = WORKSPACE;
  expect(read(draftWorkspace(WORKSPACE))).toEqual({ value: { id, models, bodies, bodies_days, cache, caps } });
});

test('a cache has a time to live, and needs the bodies of all requests', () => {
  const draft = { ...draftWorkspace(WORKSPACE), cache: 'all', bodies: 'all' } as const;
  expect(read(draft)).toMatchObject({ value: { cache: 'all', cache_seconds: 3_600 } });
  expect(read({ ...draft, cacheSeconds: ' 60 ' })).toMatchObject({ value: { cache_seconds: 60 } });
  for (const cacheSeconds of ['0', '2592001', '1h', '-1', '1.5']) {
    expect(read({ ...draft, cacheSeconds })).toMatchObject({ faults: { cache_seconds: expect.any(String) } });
  }
  expect(read({ ...draft, bodies: 'errors' })).toMatchObject({ faults: { cache: expect.any(String) } });
  expect(read({ ...draft, bodies: 'inherit' })).toMatchObject({ faults: { cache: expect.any(String) } });
  expect(read({ ...draft, bodies: 'inherit' }, 'all')).toMatchObject({ value: { cache: 'all' } });
});

test('a new or reset workspace inherits the storage policy', () => {
  const kept = { bodies: null, bodies_days: null };
  expect(read({ ...draftWorkspace(null), id: 'new' })).toMatchObject({
    value: { id: 'new', models: null, ...kept },
  });
  expect(read({ ...draftWorkspace(WORKSPACE), bodies: 'inherit', days: '' })).toMatchObject({ value: kept });
  expect(read(draftWorkspace({ ...WORKSPACE, ...kept }))).toMatchObject({ value: kept });
});

test('reports all errors at once', () => {
  const got = read({
    ...draftWorkspace(null),
    id: 'Not so',
    days: '0',
    models: { restricted: true, text: '' },
  });
  expect('faults' in got && Object.keys(got.faults).sort()).toEqual(['bodies_days', 'id', 'models']);
});

/** Tests the body sent for a completed workspace form. */
import { expect, test } from 'bun:test';
import { draftWorkspace, readWorkspace, type Workspace } from './workspace.ts';

const WORKSPACE: Workspace = {
  id: 'tests',
  models: ['gpt-5*'],
  bodies: 'errors',
  bodies_days: 14,
  caps: { rpm: 10, tpm: null, concurrency: null, budget_usd: '3', budget_window: 'week' },
  keys: 2,
  created_at: '2026-11-01T00:00:00.000Z',
  month_nano_usd: '0',
};

test('an unchanged workspace reads unchanged', () => {
  const { id, models, bodies, bodies_days, caps } = WORKSPACE;
  expect(readWorkspace(draftWorkspace(WORKSPACE))).toEqual({ value: { id, models, bodies, bodies_days, caps } });
});

test('a new or reset workspace inherits the storage policy', () => {
  const kept = { bodies: null, bodies_days: null };
  expect(readWorkspace({ ...draftWorkspace(null), id: 'new' })).toMatchObject({
    value: { id: 'new', models: null, ...kept },
  });
  expect(readWorkspace({ ...draftWorkspace(WORKSPACE), bodies: 'inherit', days: '' })).toMatchObject({ value: kept });
  expect(readWorkspace(draftWorkspace({ ...WORKSPACE, ...kept }))).toMatchObject({ value: kept });
});

test('reports all errors at once', () => {
  const read = readWorkspace({
    ...draftWorkspace(null),
    id: 'Not so',
    days: '0',
    models: { restricted: true, text: '' },
  });
  expect('faults' in read && Object.keys(read.faults).sort()).toEqual(['bodies_days', 'id', 'models']);
});

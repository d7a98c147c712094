/** Tests the shape of the limit tree, collapsed and filtered. */
import { describe, expect, test } from 'bun:test';
import { allShown, type LimitNode, maySet, rulesOf, treeRows } from './limit-tree.ts';

const NO_CAPS = { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null };
function node(
  kind: LimitNode['subject']['kind'],
  id: string,
  parent: string | null,
  rpm: number | null = null,
): LimitNode {
  return {
    subject: { kind, id },
    name: id,
    parent,
    layer: 'operator',
    caps: { ...NO_CAPS, rpm },
    other_caps: null,
    binds: true,
    gauges: [],
  };
}
// The account and one of its workspaces have the same id, as after setup.
const NODES = [
  node('key', 'k2', 'tests', 60),
  node('workspace', 'default', 'default'),
  node('workspace', 'tests', 'default'),
  node('account', 'default', null),
  node('key', 'k1', 'default'),
  node('end_user', 'u1', null, 5),
  node('model', 'default', null, 9),
];
const ALL = { q: '', ruledOnly: false, closed: new Set<string>() };
const shape = (filter: Partial<typeof ALL>) =>
  treeRows(NODES, { ...ALL, ...filter }).map(
    ({ node: { subject }, depth }) => `${depth} ${subject.kind} ${subject.id}`,
  );

describe('limit tree', () => {
  test('nests keys in workspaces and workspaces in the account', () => {
    expect(shape({})).toEqual([
      '0 account default',
      '1 workspace default',
      '2 key k1',
      '1 workspace tests',
      '2 key k2',
    ]);
  });

  test('counts collapsed children without listing them', () => {
    expect(shape({ closed: new Set(['workspace default', 'workspace tests']) })).toEqual([
      '0 account default',
      '1 workspace default',
      '1 workspace tests',
    ]);
    expect(treeRows(NODES, ALL)[1]?.children).toBe(1);
  });

  test('a filter keeps the ancestors of a match, collapsed or not', () => {
    expect(shape({ q: 'K2', closed: new Set(['workspace tests']) })).toEqual([
      '0 account default',
      '1 workspace tests',
      '2 key k2',
    ]);
    expect(shape({ ruledOnly: true })).toEqual(['0 account default', '1 workspace tests', '2 key k2']);
    expect(shape({ q: 'no such' })).toEqual([]);
  });

  test('excludes end users and models', () => {
    expect(rulesOf(NODES, 'end_user').map(({ subject }) => subject.id)).toEqual(['u1']);
    expect(rulesOf(NODES, 'model').map(({ subject }) => subject.id)).toEqual(['default']);
  });
});

test('a restricted admin sets limits of their workspaces and keys; only operators set limits of models', () => {
  const admin = { may: (permission: string) => permission === 'limits.write', workspaces: null };
  const kinds = ['account', 'workspace', 'key', 'end_user', 'model'] as const;
  expect(kinds.filter((kind) => maySet(kind, admin))).toEqual(['account', 'workspace', 'key', 'end_user']);
  expect(kinds.filter((kind) => maySet(kind, { ...admin, workspaces: ['red'] }))).toEqual(['workspace', 'key']);
  expect(maySet('model', { ...admin, may: () => true })).toBe(true);
  expect(kinds.some((kind) => maySet(kind, { ...admin, may: () => false }))).toBe(false);
});

test('the file lists all filtered rows, collapsed or not', () => {
  const ids = (filter: { q: string; ruledOnly: boolean }) =>
    allShown(NODES, filter).map(({ subject }) => `${subject.kind} ${subject.id}`);
  expect(ids({ q: '', ruledOnly: false })).toHaveLength(NODES.length);
  expect(ids({ q: 'k2', ruledOnly: false })).toEqual([
    'account default',
    'workspace tests',
    'key k2',
    'end_user u1',
    'model default',
  ]);
});

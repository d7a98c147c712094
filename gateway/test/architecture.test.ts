/**
 * Checks the project against its architecture: one test per rule. architecture/planted.test.ts tests that the rules can
 * fail.
 */
import { expect, test } from 'bun:test';
import { resolve } from 'node:path';
import { RULES } from './architecture/rules.ts';
import { readTree } from './architecture/source-tree.ts';

const tree = readTree(resolve(import.meta.dir, '../..'));

test('the tree that is read is this project', () => {
  const paths = tree.sources.map(({ path }) => path);
  expect(paths).toContain('gateway/test/architecture.test.ts');
  expect(paths).toContain('gateway/src/lib/secret.ts');
  expect(tree.sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(100);
});

test.each(Object.entries(RULES))('%s', (_name, rule) => {
  expect(rule(tree)).toEqual([]);
});

/** Tests that the published schema describes every member, and lets a variable replace any single value. */
import { expect, test } from 'bun:test';
import { LIMITS } from '../limits.ts';
import { renderConfigSchema, type SchemaNode } from './file-schema.ts';

/** Every node of the schema with its path. */
function* walk(node: SchemaNode, path: string): Generator<readonly [string, SchemaNode]> {
  yield [path, node];
  for (const [name, member] of Object.entries(node.properties ?? {})) yield* walk(member, `${path}.${name}`);
  if (node.items !== undefined) yield* walk(node.items, `${path}[]`);
  if (node.additionalProperties) yield* walk(node.additionalProperties, `${path}.*`);
  for (const option of node.properties === undefined ? (node.anyOf ?? []) : []) yield* walk(option, `${path}|`);
}

const schema = renderConfigSchema();
const nodes = [...walk(schema, '')];

test('every member is described', () => {
  for (const [path, node] of nodes) {
    for (const [name, member] of Object.entries(node.properties ?? {})) {
      expect([`${path}.${name}`, typeof member.description]).toEqual([`${path}.${name}`, 'string']);
    }
  }
});

test('no mapping accepts unknown members', () => {
  const mappings = nodes.filter(([, node]) => node.properties !== undefined);
  expect(mappings.length).toBeGreaterThan(6);
  for (const [path, node] of mappings) expect([path, node.additionalProperties]).toEqual([path, false]);
});

test('every single value may be a variable', () => {
  const singles = nodes.filter(([path, node]) => node.title !== undefined && path !== '');
  expect(singles.length).toBeGreaterThan(40);
  for (const [path, node] of singles) {
    expect([path, [node.type].flat().includes('string')]).toEqual([path, true]);
    const pattern = typeof node.pattern === 'string' ? new RegExp(node.pattern) : /^/;
    expect([path, pattern.test(`\${NAME:-x}`)]).toEqual([path, true]);
  }
  const words = nodes.filter(([, node]) => node.anyOf?.some((option) => option.enum !== undefined));
  expect(words.length).toBeGreaterThan(3);
  for (const [path, node] of words) {
    const free = node.anyOf?.some((option) => new RegExp(String(option.pattern ?? '$^')).test(`\${NAME}`));
    expect([path, free]).toEqual([path, true]);
  }
});

test('every limit shows its default as it is written', () => {
  const members = schema.properties?.limits?.properties ?? {};
  expect(Object.keys(members)).toEqual(Object.keys(LIMITS));
  for (const [name, row] of Object.entries(LIMITS)) {
    const written = row.unit === 'count' ? Number(row.default) : row.default;
    expect([name, members[name]?.default]).toEqual([name, written]);
    if (row.unit !== 'count') expect(row.default).toMatch(new RegExp(String(members[name]?.pattern)));
  }
});

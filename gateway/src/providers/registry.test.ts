/** Tests the descriptions of members by the kinds of providers, for the form and the documentation. */
import { expect, test } from 'bun:test';
import { KINDS } from './registry.ts';

const SETTINGS = KINDS.flatMap(({ name, settings }) =>
  settings.map((setting) => [name, setting.name, setting] as const),
);

test.each(SETTINGS)('%s: %s offers its words where it takes no others', (_kind, _name, { pattern, options = [] }) => {
  const [, words] = /^\^\(\?:([a-z_|]+)\)\$$/.exec(pattern.source) ?? [];
  expect([...options]).toEqual(words?.split('|') ?? []);
});

/** Tests what a call records of its secret's use, in memory. */
import { expect, test } from 'bun:test';
import { newKeyUse, noteUse, readClient } from './principal.ts';

test('a use is the time and the first product of the user agent', () => {
  const use = newKeyUse();
  noteUse(use, new Headers({ 'user-agent': 'claude-cli/2.0.1 (external, cli)' }), 5_000);
  expect(use).toMatchObject({ atMs: 5_000, client: 'claude-cli/2.0.1' });
  noteUse(use, new Headers({ 'user-agent': 'curl/8' }), 5_999);
  expect(use).toMatchObject({ atMs: 5_000, client: 'claude-cli/2.0.1' });
  noteUse(use, new Headers(), 6_000);
  expect(use).toMatchObject({ atMs: 6_000, client: null });
});

test('a use after the system clock was set back is the last one', () => {
  const use = newKeyUse();
  noteUse(use, new Headers({ 'user-agent': 'curl/8' }), 86_405_000);
  noteUse(use, new Headers(), 86_404_500);
  expect(use).toMatchObject({ atMs: 86_405_000, client: 'curl/8' });
  noteUse(use, new Headers({ 'user-agent': 'codex/1' }), 5_000);
  expect(use).toMatchObject({ atMs: 5_000, client: 'codex/1' });
});

test('an invalid product is ignored, and a long one is truncated', () => {
  for (const [agent, client] of [
    ['OpenAI/JS 6.1.0', 'OpenAI/JS'],
    ['Mozilla', 'Mozilla'],
    ['<script>', null],
    ['(x)', null],
    ['', null],
    ['a'.repeat(100), 'a'.repeat(64)],
  ] as const) {
    expect(readClient(agent)).toBe(client);
  }
});

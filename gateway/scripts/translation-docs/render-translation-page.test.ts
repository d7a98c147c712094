/** Tests that the committed page matches the tables, and that a row says how its member is handled. */
import { expect, test } from 'bun:test';
import { FEATURES } from '../../src/generation/request.ts';
import type { FeatureFates } from '../../src/protocols/request/translation-notes.ts';
import { renderDirection, renderTranslationPage } from './render-translation-page.ts';

const UPSTREAM = Object.fromEntries(
  FEATURES.map((feature) => [feature, `dropped: no ${feature}`]),
) as unknown as FeatureFates;

function rowsOf(...args: Parameters<typeof renderDirection>): string[] {
  return renderDirection(...args)
    .trimEnd()
    .split('\n')
    .slice(2);
}

test('docs/translation.md is what the generator makes: run `npm run docs`', async () => {
  const page = await Bun.file(new URL('../../../docs/translation.md', import.meta.url)).text();
  expect(page).toBe(renderTranslationPage());
});

test("a member that becomes a feature has the upstream format's fate, with the notes of both", () => {
  const upstream: FeatureFates = { ...UPSTREAM, stop: 'emulated: looked for | by us', top_k: 'carried' };
  const members = [
    { member: 'stop', becomes: 'stop', fate: null, note: 'at most four' },
    { member: 'stop_sequences', becomes: 'stop', fate: null, note: '' },
    { member: 'seed', becomes: 'seed', fate: null, note: '' },
    { member: 'top_k', becomes: 'top_k', fate: null, note: '' },
  ] as const;
  expect(rowsOf(members, upstream)).toEqual([
    '| `stop` | emulated | at most four; looked for \\| by us |',
    '| `stop_sequences` | emulated | looked for \\| by us |',
    '| `seed` | dropped | no seed |',
    '| `top_k` | carried |  |',
  ]);
});

test('a member that becomes nothing has its own fate, and turns, model and stream are carried', () => {
  const members = [
    { member: 'audio', becomes: null, fate: 'refused', note: 'no sound' },
    { member: 'messages', becomes: 'turns', fate: null, note: 'in order' },
    { member: 'model', becomes: 'model', fate: null, note: '' },
    { member: 'stream', becomes: 'stream', fate: null, note: '' },
  ] as const;
  expect(rowsOf(members, UPSTREAM)).toEqual([
    '| `audio` | refused | no sound |',
    '| `messages` | carried | in order |',
    '| `model` | carried |  |',
    '| `stream` | carried |  |',
  ]);
});

test('a row without an end is refused', () => {
  const row = { member: 'lost', becomes: null, fate: null, note: '' };
  expect(() => renderDirection([row], UPSTREAM)).toThrow('lost: the table has neither a feature nor a fate');
});

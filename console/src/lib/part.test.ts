/** Tests that a part fetched before is shown at once, and that one not yet fetched is awaited. */
import { expect, test } from 'bun:test';
import { createElement, Suspense } from 'react';
import { renderToString } from 'react-dom/server';
import { part, retryParts } from './part.ts';

const loadNote = () => Promise.resolve({ default: () => createElement('p', null, 'the note') });
const shown = (Note: ReturnType<typeof part>) =>
  renderToString(createElement(Suspense, { fallback: 'waiting' }, createElement(Note)));

test('shows a prefetched part without its fallback', async () => {
  const Note = part(loadNote);
  Note.prefetch();
  await loadNote();
  await Promise.resolve();
  expect(shown(Note)).toContain('the note');
});

test('shows the fallback of a part that isn’t fetched', () => {
  expect(shown(part(loadNote))).toContain('waiting');
});

test('fetches a part again when shown after a failed prefetch', async () => {
  let requests = 0;
  const Note = part(() => {
    requests += 1;
    return Promise.reject(new Error('offline'));
  });
  Note.prefetch();
  await Promise.resolve();
  shown(Note);
  expect(requests).toBe(2);
});

test('loads a failed part again only after a retry', async () => {
  let requests = 0;
  const Note = part(() => {
    requests += 1;
    return requests === 1 ? Promise.reject(new Error('offline')) : loadNote();
  });
  const settled = async () => {
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };
  shown(Note);
  await settled();
  shown(Note);
  expect(requests).toBe(1);
  retryParts();
  shown(Note);
  await settled();
  expect(requests).toBe(2);
  expect(shown(Note)).toContain('the note');
});

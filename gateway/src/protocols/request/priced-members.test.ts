/** Tests that every endpoint finds the models that a request names beside its own: they need the same right. */
import { describe, expect, test } from 'bun:test';
import { CLIENT_PROTOCOLS } from '../registry.ts';
import { CONTEXT, outlineOf } from '../testing/outline-of.ts';

const SAY = [{ role: 'user', content: 'hi' }];
const BODIES = {
  chat: { messages: SAY },
  messages: { messages: SAY, max_tokens: 5 },
  responses: { input: 'hi' },
  completions: { prompt: 'hi' },
  embeddings: { input: 'hi' },
  moderations: { input: 'hi' },
  rerank: { query: 'hi', documents: ['a'] },
  images: { prompt: 'hi' },
  audio: { input: 'hi' },
} as const;
type Name = keyof typeof BODIES;

const priced = (name: Name, members: object) =>
  CLIENT_PROTOCOLS[name].checkRequest(outlineOf({ model: 'm', ...BODIES[name], ...members }), CONTEXT).priced;

describe.each(Object.keys(BODIES) as Name[])('%s', (name) => {
  test.each([
    [{ models: ['dear'] }, 'models.0'],
    [{ fallback_models: 'dear' }, 'fallback_models'],
    [{ fallbacks: [{ model: 'dear' }] }, 'fallbacks.0.model'],
  ])('%j names a model', (members, path) => {
    expect(priced(name, members)?.models.map((one) => [one.path, one.name])).toEqual([[path, 'dear']]);
  });

  test('a tier and a choice of providers change the price', () => {
    expect(priced(name, { service_tier: 'priority', provider: { order: ['a'] } })).toMatchObject({
      tier: { service_tier: 'priority' },
      unpriced: ['provider'],
    });
    expect(priced(name, {})).toBeUndefined();
  });
});

test('the speed of a voice is no tier, and the model that draws vectors is named', () => {
  expect(priced('audio', { speed: 1.5 })).toBeUndefined();
  expect(priced('images', { svg: { model: 'drawer' } })?.models).toMatchObject([{ path: 'svg.model', role: 'beside' }]);
});

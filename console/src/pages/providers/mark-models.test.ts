/** Tests the marks on the models that a provider offers. */
import { expect, test } from 'bun:test';
import { findMarked, markModels } from './mark-models.ts';

const offered = ['tide', 'shore', 'gpt-5', 'alias', 'free'].map((model) => ({ model, served_as: [], retires: null }));
const model = (
  name: string,
  aliases: string[],
  ...targets: readonly (readonly [provider: string, model: string])[]
) => ({
  name,
  aliases,
  targets: targets.map(([provider, at]) => ({ provider, model: at })),
});
const SERVED = [
  model('small', [], ['lab', 'tide']),
  model('large', [], ['other', 'x'], ['lab', 'tide']),
  model('shore', [], ['lab', 'shore']),
  model('gpt-5', [], ['openai', 'gpt-5'], ['azure', 'mine']),
  model('long-name', ['alias'], ['openai', 'y']),
];

test('models are served under their public names, taken by another model, or free', () => {
  expect(markModels(offered, SERVED, 'lab')).toEqual([
    { model: 'tide', servedAs: ['small', 'large'], takenBy: null, retires: null },
    { model: 'shore', servedAs: ['shore'], takenBy: null, retires: null },
    { model: 'gpt-5', servedAs: [], takenBy: 'openai, azure', retires: null },
    { model: 'alias', servedAs: [], takenBy: 'openai', retires: null },
    { model: 'free', servedAs: [], takenBy: null, retires: null },
  ]);
});

test('until the served models are known, the provider’s list says which are', () => {
  const retires = { on: '2026-12-31', by: 'vendor' } as const;
  expect(markModels([{ model: 'tide', served_as: ['small'], retires }], null, 'lab')).toEqual([
    { model: 'tide', servedAs: ['small'], takenBy: null, retires },
  ]);
});

test('a text finds names at the provider and here', () => {
  const marked = markModels(offered, SERVED, 'lab');
  const names = (text: string) => findMarked(marked, text).map((one) => one.model);
  expect([names(' TIDE '), names('large'), names('none'), names('').length]).toEqual([['tide'], ['tide'], [], 5]);
});

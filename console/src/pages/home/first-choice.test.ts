/** Tests which model and workspace the first call uses. */
import { expect, test } from 'bun:test';
import { chooseModel, chooseWorkspace } from './first-run.tsx';

const model = (name: string, source: string, price: unknown = {}, protocols = ['chat', 'messages']) => ({
  name,
  source,
  price,
  protocols,
});

test('prefers a real, priced chat model', () => {
  const demo = model('demo', 'demo');
  const mini = model('mini', 'environment');
  expect(chooseModel([demo, model('odd', 'file', null), mini])).toBe('mini');
  expect(chooseModel([demo, model('only-messages', 'file', {}, ['messages'])])).toBe('demo');
  expect(chooseModel([])).toBeNull();
});

test('chooses an accessible workspace', () => {
  const all = [{ id: 'a' }, { id: 'default' }];
  expect(chooseWorkspace(all, null)).toBe('default');
  expect(chooseWorkspace(all, ['a'])).toBe('a');
  expect(chooseWorkspace(all, ['gone'])).toBeNull();
});

/** Tests that variables of a file are set in their lines. */
import { expect, test } from 'bun:test';
import { setVariables } from './tools.ts';

test('a variable is replaced in its line, the last of several, or added at the end', () => {
  const file = '# mine\nA=1\nexport B = "2" # two\nA: 3\n';
  expect(setVariables(file, { A: 'x', B: 'y', C: 'z' })).toBe('# mine\nA=1\nB=y\nA=x\nC=z\n');
  expect(setVariables('AB=1', { A: 'x' })).toBe('AB=1\nA=x\n');
  expect(setVariables('', { A: 'http://127.0.0.1:8080' })).toBe('A=http://127.0.0.1:8080\n');
});

test('other characters are quoted, and what cannot be quoted is refused', () => {
  expect(setVariables('', { A: 'a #b "$c"' })).toBe(`A='a #b "$c"'\n`);
  for (const value of ["it's", 'a\nb']) expect(() => setVariables('', { A: value })).toThrow('A: ');
});

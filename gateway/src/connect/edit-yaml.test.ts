/** Tests that setting a line of YAML changes that line and no other. */
import { describe, expect, test } from 'bun:test';
import { setYamlItem, setYamlText } from './tools.ts';

describe('a text', () => {
  const file = '# mine\nmodel: sonnet # good\ndark-mode: true\nread:\n  - CONVENTIONS.md\n';

  test('is replaced in its line, or added at the end', () => {
    expect(setYamlText(file, 'model', 'openai/m')).toBe(file.replace('sonnet # good', '"openai/m"'));
    expect(setYamlText(file, 'openai-api-key', 'k')).toBe(`${file}openai-api-key: "k"\n`);
    expect(setYamlText('a: 1', 'b', 'x')).toBe('a: 1\nb: "x"\n');
    expect(setYamlText('', 'b', 'x')).toBe('b: "x"\n');
  });

  test('spanning several lines is refused', () => {
    expect(() => setYamlText(file, 'read', 'x')).toThrow('line 4: read spans several lines');
    expect(() => setYamlText('model: >\n  long\n', 'model', 'x')).toThrow('several lines');
  });
});

describe('an item', () => {
  const item = (model: string) =>
    [
      ['name', 'Tollgate'],
      ['model', model],
      ['roles', ['chat']],
    ] as const;
  const file = 'name: c\nmodels: # which\n- name: Other\n  model: o\n  # mine\nrules:\n  - be kind\n';

  test('is added first in its list, indented like the others', () => {
    const added = setYamlItem(file, 'models', item('m'));
    const lines = '- name: "Tollgate"\n  model: "m"\n  roles: ["chat"]\n';
    expect(added).toBe(file.replace('- name: Other', `${lines}- name: Other`));
    expect(setYamlItem(added, 'models', item('n'))).toBe(added.replace('"m"', '"n"'));
  });

  test('creates a missing list', () => {
    expect(setYamlItem('name: c\n', 'models', item('m'))).toBe(
      'name: c\nmodels:\n  - name: "Tollgate"\n    model: "m"\n    roles: ["chat"]\n',
    );
  });

  test('is refused if the list is on one line', () => {
    expect(() => setYamlItem('models: []\n', 'models', item('m'))).toThrow('line 1: models is on one line');
  });
});

/**
 * Tests that YAML becomes a tree of texts with positions, that the environment cannot add YAML, and that bombs stay
 * small.
 */
import { describe, expect, test } from 'bun:test';
import { renderConfigProblem } from './config-problem.ts';
import { readYamlTree } from './yaml-tree.ts';

const read = (text: string, environment = {}) => readYamlTree(text, 'f.yaml', environment);
const problemsOf = (text: string, environment = {}) => read(text, environment).problems.map(renderConfigProblem);
const plain = (tree: unknown) => JSON.parse(JSON.stringify(tree));

describe('readYamlTree', () => {
  test('keeps every scalar as the text that was written', () => {
    const { tree, problems } = read('a: 2.00\nb: on\nc: "8080"\nd: 0x10\ne: [1e400, no]\nf: |\n  x\n');
    expect(problems).toEqual([]);
    expect(plain(tree)).toEqual({ a: '2.00', b: 'on', c: '8080', d: '0x10', e: ['1e400', 'no'], f: 'x\n' });
  });

  test('locates values and names', () => {
    const { placeOf, nameAt } = read('a:\n  bc: [x, yz]\n');
    expect(placeOf(['a', 'bc', 1])).toEqual({ line: 2, column: 11, written: 'yz' });
    expect(nameAt(['a', 'bc'])).toMatchObject({ line: 2, column: 3 });
    expect(placeOf(['a', 'bc', 7, 'q'])).toMatchObject({ line: 2, column: 7 });
  });

  test('accepts expressions in flow mappings, quotes and blocks without moving positions', () => {
    const environment = { KEY: 'k', N: '3' };
    const { tree, placeOf } = read(`p: { a: \${KEY}, b: "\${N}\${N}", c: \${U:-x: {y}, z: '\${KEY}' }\n`, environment);
    expect(plain(tree)).toEqual({ p: { a: 'k', b: '33', c: 'x: {y', z: 'k' } });
    expect(placeOf(['p', 'z'])).toMatchObject({ line: 1, written: `\${KEY}` });
  });

  test('a value from the environment is one text, whatever it contains', () => {
    const hostile = `x, admin: true}\n- *a\n<<: &b [\${KEY}]`;
    const { tree, problems } = read(`p: { a: \${KEY}, b: 1 }`, { KEY: hostile });
    expect(problems).toEqual([]);
    expect(plain(tree)).toEqual({ p: { a: hostile, b: '1' } });
  });

  test('an alias replaces a whole value', () => {
    const { tree } = read('a: &p { input: 1 }\nb: *p\n');
    expect(plain(tree)).toEqual({ a: { input: '1' }, b: { input: '1' } });
  });

  test.each(['', '# only a comment\n', '---\n', '\ufeff'])('a file without content has no tree: %j', (text) => {
    const { tree, problems } = read(text);
    expect(tree).toBeNull();
    expect(problems).toEqual([]);
  });

  test('a byte order mark and CRLF are ignored', () => {
    expect(plain(read('\ufeffa: 1\r\nb: 2\r\n').tree)).toEqual({ a: '1', b: '2' });
  });

  test('names of Object.prototype are ordinary, except __proto__', () => {
    const { tree } = read('constructor: 1\ntoString: 2\nhasOwnProperty: 3\n');
    expect(plain(tree)).toEqual({ constructor: '1', toString: '2', hasOwnProperty: '3' });
    expect(problemsOf('a:\n  __proto__: { x: 1 }\n')).toEqual([
      'f.yaml:2:3: a.__proto__: found the name `__proto__`, expected another name. Choose another name.',
    ]);
    expect(Reflect.get({}, 'x')).toBeUndefined();
  });
});

describe('readYamlTree refuses', () => {
  test.each([
    [
      'a: 1\nb: 2\na: 3\n',
      "f.yaml:3:1: a: found the member 'a' twice, expected each member once; it is already on line 1. Remove one of them.",
    ],
    [
      'a:\n\tb: 1\n',
      'f.yaml:2:1: found a tab as indentation, expected spaces: YAML does not allow tabs there. Replace the tab by spaces.',
    ],
    [
      '<<: { a: 1 }\n',
      "f.yaml:1:1: ['<<']: found a merge key (`<<`), expected members written out. Repeat the members, or use an alias for a whole value.",
    ],
    ['a: !!binary aGk=\n', 'f.yaml:1:13: a: found a tag (`!…`), expected a plain value. Remove the tag.'],
    ['a: !env KEY\n', 'f.yaml:1:9: a: found a tag (`!…`), expected a plain value. Remove the tag.'],
    [
      'a: 1\n---\nb: 2\n',
      'f.yaml:2:1: found a second document (`---`), expected one document. Remove the `---` and join the two.',
    ],
    [
      'a: b: c\n',
      'f.yaml:1:4: found a second `: ` on one line, or a mapping where a name belongs, expected one `name: value` per line. Put text with special characters into quotes.',
    ],
    ['a:\n', 'f.yaml:1:3: a: found no value, expected a value after the colon. Write one, or remove the member.'],
    ['a: ~\n', 'f.yaml:1:4: a: found no value, expected a value after the colon. Write one, or remove the member.'],
    [
      'a: *b\n',
      'f.yaml:1:4: a: found an alias (`*…`) without its anchor, expected an anchor (`&…`) of that name above it. Correct the name, or write the value out; text that begins with * needs quotes.',
    ],
    [
      '? [a]\n: 1\n',
      'f.yaml:1:3: found a member name that is not text, expected a name followed by a colon. Give the member a name of plain text.',
    ],
    [
      `a: \${NOPE}\n`,
      `f.yaml:1:4: a: found \${NOPE}, but there is no environment variable NOPE, expected a variable that is set. Set NOPE, or give a default: \${NOPE:-default}.`,
    ],
    [
      `a: "\${NOPE"\n`,
      `f.yaml:1:4: a: found a \${ without a closing }, expected \${NAME} or \${NAME:-default} on one line. Close it; for the characters themselves write $\${…}.`,
    ],
  ])('%j', (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  test('a syntax error does not quote the file', () => {
    for (const text of [
      'a: "canary\n',
      'a: [canary\n',
      'k: "x"canary\n',
      'a: @canary\n',
      'a: "\\qcanary"\n',
      'a: {b: *canary!}\n',
      '%canary\n---\n',
    ]) {
      const [problem = '', ...others] = problemsOf(text);
      expect(problem).toStartWith('f.yaml:');
      expect(problem).not.toContain('canary');
      expect(others).toEqual([]);
    }
  });
});

describe('bombs', () => {
  const TOO_MUCH =
    'f.yaml:1:1: found more than 16 levels, 50000 values or 100 aliases, or an alias inside its own anchor, expected a configuration within these limits. Make the file smaller, or write aliases out.';

  test.each([
    [
      'aliases of aliases',
      `a0: &a0 [x]\n${Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(', ')}]`).join('\n')}\n`,
    ],
    ['an alias inside its own anchor', 'a: &a [*a]\n'],
    ['depth', `a: ${'['.repeat(40)}${']'.repeat(40)}\n`],
    ['many values', `a: [${'x,'.repeat(60_000)}]\n`],
  ])('%s end in a problem', (_name, text) => {
    expect(problemsOf(text)).toEqual([TOO_MUCH]);
  });

  test.each([
    ['brackets', '['.repeat(50_000)],
    ['dashes', '- '.repeat(50_000)],
    ['braces', '{a: '.repeat(50_000)],
  ])('endless %s are one problem, not a crash', (_name, text) => {
    expect(problemsOf(text)).toHaveLength(1);
  });
});

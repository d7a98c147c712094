/** Tests the output on a terminal, and that nothing in it controls the terminal. */
import { expect, test } from 'bun:test';
import { assert, property, string } from 'fast-check';
import { makeVisible, renderFields, renderJsonLine, renderTable } from './environment.ts';

test('a table has columns as wide as their widest cell, as a terminal counts', () => {
  expect(
    renderTable(
      ['ID', 'NAME', 'STATE'],
      [
        ['1', '日本', 'on'],
        ['22', 'x', ''],
      ],
    ),
  ).toBe('ID  NAME  STATE\n1   日本  on\n22  x\n');
});

test('fields are in two columns', () => {
  expect(
    renderFields([
      ['id', 'a'],
      ['models', 'b'],
    ]),
  ).toBe('  id      a\n  models  b\n');
});

test('a JSON value takes one line', () => {
  expect(renderJsonLine({ a: 'x\ny' })).toBe('{"a":"x\\ny"}\n');
});

test('control characters are made visible', () => {
  expect(makeVisible('a\u001b[2Jb\r\nc\u202ed\u2028')).toBe('a\\u{1b}[2Jb\\u{d}\\u{a}c\\u{202e}d\\u{2028}');
  assert(property(string({ unit: 'binary' }), (text) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(makeVisible(text))));
});

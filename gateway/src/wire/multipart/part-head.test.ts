/** Tests the boundary of a content type. */
import { expect, test } from 'bun:test';
import { boundaryOf, formType, isFormType } from './part-head.ts';

test.each([
  ['multipart/form-data; boundary=abc', 'abc'],
  ['Multipart/Form-Data;boundary="a b:c"', 'a b:c'],
  ['multipart/form-data; charset=utf-8; boundary=----formdata-undici-1', '----formdata-undici-1'],
  [`multipart/form-data; boundary=${'x'.repeat(70)}`, 'x'.repeat(70)],
  [`multipart/form-data; boundary=${'x'.repeat(71)}`, null],
  ['multipart/form-data; boundary=a; boundary=b', null],
  ['multipart/form-data; boundary=""', null],
  ['multipart/form-data; boundary="a\\r"x', null],
  ['multipart/form-data', null],
  ['multipart/mixed; boundary=a', null],
])('%s has the boundary %p', (type, boundary) => {
  expect(boundaryOf(type)).toBe(boundary);
  if (boundary !== null) expect(boundaryOf(formType(boundary))).toBe(boundary);
});

test('a form is told from other types', () => {
  expect(['multipart/form-data; boundary=a', 'multipart/form-datax', ''].map(isFormType)).toEqual([true, false, false]);
});

/** Tests the boundary of a content type, and heads of parts that are made to be slow. */
import { expect, test } from 'bun:test';
import { startCpuClock } from '../../../test/harness/cpu-clock.ts';
import { boundaryOf, formType, isFormType, parsePartHead } from './part-head.ts';

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

const BLANKS = ' '.repeat(8_000);

test.each([
  ['spaces within a header', `content-disposition: form-data; name="a"\r\nx: b${BLANKS}c`],
  ['spaces before an end that is not expected', `content-disposition: form-data; name="a"${BLANKS}x`],
  ['spaces in a quoted text without an end', `content-disposition: form-data; name="${BLANKS}`],
  ['a parameter without a value', `content-disposition: form-data; ${'x'.repeat(8_000)}`],
])('%s take no longer than their length', (_, head) => {
  const cpuMs = startCpuClock();
  for (let round = 0; round < 64; round++) parsePartHead(head);
  expect(cpuMs()).toBeLessThan(500);
});

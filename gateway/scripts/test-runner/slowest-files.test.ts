/** Tests which files the table of the slowest lists, their order, and which have a CPU time. */
import { expect, test } from 'bun:test';
import type { TimedRun } from './run-tests.ts';
import { slowestFiles } from './slowest-files.ts';

const run = (files: Record<string, number>, cpuSeconds: number): TimedRun => ({
  files: Object.keys(files),
  cases: [],
  status: 0,
  signal: null,
  hungIn: null,
  lastFile: '',
  lastLines: [],
  fileSeconds: new Map(Object.entries(files)),
  cpuSeconds,
});

test('the slowest come first, with processor time where a file ran alone', () => {
  expect(slowestFiles([run({ a: 0.5, b: 12 }, 3), run({ c: 2.25 }, 1.5)])).toEqual([
    'seconds     cpu  file',
    '   12.0          b',
    '    2.3     1.5  c',
    '    0.5          a',
    '5 s of processor time in total',
  ]);
});

test('of many files only the slowest are named', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`file-${at}`, at]));
  const lines = slowestFiles([run(many, 1)]);
  expect(lines).toHaveLength(27);
  expect(lines[1]).toBe('   99.0          file-99');
});

/** Tests that the resident memory can be read also while no file descriptor is free. */
import { expect, test } from 'bun:test';
import { runWithFewDescriptors } from '../../test/harness/few-descriptors.ts';

const SCRIPT = `
import { residentBytes } from '${import.meta.dirname}/resident-bytes.ts';
const before = residentBytes();
fill();
console.log(before > 1_000_000, residentBytes() === before);
`;

test('without a free descriptor the last reading stands', () => {
  expect(runWithFewDescriptors(SCRIPT, 64)).toEqual({ output: 'true true\n', exitCode: 0 });
});

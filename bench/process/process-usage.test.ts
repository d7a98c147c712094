/** Tests that CPU time and memory cover a process and all processes that it started. */
import { expect, test } from 'bun:test';
import { readCpuMs, readMemory, readProcessTree, readResidentBytes } from './process-usage.ts';
import { resetPeakMemory } from './reset-peak-memory.ts';
import { startGroup } from './start-group.ts';

test('CPU time covers grandchildren that run and children that ended', async () => {
  const burn = 'while (process.cpuUsage().user < 150_000) for (let n = 0; n < 1e5; n += 1);';
  const group = startGroup({
    command: [
      'sh',
      '-c',
      `"$0" -e '${burn}'; echo burnt; sh -c 'while :; do :; done' & read -r _; wait`,
      process.execPath,
    ],
  });
  await group.waitForOutput(/burnt/, 5000);
  const burntMs = readCpuMs(group.pid);
  expect(burntMs).toBeGreaterThanOrEqual(100);
  while (readCpuMs(group.pid) < burntMs + 50) await new Promise(setImmediate);
  await group.stop();
  while (readProcessTree(group.pid).some(({ ended }) => !ended)) await new Promise(setImmediate);
});

test('memory is listed by process, and its sum is that of the tree', () => {
  const memory = readMemory(process.pid);
  const own = memory.find(({ pid }) => pid === process.pid);
  expect(own?.residentBytes).toBeGreaterThan(10_000_000);
  expect(own?.peakBytes).toBeGreaterThanOrEqual(own?.residentBytes ?? 0);
  expect(readResidentBytes(process.pid)).toBeGreaterThanOrEqual((own?.residentBytes ?? 0) * 0.9);
});

test('the peak can be set back, or it is said that it cannot', () => {
  if (!resetPeakMemory(process.pid)) return expect(resetPeakMemory(process.pid)).toBe(false);
  const [own] = readMemory(process.pid).filter(({ pid }) => pid === process.pid);
  expect(own?.peakBytes).toBeLessThan((own?.residentBytes ?? 0) * 1.1);
});

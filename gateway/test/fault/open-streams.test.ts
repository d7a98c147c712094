/** Measures the resident memory of an open, nearly idle stream. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { measureOpenStreams } from '../../../bench/memory/measure-open-streams.ts';
import { EXHAUSTIVE } from './calls.ts';
import { type MeasuredGateway, startMeasured } from './readers.ts';

const WANTED = EXHAUSTIVE ? 5_000 : 1_500;
const BYTES_PER_STREAM_MAX = 40 * 1024;
/** Each stream has two sockets in the gateway and two in this process. */
const openFilesMax = Number(Bun.spawnSync(['sh', '-c', 'ulimit -n']).stdout.toString());
const STREAMS = Math.min(WANTED, Math.floor((openFilesMax - 200) / 2));
if (STREAMS < WANTED)
  console.log(`open streams: ulimit -n is ${openFilesMax}, so only ${STREAMS} of ${WANTED} are opened`);

let measured: MeasuredGateway;
beforeAll(async () => {
  measured = await startMeasured();
});
afterAll(() => measured.stop());

test(`${STREAMS} open streams cost at most 40 KB each, and none is dropped`, async () => {
  const { gateway, target } = measured;
  // The first streams warm the process up; that growth does not count.
  await measureOpenStreams({ ...target, pid: gateway.pid, streams: 100, settleMs: 500 });
  const result = await measureOpenStreams({ ...target, pid: gateway.pid, streams: STREAMS, settleMs: 1_500 });
  const each = result.bytesPerStream ?? Number.POSITIVE_INFINITY;
  console.log(`open streams: ${result.opened}, ${(each / 1024).toFixed(1)} KiB each`);
  expect([result.opened, result.stillOpen, result.firstFailure]).toEqual([STREAMS, STREAMS, null]);
  // Two sockets and a parser need memory: a lower value means a wrong measurement.
  expect(each).toBeGreaterThan(1024);
  expect(each).toBeLessThanOrEqual(BYTES_PER_STREAM_MAX);
}, 90_000);

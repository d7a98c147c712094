/** Runs `bun bench/memory/stalled-readers.ts`: memory and another client's latency while clients stop reading. */
import { measureStalledReaders } from './measure-stalled-readers.ts';
import { runMemoryTool } from './run-memory-tool.ts';

const GROWTH_BYTES_MAX = 2 ** 31;

await runMemoryTool({ count: 200, seconds: 10 }, (target, readers, durationMs) =>
  measureStalledReaders({ ...target, readers, durationMs, growthBytesMax: GROWTH_BYTES_MAX }),
);

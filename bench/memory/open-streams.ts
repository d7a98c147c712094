/** Runs `bun bench/memory/open-streams.ts`: resident memory per open, nearly idle stream. */
import { measureOpenStreams } from './measure-open-streams.ts';
import { runMemoryTool } from './run-memory-tool.ts';

await runMemoryTool({ count: 5000, seconds: 3 }, (target, streams, settleMs) =>
  measureOpenStreams({ ...target, streams, settleMs }),
);

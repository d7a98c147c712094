/** Tests logs.ts: every page is in the file, however many there are. */
import { expect, test } from 'bun:test';
import type { LogQuestion } from '../../store/ports/usage.ts';
import { sampleRecord } from '../../store/testing/sample-record.ts';
import { EVERY_CALL } from './call-condition.ts';
import { callLines } from './logs.ts';

test('reads all pages, also short and empty ones', async () => {
  const pages = [1_000, 0, ...Array.from({ length: 120 }, () => 1_000), 7];
  const queries: (string | null)[] = [];
  const usage = {
    async readLogs({ beforeId }: LogQuestion) {
      const page = queries.push(beforeId);
      const calls = Array.from({ length: pages[page - 1] ?? 0 }, (_, nth) => sampleRecord(`req_${page}_${nth}`));
      return { calls, next: page === pages.length ? null : `page ${page}`, histogram: null };
    },
  };
  const question = { condition: EVERY_CALL, outcome: null, fromMs: null, toMs: null, idPrefix: null, timeMsMax: 1_000 };
  const tenant = { account: 'default', workspaces: null };
  const lines: string[] = [];
  for await (const piece of callLines(usage, { ...question, tenant })) lines.push(...piece.split('\r\n').slice(0, -1));
  expect(lines.length).toBe(1 + 121_007);
  expect(new Set(lines).size).toBe(lines.length);
  expect(queries.slice(0, 3)).toEqual([null, 'page 1', 'page 2']);
});

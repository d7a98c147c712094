/** Tests reconciliation from a provider's file to its findings: six planted differences, all found and named. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { runProgram } from '../../src/cli/testing/run-program.ts';
import { openStore } from '../../src/store/sqlite/open-store.ts';
import { temporaryFolders } from '../../src/store/testing/temporary-folder.ts';
import { CALLS, CAUSES, generationsCsv, REQUESTS, usageJson } from './planted-invoice.ts';

const newFolder = temporaryFolders();
let dataDir = '';
let files: { readonly csv: string; readonly json: string };

const amount = z.string().transform(BigInt);
const comparison = z.object({
  id: z.string(),
  billed: amount,
  recorded: amount,
  explained: amount,
  days: z.array(
    z.object({ day: z.string(), model: z.string(), explained: amount, recorded: amount, billed: amount.nullable() }),
  ),
  findings: z.array(
    z.object({ day: z.string(), cause: z.string(), amount, requestId: z.string().nullable(), detail: z.string() }),
  ),
});

beforeAll(async () => {
  dataDir = newFolder();
  const store = await openStore({ dataDir });
  for (const { record } of CALLS) await store.recorder.append(record);
  await store.close();
  files = { csv: join(dirname(dataDir), 'activity.csv'), json: join(dirname(dataDir), 'usage.json') };
  writeFileSync(files.csv, generationsCsv());
  writeFileSync(files.json, usageJson());
});
afterAll(() => undefined);

async function run(...words: string[]) {
  const outcome = await runProgram(dataDir, ...words);
  expect([outcome.exitCode, outcome.stderr]).toEqual([0, '']);
  return outcome.stdout;
}

const reconcile = async (file: string, ...flags: string[]) =>
  comparison.parse(JSON.parse(await run('reconcile', 'import', file, '--provider', 'router', '--json', ...flags)));

describe('six planted differences', () => {
  for (const name of ['csv', 'json'] as const) {
    test(`are found and named in ${name === 'csv' ? 'a file with a row for each request' : 'sums of days'}`, async () => {
      const { findings } = await reconcile(files[name]);
      const causes = new Set(findings.map(({ cause }) => cause));
      expect([...causes].sort()).toEqual([...CAUSES]);
      for (const cause of CAUSES) {
        const named = new Set(findings.filter((each) => each.cause === cause).map(({ requestId }) => requestId));
        expect([cause, [...named]]).toEqual([cause, [REQUESTS[cause]]]);
      }
    });
  }

  test('explain the whole difference to the nano-dollar, day by day', async () => {
    const { billed, recorded, explained, days } = await reconcile(files.csv);
    expect(billed - recorded).toBe(explained);
    expect(billed > recorded).toBe(true);
    for (const day of days) {
      expect([day.day, day.model, (day.billed ?? 0n) - day.recorded]).toEqual([day.day, day.model, day.explained]);
    }
  });

  test('are kept once, however often a file is imported, and shown as a table and as CSV', async () => {
    const first = await reconcile(files.csv);
    expect((await reconcile(files.csv)).id).toBe(first.id);
    const lines = (await run('reconcile', 'list', '--json')).trim().split('\n');
    expect(lines.filter((line) => line.includes(first.id)).length).toBe(1);
    const csv = await run('reconcile', 'show', first.id, '--csv');
    expect(csv.split('\r\n').length).toBe(first.findings.length + 2);
    const table = await run('reconcile', 'show', first.id);
    for (const words of ['Missing call', 'Billed twice', 'Wrong tier', 'Retried attempt', 'Cut stream', 'Other day']) {
      expect(table).toContain(words);
    }
  });

  test('in the zone of the provider no request is of another day', async () => {
    const { findings } = await reconcile(files.csv, '--time-zone', 'Europe/Berlin', '--dry-run');
    expect(findings.some(({ cause }) => cause === 'other_day')).toBe(false);
  });
});

test('a difference above a part of the bill is a failure, for a script to notice', async () => {
  const words = ['reconcile', 'import', files.csv, '--provider', 'router', '--dry-run', '--fail-above'];
  const [above, below, wrong] = [
    await runProgram(dataDir, ...words, '37.5'),
    await runProgram(dataDir, ...words, '37.6'),
    await runProgram(dataDir, ...words, 'much'),
  ];
  expect([above.exitCode, below.exitCode, wrong.exitCode]).toEqual([1, 0, 2]);
  expect(above.stderr).toContain('The difference is +37.53%, more than 37.5%.');
});

describe('an export that cannot be used', () => {
  const refused = async (name: string, text: string) => {
    const file = join(dirname(dataDir), name);
    writeFileSync(file, text);
    const { exitCode, stderr } = await runProgram(dataDir, 'reconcile', 'import', file, '--provider', 'router');
    return [exitCode, stderr] as const;
  };

  test('is refused with the place of its fault, and nothing is kept', async () => {
    const before = await run('reconcile', 'list', '--json');
    for (const [name, text, message] of [
      ['a.csv', 'a,b\n1,2', 'expected an export of one of'],
      [
        'b.csv',
        `${generationsCsv().split('\n')[0]}\ngen,2026-11-20 00:00:00,1e99,1,1,0,m,p`,
        'line 2: cost_total: found',
      ],
      ['c.json', '{"data": [', 'not valid JSON'],
      ['d.json', '{"data": []}', 'found no entries'],
      ['e.xls', 'x', 'expected a file whose name ends in'],
      ['f.csv', `${generationsCsv().split('\n')[0]}\n"open`, 'a quote is not closed'],
    ] as const) {
      const [exitCode, stderr] = await refused(name, text);
      expect([name, exitCode]).toEqual([name, 1]);
      expect(stderr).toContain(message);
    }
    expect(await run('reconcile', 'list', '--json')).toBe(before);
  });
});

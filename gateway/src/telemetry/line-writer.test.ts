/** Tests that lines are written whole and in order, and that a reader who takes nothing costs lines, not time or memory. */
import { expect, test } from 'bun:test';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolders } from '../store/testing/temporary-folder.ts';
import { LineWriter } from './line-writer.ts';

const newFolder = temporaryFolders();
const MODULE = JSON.stringify(join(import.meta.dir, 'line-writer.ts'));

test('lines arrive whole and in order', async () => {
  const path = join(newFolder(), 'log');
  const file = openSync(path, 'w');
  const lines = new LineWriter(file);
  const given = Array.from({ length: 3_000 }, (_, at) => `line ${at} ${'x'.repeat(at % 90)}\n`);
  for (const line of given) lines.write(line);
  await lines.close();
  expect(readFileSync(path, 'utf8')).toBe(given.join(''));
  expect(lines.dropped).toBe(0);
  closeSync(file);
});

/** Writes more than it may keep, prints how many lines it dropped, and writes one more once its input ends. */
const FLOOD = `
  import { LineWriter } from ${MODULE};
  const lines = new LineWriter(2, 100_000);
  for (let at = 0; at < 5_000; at++) lines.write(JSON.stringify({ at, text: 'y'.repeat(80) }) + '\\n');
  console.log(lines.dropped);
  await Bun.stdin.text();
  lines.write('{"at":"later"}\\n');
  await lines.close();
  process.exit(0);
`;

test('an unread pipe costs lines, not time, and the log tells how many once it is read', async () => {
  const path = join(newFolder(), 'pipe');
  expect(Bun.spawnSync(['mkfifo', path]).exitCode).toBe(0);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, 'w');
  const child = Bun.spawn([process.execPath, '-e', FLOOD], { stdin: 'pipe', stdout: 'pipe', stderr: writer });
  closeSync(writer);
  const output = child.stdout.getReader();
  const dropped = Number(new TextDecoder().decode((await output.read()).value));
  expect(dropped).toBeGreaterThan(1_000);

  let seen = '';
  const readUntil = async (text: string) => {
    const bytes = new Uint8Array(65_536);
    for (const limit = performance.now() + 20_000; !seen.includes(text) && performance.now() < limit; ) {
      try {
        seen += new TextDecoder().decode(bytes.subarray(0, readSync(reader, bytes)));
      } catch (fault) {
        expect(fault).toMatchObject({ code: 'EAGAIN' });
        await Bun.sleep(5);
      }
    }
  };
  await readUntil('dropped');
  child.stdin.end();
  await readUntil('later');
  expect(await child.exited).toBe(0);
  const lines = seen
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const kept = 5_000 - dropped;
  expect(lines.slice(0, kept).map(({ at }) => at)).toEqual(Array.from({ length: kept }, (_, at) => at));
  expect(lines.slice(kept)).toEqual([
    { level: 40, time: expect.any(String), dropped, msg: 'log lines were dropped: their reader is too slow' },
    { at: 'later' },
  ]);
  closeSync(reader);
});

test.each([
  ['an exception', 'throw new Error("fatal")', 1],
  ['an exit', 'process.exit(3)', 3],
])('lines that are held back are written where %s ends the process', async (_name, end, status) => {
  const source = `
    import { LineWriter } from ${MODULE};
    const lines = new LineWriter(2);
    process.on('exit', () => lines.writeAtExit());
    lines.holdBack(() => lines.append(Buffer.from('held back\\n'), 1));
    setTimeout(() => { ${end}; }, 1);
  `;
  const child = Bun.spawn([process.execPath, '-e', source], { stdout: 'ignore', stderr: 'pipe' });
  expect(await child.stderr.text()).toContain('held back\n');
  expect(await child.exited).toBe(status);
});

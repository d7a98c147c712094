/** Tests that a start on a full disk, a first or a later one, waits for room and then serves. */
import { afterAll, expect, test } from 'bun:test';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../harness/eventually.ts';
import { GATEWAY_PROGRAM, startGateway } from '../harness/start-gateway.ts';

/** The journal takes three segments at a later start: the one it had, the next, and its spare. */
const DISK_BYTES = 48 * 1024 * 1024;
const home = mkdtempSync(join(tmpdir(), 'tollgate-full-'));
const disk = join(home, 'disk');
mkdirSync(disk);
const canMount =
  Bun.which('mount') !== null &&
  Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk]).exitCode === 0;
const absent = canMount ? '' : ' (needs the right to mount a tmpfs)';
if (!canMount) console.log(`full disk at start: skipped${absent}`);
afterAll(() => {
  if (canMount) Bun.spawnSync(['umount', disk]);
  rmSync(home, { recursive: true, force: true });
});

const filler = join(disk, 'filler');

/** Leaves at most `freeBytes` on the disk. Space held by a killed server may be freed a moment later. */
function fill(freeBytes: number): void {
  rmSync(filler, { force: true });
  for (;;) {
    const { bavail, bsize } = statfsSync(disk);
    const surplus = bavail * bsize - freeBytes;
    if (surplus <= 0) return;
    try {
      appendFileSync(filler, Buffer.alloc(surplus));
    } catch (fault) {
      if (!String(fault).includes('ENOSPC')) throw fault;
    }
  }
}

/** Starts with too little room, waits for the message that it waits, makes room, and returns the server's state. */
async function startInto(dataDir: string, freeBytes: number) {
  fill(freeBytes);
  const environment = { PATH: process.env.PATH ?? '', HOME: home, TOLLGATE_DATA_DIR: dataDir };
  const started = Bun.spawn([process.execPath, GATEWAY_PROGRAM, 'serve', '--port', '0'], {
    cwd: home,
    env: environment,
    stdout: Bun.file(join(home, 'stdout')),
    stderr: Bun.file(join(home, 'stderr')),
  });
  const match = async (name: 'stdout' | 'stderr', words: RegExp) => words.exec(await Bun.file(join(home, name)).text());
  try {
    await eventually('the server to wait', () => match('stderr', /the server cannot start until/), 15_000);
    expect([started.exitCode, await match('stdout', /listens on/)]).toEqual([null, null]);
    rmSync(filler);
    const listens = await eventually('the server to listen', () => match('stdout', /listens on (http:\S+)/), 15_000);
    return { ready: (await fetch(`${listens[1]}/readyz`)).status, key: await match('stdout', /tg_[0-9A-Za-z]{49}/) };
  } finally {
    started.kill('SIGKILL');
    await started.exited;
    rmSync(join(home, 'stdout'), { force: true });
    rmSync(join(home, 'stderr'), { force: true });
  }
}

test.skipIf(!canMount)(
  `a first start waits, wherever in it the disk is full, and shows its key once${absent}`,
  async () => {
    const all = [200, 0, 4, 40, 1_100, 4_000, 8_000].map((kib) => kib * 1_024);
    const places = process.env.TOLLGATE_EXHAUSTIVE === '1' ? all : all.slice(0, 1);
    for (const [index, freeBytes] of places.entries()) {
      const dataDir = join(disk, `first-${index}`);
      const { ready, key } = await startInto(dataDir, freeBytes);
      expect([freeBytes, ready, key !== null]).toEqual([freeBytes, 200, true]);
      rmSync(dataDir, { recursive: true });
    }
  },
);

test.skipIf(!canMount)(`a later start waits, and loses nothing${absent}`, async () => {
  const first = await startGateway();
  await first.stop(true);
  const dataDir = join(disk, 'later');
  cpSync(first.dataDir, dataDir, { recursive: true });
  rmSync(join(first.dataDir, '..'), { recursive: true });
  expect(await startInto(dataDir, 0)).toEqual({ ready: 200, key: null });
});

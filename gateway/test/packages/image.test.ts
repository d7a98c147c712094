/**
 * Tests the image of `deploy/Containerfile`: built without a base image, run as its user on a read-only root file system,
 * with nothing but the binary's own health check.
 */
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileBinary, ROOT } from '../../scripts/package/bundle-program.ts';
import { buildConsole } from '../../src/app/build-console.ts';
import { EXHAUSTIVE } from '../fault/calls.ts';
import { DOCS_TITLES, docsTitles, firstAnswer, startInstalled } from './installed.ts';

const TEST_MS_MAX = 300_000;
const HAS_TOOLS = ['buildah', 'mmdebstrap'].every((name) => Bun.which(name) !== null);
const MAY_MOUNT = EXHAUSTIVE && Bun.spawnSync(['unshare', '--mount', '--pid', '--fork', 'true']).success;

const root = mkdtempSync(join(tmpdir(), 'tollgate-image-'));
afterAll(() => {
  if (HAS_TOOLS) buildah('umount', '--all');
  rmSync(root, { recursive: true, force: true });
});

function buildah(...words: string[]): string {
  const places = ['--root', join(root, 'storage'), '--runroot', join(root, 'running')];
  return succeed(['buildah', ...places, ...words]);
}

function succeed(command: string[], cwd = ROOT): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd });
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed:\n${stderr}${stdout}`);
  return stdout.toString().trim();
}

/** Runs a command as the image's user, on its files, read-only, with an empty data folder. */
const IN_CONTAINER = `
  mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && mount -t proc proc "$0/proc" &&
  mount -t tmpfs -o uid=10001,gid=10001,mode=700 tmpfs "$0/data" &&
  ! touch "$0/etc/written" 2>/dev/null &&
  exec chroot --userspec=10001:10001 "$0" "$@"`;

test('its file pulls no base image, and names another user than root and a health check', () => {
  const lines = readFileSync(join(ROOT, 'deploy/Containerfile'), 'utf8').split('\n');
  expect(lines.filter((line) => line.startsWith('FROM '))).toEqual(['FROM scratch']);
  expect(lines).toContain('USER 10001:10001');
  expect(lines.find((line) => line.startsWith('HEALTHCHECK '))).toEndWith('CMD ["/usr/bin/tollgate", "health"]');
});

// Its root file system comes from Debian's servers, which takes minutes on a busy machine.
const built = EXHAUSTIVE ? test.skipIf(!HAS_TOOLS || !MAY_MOUNT) : null;
built?.(
  'it serves as another user than root, writes only its data, and checks its own health (needs buildah, mmdebstrap, mounts)',
  async () => {
    const context = join(root, 'dist');
    mkdirSync(context);
    succeed([join(ROOT, 'deploy/make-root.sh'), join(context, 'root.tar')]);
    const binary = join(context, 'tollgate-0-linux-x64');
    await compileBinary(binary, { command: 'tollgate', console: await buildConsole(), runtime: null });
    const file = join(ROOT, 'deploy/Containerfile');
    buildah('build', '--quiet', '--format', 'docker', '--file', file, '--tag', 'tollgate', context);
    const { config } = JSON.parse(buildah('inspect', '--type', 'image', 'tollgate')).Docker;
    expect(config).toMatchObject({
      User: '10001:10001',
      Entrypoint: ['/usr/bin/tollgate'],
      Cmd: ['serve'],
      Healthcheck: { Test: ['CMD', '/usr/bin/tollgate', 'health'] },
      StopSignal: 'SIGTERM',
    });

    const mounted = buildah('mount', buildah('from', '--pull-never', 'tollgate'));
    const program = ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', IN_CONTAINER, mounted];
    const environment = {
      PATH: process.env.PATH,
      HOME: '/data',
      TOLLGATE_DATA_DIR: '/data',
      HOST: '0.0.0.0',
      PORT: '0',
    };
    const gateway = await startInstalled([...program, '/usr/bin/tollgate', 'serve'], { cwd: root, environment });
    const port = new URL(gateway.url).port;
    const health = () =>
      Bun.spawnSync([...program, '/usr/bin/tollgate', 'health'], { env: { ...environment, PORT: port } }).exitCode;
    try {
      expect(await firstAnswer({ ...gateway, url: `http://127.0.0.1:${port}` })).toContain('You wrote: “Hello!”');
      expect(await docsTitles(`http://127.0.0.1:${port}`)).toEqual(DOCS_TITLES);
      expect(health()).toBe(0);
    } finally {
      await gateway.stop();
    }
    expect(health()).toBe(1);
  },
  TEST_MS_MAX,
);

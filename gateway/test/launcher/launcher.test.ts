/**
 * Tests bin/tollgate: it finds Bun wherever npm put it, ignores code and settings of the working directory, forwards
 * signals, and ends with the server's status.
 */
import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './launched.ts';
import { type BinaryPlace, makeLauncherTree, type TreeLayout, write } from './launcher-tree.ts';

const trees: string[] = [];
afterAll(() => {
  for (const tree of trees) rmSync(tree, { recursive: true });
});

function tree(place: BinaryPlace, layout?: TreeLayout): { root: string; command: string } {
  const made = makeLauncherTree(place, layout);
  trees.push(made.root);
  return made;
}

const clone = tree('moved');
const run = (...words: string[]): string[] => ['node', clone.command, ...words];

describe('finding the runtime', () => {
  const places: [BinaryPlace, TreeLayout][] = [
    ['moved', 'clone'],
    ['hoisted', 'clone'],
    ['nested', 'clone'],
    ['moved', 'npx'],
    ['hoisted', 'npx'],
  ];
  test.each(places)('%s binary in a %s', async (place, layout) => {
    const { command } = tree(place, layout);
    const launched = launch(['node', command, 'describe', '--version', 'a b']);
    expect(await launched.next()).toMatchObject({ rest: ['--version', 'a b'] });
    expect(await launched.ended()).toEqual({ status: 0, signal: null, stderr: '' });
  });

  test('a missing binary is reported with a remedy, and fails', async () => {
    const { command, root } = tree('missing');
    const { status, stderr } = await launch(['node', command, 'describe']).ended();
    expect(status).toBe(1);
    expect(stderr).toContain(`the Bun runtime was not found for ${process.platform} ${process.arch}`);
    expect(stderr).toContain(join(root, 'gateway/bin/node_modules'));
    expect(stderr).toContain('npm ci');
  });

  test('started by Bun itself, it uses that one where npm left none', async () => {
    const { command } = tree('missing');
    const launched = launch([process.execPath, command, 'describe', 'x']);
    expect(await launched.next()).toMatchObject({ rest: ['x'] });
    expect((await launched.ended()).status).toBe(0);
  });
});

describe('environment of the server', () => {
  test('the limits and mode that must be set before the start, and the working directory', async () => {
    const { root } = clone;
    const launched = launch(run('describe'), { cwd: root });
    expect(await launched.next()).toEqual({
      rest: [],
      cwd: root,
      BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
      NODE_ENV: 'production',
    });
  });

  test('all file descriptors that the hard limit allows, however low the soft one is', async () => {
    const hardMax = Number(Bun.spawnSync(['sh', '-c', 'ulimit -Hn']).stdout.toString());
    const most = Math.min(hardMax, 4_096);
    const limited = ['sh', '-c', `ulimit -Sn 256 && ulimit -Hn ${most} && exec "$@"`, 'sh'];
    expect(await launch([...limited, ...run('open-files')]).next()).toEqual({ most });
  });

  test('a NODE_ENV of the operator stays', async () => {
    const launched = launch(run('describe'), { environment: { NODE_ENV: 'development' } });
    expect(await launched.next()).toMatchObject({ NODE_ENV: 'development' });
  });

  test('loopback never goes through a proxy from the environment; the names already listed stay', async () => {
    const launched = launch(run('describe'), { environment: { https_proxy: 'http://192.0.2.1:1', no_proxy: 'corp' } });
    const direct = 'corp,localhost,127.0.0.1,::1,[::1]';
    expect(await launched.next()).toMatchObject({ NO_PROXY: direct, no_proxy: direct });
  });

  test('loads neither code nor settings from the working directory', async () => {
    const cwd = join(clone.root, 'foreign');
    write(join(cwd, 'bunfig.toml'), 'preload = ["./planted.ts"]\n');
    write(join(cwd, 'planted.ts'), 'process.env.PLANTED = "by preload";\n');
    write(join(cwd, '.env'), 'PLANTED=by .env\n');
    const planted = launch([process.execPath, join(clone.root, 'gateway/src/main.ts'), 'describe'], { cwd });
    expect(await planted.next()).toMatchObject({ PLANTED: 'by preload' });
    expect(await launch(run('describe'), { cwd }).next()).not.toHaveProperty('PLANTED');
  });
});

describe('header block', () => {
  const answer = async (port: number, headBytes: number): Promise<string> => {
    const start = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Long: ';
    const head = `${start}${'a'.repeat(headBytes - start.length - 4)}\r\n\r\n`;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let received = '';
    await Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        open: (socket) => void socket.write(head),
        data: (_socket, chunk) => {
          received += chunk.toString();
        },
        close: () => resolve(received.slice(9, 12)),
        error: (_socket, error) => reject(error),
      },
    });
    return promise;
  };

  test('16 KiB passes and one byte more is 431; BUN_OPTIONS may set another limit', async () => {
    const byDefault = launch(run('echo'));
    const port = await byDefault.number('port');
    expect(await answer(port, 16_384)).toBe('200');
    expect(await answer(port, 16_385)).toBe('431');
    const raised = launch(run('echo'), { environment: { BUN_OPTIONS: '--max-http-header-size=20000' } });
    const raisedPort = await raised.number('port');
    expect(await answer(raisedPort, 20_000)).toBe('200');
    expect(await answer(raisedPort, 20_001)).toBe('431');
    for (const started of [byDefault, raised]) {
      started.kill('SIGTERM');
      expect(await started.ended()).toMatchObject({ signal: 'SIGTERM' });
    }
  });
});

describe('the end', () => {
  test.each([0, 1, 2, 77])('status %d is passed on', async (status) => {
    expect(await launch(run('exit', String(status))).ended()).toEqual({ status, signal: null, stderr: '' });
  });

  test.each(['SIGTERM', 'SIGKILL', 'SIGABRT'])('a server ended by %s ends the launcher by it', async (signal) => {
    expect(await launch(run('die', signal)).ended()).toMatchObject({ signal });
  });

  test('SIGHUP and SIGINT reach the server, which continues; SIGTERM ends both with its status', async () => {
    const launched = launch(run('signals'));
    await launched.number('pid');
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGHUP', 'SIGTERM'] as const) {
      launched.kill(signal);
      expect(await launched.next()).toBe(signal);
    }
    expect(await launched.ended()).toEqual({ status: 0, signal: null, stderr: '' });
  });

  test('a launcher killed with -9 takes the server with it', async () => {
    const launched = launch(run('watch'));
    await launched.number('pid');
    launched.kill('SIGKILL');
    expect(await launched.next()).toBe('launcher gone');
  });

  test('a server that starts its watch after the launcher was killed notices at once', async () => {
    const launched = launch(run('watch-late'));
    await launched.number('pid');
    launched.kill('SIGKILL');
    expect(await launched.ended()).toMatchObject({ signal: 'SIGKILL' });
    launched.closeInput();
    expect(await launched.next()).toBe('launcher gone');
  });

  describe('under npm, which forwards no signals', () => {
    // The colon keeps a shell from becoming its last command.
    const shell = (command: string): string => `sh -c '${command}; :'; :`;
    const npmScript = (command: string[]): ReturnType<typeof launch> =>
      launch(['sh', '-c', shell(command.join(' '))], { environment: { npm_lifecycle_event: 'start' } });

    test.skipIf(!existsSync('/proc/self/stat'))('an npm killed with -9 ends the server (needs /proc)', async () => {
      const launched = npmScript(run('signals'));
      await launched.number('pid');
      launched.kill('SIGKILL');
      expect(await launched.next()).toBe('SIGTERM');
    });

    test('a shell that is gone ends the server', async () => {
      const launched = launch(['sh', '-c', `${run('signals').join(' ')}; :`], {
        environment: { npm_lifecycle_event: 'start' },
      });
      await launched.number('pid');
      launched.kill('SIGTERM');
      expect(await launched.next()).toBe('SIGTERM');
    });

    test('outside of npm a shell may exit and the server continues', async () => {
      const launched = launch(['sh', '-c', `${run('signals').join(' ')}; :`]);
      const pid = await launched.number('pid');
      launched.kill('SIGTERM');
      await launched.gone();
      process.kill(pid, 'SIGHUP');
      expect(await launched.next()).toBe('SIGHUP');
      process.kill(pid, 'SIGTERM');
      expect(await launched.next()).toBe('SIGTERM');
    });
  });

  test('watching keeps no process alive and is inert without a launcher', async () => {
    expect(await launch(run('watch-and-end')).ended()).toEqual({ status: 0, signal: null, stderr: '' });
    const direct = launch([process.execPath, join(clone.root, 'gateway/src/main.ts'), 'watch-and-end']);
    expect(await direct.ended()).toEqual({ status: 0, signal: null, stderr: '' });
  });
});

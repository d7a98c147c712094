/** Tests what a server gets from whatever starts it: the launcher, or a single binary. */
import { describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './launched.ts';
import { write } from './launcher-tree.ts';

export interface Started {
  /** A folder for files of these tests. */
  readonly root: string;
  /** The command that runs the scripted server with these arguments. */
  run(...words: string[]): string[];
  /** Runs the scripted server with the working directory's code and settings, to show that they would be loaded. */
  runOpenly(...words: string[]): string[];
}

export function testStart({ root, run, runOpenly }: Started): void {
  describe('environment of the server', () => {
    test('the limits and mode that must be set before the start, and the working directory', async () => {
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

    test('threads enough that work which hangs leaves some for the disk', async () => {
      const pipes = Array.from({ length: 40 }, (_, index) => join(root, `pipe-${index}`));
      Bun.spawnSync(['mkfifo', ...pipes]);
      expect(await launch(run('sync-beside', ...pipes)).next()).toBe('synced');
      for (const pipe of pipes) rmSync(pipe);
    });

    test('a NODE_ENV of the operator stays', async () => {
      const launched = launch(run('describe'), { environment: { NODE_ENV: 'development' } });
      expect(await launched.next()).toMatchObject({ NODE_ENV: 'development' });
    });

    test('loopback never goes through a proxy from the environment; the names already listed stay', async () => {
      const launched = launch(run('describe'), {
        environment: { https_proxy: 'http://192.0.2.1:1', no_proxy: 'corp' },
      });
      const direct = 'corp,localhost,127.0.0.1,::1,[::1]';
      expect(await launched.next()).toMatchObject({ NO_PROXY: direct, no_proxy: direct });
    });

    test('loads neither code nor settings from the working directory', async () => {
      const cwd = join(root, 'foreign');
      write(join(cwd, 'bunfig.toml'), 'preload = ["./planted.ts"]\n');
      write(join(cwd, 'planted.ts'), 'process.env.PLANTED = "by preload";\n');
      write(join(cwd, '.env'), 'PLANTED=by .env\n');
      const planted = launch(runOpenly('describe'), { cwd });
      expect(await planted.next()).toMatchObject({ PLANTED: 'by preload' });
      expect(await launch(run('describe'), { cwd }).next()).not.toHaveProperty('PLANTED');
    });

    test('loads no settings from the home folder', async () => {
      const home = join(root, 'home');
      write(join(home, '.bunfig.toml'), `preload = [${JSON.stringify(join(home, 'planted.ts'))}]\n`);
      write(join(home, 'planted.ts'), 'process.env.PLANTED = "from home";\n');
      const environment = { HOME: home, XDG_CONFIG_HOME: home };
      expect(await launch(run('describe'), { cwd: root, environment }).next()).not.toHaveProperty('PLANTED');
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

  describe('its end', () => {
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
  });
}

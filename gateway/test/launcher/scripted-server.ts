/**
 * Runs as the server behind the launcher in its tests: does what its first argument says and reports on standard
 * output.
 */
import { fdatasync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { watchLauncher } from '../../src/cli/commands/serve.ts';
import { openFilesMax } from '../../src/lib/open-files.ts';

const [mode, ...rest] = process.argv.slice(2);

function say(line: unknown): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function stayAlive(): void {
  setInterval(() => {}, 60_000);
}

switch (mode) {
  case 'describe': {
    const { BUN_CONFIG_MAX_HTTP_REQUESTS, NODE_ENV, NO_PROXY, no_proxy, PLANTED } = process.env;
    say({ rest, cwd: process.cwd(), BUN_CONFIG_MAX_HTTP_REQUESTS, NODE_ENV, NO_PROXY, no_proxy, PLANTED });
    break;
  }
  case 'environment':
    say(process.env);
    break;
  case 'exit':
    process.exit(Number(rest[0]));
    break;
  case 'die':
    process.kill(process.pid, rest[0]);
    stayAlive();
    break;
  case 'signals':
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        say(signal);
        if (signal === 'SIGTERM') setTimeout(() => process.exit(0), 50);
      });
    }
    stayAlive();
    say({ pid: process.pid });
    break;
  case 'watch':
    watchLauncher(() => {
      say('launcher gone');
      process.exit(0);
    });
    stayAlive();
    say({ pid: process.pid });
    break;
  case 'watch-late':
    process.stdin.resume().once('end', () => {
      stayAlive();
      watchLauncher(() => {
        say('launcher gone');
        process.exit(0);
      });
    });
    say({ pid: process.pid });
    break;
  case 'watch-and-end':
    watchLauncher(() => say('launcher gone'));
    break;
  case 'open-files':
    say({ most: openFilesMax() });
    break;
  case 'sync-beside': {
    // Opening a pipe without a writer waits for one.
    for (const pipe of rest) open(pipe, 'r').catch(() => undefined);
    setTimeout(() => {
      say('stuck');
      process.exit(1);
    }, 4_000);
    const file = openSync(process.execPath, 'r');
    for (let sync = 0; sync < 20; sync++) await new Promise((resolve) => fdatasync(file, resolve));
    say('synced');
    process.exit(0);
    break;
  }
  case 'echo':
    say({ port: Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('ok') }).port });
    break;
  default:
    throw new Error(`scripted-server: unknown mode ${mode}`);
}

/**
 * Tests bin/tollgate: it finds Bun wherever npm put it, ignores code and settings of the working directory, forwards
 * signals, and ends with the server's status.
 */
import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './launched.ts';
import { type BinaryPlace, makeLauncherTree, type TreeLayout } from './launcher-tree.ts';
import { testStart } from './start-suite.ts';

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

testStart({
  root: clone.root,
  run,
  runOpenly: (...words) => [process.execPath, join(clone.root, 'gateway/src/main.ts'), ...words],
});

describe('the end of the launcher', () => {
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

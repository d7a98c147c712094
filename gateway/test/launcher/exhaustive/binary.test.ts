/** Tests that a single binary gives the server what the launcher gives it, and is one process. */
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileBinary } from '../../../scripts/package/bundle-program.ts';
import { launch } from '../launched.ts';
import { testStart } from '../start-suite.ts';

const SCRIPTED_SERVER = join(import.meta.dir, '../scripted-server.ts');

const root = mkdtempSync(join(tmpdir(), 'tollgate-binary-'));
afterAll(() => rmSync(root, { recursive: true }));

const binary = join(root, 'tollgate');
const noConsole = join(root, 'no-console');
mkdirSync(noConsole);
writeFileSync(join(noConsole, 'index.html'), '<html></html>');
await compileBinary(binary, { command: 'tollgate', console: noConsole, runtime: null, program: SCRIPTED_SERVER });

const run = (...words: string[]): string[] => [binary, ...words];
testStart({ root, run, runOpenly: (...words) => [process.execPath, SCRIPTED_SERVER, ...words] });

test('arguments reach the program as they are, flags of the runtime too', async () => {
  const words = ['--version', '--smol', '--preload=./planted.ts', 'a b', ''];
  expect(await launch(run('describe', ...words)).next()).toMatchObject({ rest: words });
});

test('it executes itself as the same process, and a child of another binary does so too', async () => {
  const launched = launch(run('signals'), { environment: { TOLLGATE_EXECUTED_BY: '1' } });
  expect(await launched.number('pid')).toBe(launched.pid);
  launched.kill('SIGTERM');
  expect(await launched.next()).toBe('SIGTERM');
  expect(await launched.ended()).toMatchObject({ status: 0 });
});

test('the mark of the execution does not reach the program', async () => {
  expect(JSON.stringify(await launch(run('environment')).next())).not.toContain('TOLLGATE_EXECUTED_BY');
});

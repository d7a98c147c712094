/** Tests that a start does not wait for the libraries behind sign-in: the first request that needs one loads it. */
import { expect, test } from 'bun:test';
import { resolve } from 'node:path';

const APP = resolve(import.meta.dir, '../../src/app/app.ts');
const LATE = ['better-auth', '@better-auth', '@simplewebauthn'];

test('a server that has started has not loaded the libraries behind sign-in', async () => {
  const script = `await import(${JSON.stringify(APP)}); console.log(JSON.stringify(Object.keys(require.cache))); process.exit(0);`;
  const { stdout, exitCode } = Bun.spawnSync([process.execPath, '-e', script]);
  expect(exitCode).toBe(0);
  const loaded: string[] = JSON.parse(stdout.toString());
  expect(loaded).toContain(APP);
  expect(loaded.filter((path) => LATE.some((name) => path.includes(`/node_modules/${name}/`)))).toEqual([]);
});

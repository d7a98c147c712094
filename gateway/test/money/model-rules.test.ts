/**
 * Tests that a limit must name a served model, with and without a running server, and the effect when its model is
 * removed.
 */
import { afterAll, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { eventually } from '../harness/eventually.ts';
import { startGateway } from '../harness/start-gateway.ts';

const LAB = { kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', api_key: 'none' };
const modelsOf = (...names: readonly string[]) => ({
  providers: { lab: LAB },
  models: Object.fromEntries(names.map((name) => [name, { targets: [{ provider: 'lab' }], alias: [`${name}-alias`] }])),
});

const gateway = await startGateway({ config: modelsOf('own', 'other') });
afterAll(() => gateway.stop());

/** Without a server a command finds the configuration in its own working directory, so it needs its own process. */
let command = gateway.run;
const set = (model: string, ...caps: readonly string[]) => command('limits', 'set', '--model', model, ...caps);
const reloads = () => gateway.stderr().split('the configuration was reloaded').length - 1;

async function listed(): Promise<unknown[]> {
  const { stdout } = await command('limits', 'list', '--json');
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { id: string; binds: boolean })
    .map(({ id, binds }) => [id, binds]);
}

async function expectRefusedTypo(): Promise<void> {
  const { status, stderr } = await set('hous-alias', '--rpm', '1');
  expect([status, stderr]).toEqual([1, expect.stringContaining('There is no model called "hous-alias"')]);
  expect(stderr).toContain('Did you mean "own-alias"?');
}

test('a limit of a model that is not served is refused, and one that was served can be removed', async () => {
  await expectRefusedTypo();
  expect(await set('own-alias', '--rpm', '1')).toMatchObject({ status: 0, stderr: '' });
  expect(await set('other', '--rpm', '2')).toMatchObject({ status: 0, stderr: '' });
  expect(await listed()).toEqual([
    ['other', true],
    ['own-alias', true],
  ]);

  writeFileSync(gateway.configFile, JSON.stringify(modelsOf('own')));
  gateway.signal('SIGHUP');
  await eventually('the reload', () => (reloads() > 0 ? true : null), 10_000);
  expect(await listed()).toEqual([
    ['other', false],
    ['own-alias', true],
  ]);
  expect((await gateway.run('limits', 'list')).stdout).toMatch(
    /other .* 2 rpm; has no effect: no such model is served/,
  );

  await gateway.stop(true);
  command = gateway.runProcess;
  await expectRefusedTypo();
  expect(await listed()).toEqual([
    ['other', false],
    ['own-alias', true],
  ]);
  expect(await set('other', '--rpm', 'none')).toMatchObject({ status: 0, stderr: '' });
  expect(await set('own', '--rpm', '3')).toMatchObject({ status: 0, stderr: '' });
  // Without a file, the server's environment and an Ollama determine the models.
  rmSync(gateway.configFile);
  const unchecked = await set('later', '--rpm', '1');
  expect([unchecked.status, unchecked.stderr]).toEqual([0, expect.stringContaining('was not checked')]);
  expect(await listed()).toEqual([
    ['later', null],
    ['own', null],
    ['own-alias', null],
  ]);
}, 60_000);

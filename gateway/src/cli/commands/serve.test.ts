/** Tests that flags of the server with wrong values are wrong usage, as those of other commands, and the order of reloads. */
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { loadConfig } from '../../config/load-config.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { createReload, register } from './serve.ts';

const newFolder = temporaryFolders();

test.each([
  ['--port', 'abc', 'a port from 0 to 65535'],
  ['--port', '65536', 'a port from 0 to 65535'],
  ['--port', '', 'a port from 0 to 65535'],
  ['--host', 'http://x', 'an address or host name'],
  ['--host', '', 'an address or host name'],
])('%s %p is refused before anything starts', async (flag, value, expected) => {
  let stderr = '';
  const writeErr = (text: string) => {
    stderr += text;
  };
  const program = new Command().configureOutput({ writeErr }).exitOverride();
  register(program, { dataDir: '/nowhere', stdout: writeErr, stderr: writeErr, nowMs: Date.now });
  const refused = program.parseAsync(['serve', flag, value], { from: 'user' });
  await expect(refused).rejects.toMatchObject({ code: 'commander.invalidArgument' });
  expect(stderr).toContain(`found ${JSON.stringify(value)}, expected ${expected}.`);
});

const fileOf = (model: string) =>
  JSON.stringify({
    providers: { lab: { kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', api_key: 'k' } },
    models: { [model]: { targets: [{ provider: 'lab', model }], price: 'free' } },
  });

test.each([
  ['another file', fileOf('second'), ['first', 'second']],
  ['an empty file', '', ['first']],
])('of two reloads at once, the second finds %s after the first has ended', async (_, text, models) => {
  const cwd = newFolder();
  const file = join(cwd, 'tollgate.yaml');
  const source = { environment: {}, cwd };
  const { config: started } = loadConfig(source);
  if (started === null) throw new Error('no configuration');
  const begun = Promise.withResolvers<void>();
  const slow = Promise.withResolvers<void>();
  const applied: string[] = [];
  const app = {
    deps: { settings: { config: started, routes: new Map() } },
    async reconfigure(next: Config) {
      begun.resolve();
      // As the search for an Ollama takes, of the first one.
      if (next.models?.has('first')) await slow.promise;
      applied.push(...(next.models?.keys() ?? ['none']));
    },
  };
  const silent = () => undefined;
  const reload = createReload(app, source, { info: silent, warn: silent, error: silent }, true, silent);
  writeFileSync(file, fileOf('first'));
  const first = reload();
  await begun.promise;
  writeFileSync(file, text);
  const second = reload();
  setImmediate(() => slow.resolve());
  await Promise.all([first, second]);
  expect(applied).toEqual(models);
});

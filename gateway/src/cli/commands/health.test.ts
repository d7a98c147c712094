/** Tests `tollgate health`: its status follows the gateway's readiness, whether it answers, and its address. */
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { serveControl } from '../../control/control-server.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { CliFailure } from '../environment.ts';
import { register } from './health.ts';

const newFolder = temporaryFolders();

function health(port: number, ...words: string[]): Promise<string> {
  return healthOf('', { environment: { HOST: '0.0.0.0', PORT: `${port}` }, cwd: newFolder() }, words);
}

async function healthOf(dataDir: string, source: Parameters<typeof register>[2], words: string[]): Promise<string> {
  let printed = '';
  const program = new Command().exitOverride();
  const environment = {
    dataDir,
    stdout: (text: string) => {
      printed += text;
    },
    stderr: () => undefined,
    nowMs: Date.now,
  };
  register(program, environment, source);
  await program.parseAsync(['health', ...words], { from: 'user' });
  return printed;
}

function serve(readyStatus: number): Bun.Server<undefined> {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => {
      const ready = new URL(url).pathname === '/readyz';
      return new Response(ready ? `ready: ${readyStatus}` : 'alive', { status: ready ? readyStatus : 200 });
    },
  });
}

test('a gateway that is ready', async () => {
  await using server = serve(200);
  expect(await health(server.port ?? 0)).toBe('ready: 200\n');
});

test('a gateway that is shutting down is not ready, but alive', async () => {
  await using server = serve(503);
  await expect(health(server.port ?? 0)).rejects.toThrow(CliFailure);
  expect(await health(server.port ?? 0, '--alive')).toBe('alive\n');
});

test('no gateway, or one that does not answer', async () => {
  const server = serve(200);
  const port = server.port ?? 0;
  await server.stop(true);
  await expect(health(port)).rejects.toThrow('does not answer');
});

test('a running gateway is asked where it listens, whatever its file says meanwhile', async () => {
  await using server = serve(200);
  const folder = newFolder();
  writeFileSync(join(folder, 'tollgate.yaml'), 'server: { port: 1, unknown: 1 }\n');
  const source = { environment: {}, cwd: folder };
  await expect(healthOf(folder, source, [])).rejects.toThrow(/^tollgate\.yaml:1:20: server\.unknown: found /);
  const none = healthOf(folder, source, ['--config', 'none.yaml']);
  await expect(none).rejects.toThrow('none.yaml: found no such file, expected a readable file.');

  const local_url = `http://127.0.0.1:${server.port}`;
  const control = serveControl(folder, { run: async () => ({ ok: true, result: { local_url } }) });
  try {
    expect(await healthOf(folder, source, [])).toBe('ready: 200\n');
    expect(await healthOf(folder, source, ['--alive'])).toBe('alive\n');
  } finally {
    await control.stop();
  }
});

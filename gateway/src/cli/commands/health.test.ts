/** Tests `tollgate health`: its status follows the gateway's readiness, whether it answers, and its address. */
import { expect, test } from 'bun:test';
import { Command } from 'commander';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { CliFailure } from '../environment.ts';
import { register } from './health.ts';

const newFolder = temporaryFolders();

async function health(port: number, ...words: string[]): Promise<string> {
  let printed = '';
  const program = new Command().exitOverride();
  const environment = {
    dataDir: '',
    stdout: (text: string) => {
      printed += text;
    },
    stderr: () => undefined,
    nowMs: Date.now,
  };
  register(program, environment, { environment: { HOST: '0.0.0.0', PORT: `${port}` }, cwd: newFolder() });
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

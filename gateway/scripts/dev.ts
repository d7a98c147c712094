/**
 * Runs `npm run dev`: a gateway on the fake upstream that restarts when a file under gateway/src changes, with the same
 * key at every run. Flags: `--port N` (8080; 0: any free one), `--fresh` (delete key and records first).
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { forgetScratch, openScratch, scratchFolder } from './dev/scratch-folder.ts';
import { startDev } from './dev/start-dev.ts';

const ROOT = join(import.meta.dir, '../..');

function fail(reason: unknown): never {
  process.stderr.write(`dev: ${reason instanceof Error ? reason.message : String(reason)}\n`);
  process.exit(1);
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new Error(`--port is ${JSON.stringify(text)}, expected a whole number from 0 to 65535`);
}

async function start() {
  const { values } = parseArgs({
    options: { port: { type: 'string', default: '8080' }, fresh: { type: 'boolean', default: false } },
  });
  const port = parsePort(values.port);
  const folder = scratchFolder(ROOT);
  if (values.fresh) forgetScratch(folder);
  const scratch = await openScratch(folder);
  const sources = join(ROOT, 'gateway/src');
  return startDev({ scratch, sources, port, print: (text) => process.stdout.write(text) });
}

const dev = await start().catch(fail);
const stop = () => void dev.stop().then(() => process.exit(0), fail);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);

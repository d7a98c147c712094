/**
 * Runs `npm run prove`: without arguments lists the long proofs; `-- NAME` runs one at full length, `-- all` every one.
 * `--sample` runs at most a minute of each, as CI does. `--seed N` repeats a run; without it the seed is new, and is
 * printed. Further arguments go to the proof's last command. Exits with 1 if a proof fails, with 2 on wrong usage.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Command, PROOFS, type Proof } from './proofs.ts';

const ROOT = resolve(import.meta.dir, '../../..');
const SEEDS = 1_000_000;

interface Wanted {
  readonly sample: boolean;
  readonly seed: number;
  /** Arguments for the last command of the proof. */
  readonly more: readonly string[];
}

async function run({ script, args, env }: Command): Promise<boolean> {
  const running = Bun.spawn([process.execPath, join(ROOT, script), ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return (await running.exited) === 0;
}

/** Runs one proof and says how it ended. True if all its commands succeeded. */
async function prove(proof: Proof, { sample, seed, more }: Wanted): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-prove-'));
  const commands = sample ? (proof.sample?.(seed) ?? []) : proof.full(seed, folder);
  const start = performance.now();
  process.stdout.write(`${proof.name}: ${proof.shows}; seed ${seed}\n`);
  let good = true;
  for (const [index, command] of commands.entries()) {
    const args = index === commands.length - 1 ? [...command.args, ...more] : command.args;
    good &&= await run({ ...command, args });
  }
  rmSync(folder, { recursive: true, force: true });
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  process.stdout.write(`${good ? 'ok    ' : 'FAILED'} ${proof.name} ${seconds} s, seed ${seed}\n`);
  return good;
}

function list(): string {
  const rows = PROOFS.map(({ name, shows }) => `  ${name.padEnd(14)} ${shows}\n`);
  return `Long proofs, run as npm run prove -- NAME [--seed N], or all of them by the name all:\n\n${rows.join('')}`;
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

/** Takes `--sample` and `--seed N` out of the arguments; what is left goes to the proof. */
function readArguments(args: readonly string[]): Wanted {
  const at = args.indexOf('--seed');
  const text = at < 0 ? null : (args[at + 1] ?? '');
  if (text !== null && !/^\d{1,9}$/.test(text)) fail(`--seed: found "${text}", expected a whole number, such as 7`);
  const more = args.filter((arg, index) => arg !== '--sample' && (at < 0 || (index !== at && index !== at + 1)));
  return { sample: args.includes('--sample'), seed: text === null ? Date.now() % SEEDS : Number(text), more };
}

const [name, ...args] = process.argv.slice(2);
if (name === undefined) {
  process.stdout.write(list());
} else {
  const wanted = readArguments(args);
  const chosen = PROOFS.filter((proof) => name === 'all' || proof.name === name);
  if (chosen.length === 0) fail(`found no proof ${JSON.stringify(name)}\n\n${list()}`);
  const failed: string[] = [];
  for (const proof of chosen.filter((one) => !wanted.sample || one.sample !== undefined)) {
    if (!(await prove(proof, wanted))) failed.push(proof.name);
  }
  if (failed.length > 0) process.stdout.write(`prove failed: ${failed.join(', ')}\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

/** Provides Bun for other machines, as npm has it, checked against the lock file. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { thisMachine } from '../../bin/find-bun.cjs';
import { type BinaryPlan, ROOT } from './bundle-program.ts';

/** The machines that binaries are built for, and the packages of Bun for them. */
export const MACHINES = {
  'linux-x64': '@oven/bun-linux-x64',
  'linux-arm64': '@oven/bun-linux-aarch64',
  'darwin-x64': '@oven/bun-darwin-x64',
  'darwin-arm64': '@oven/bun-darwin-aarch64',
} as const;

export type Machine = keyof typeof MACHINES;

const KEPT = join(ROOT, 'node_modules/.cache/tollgate-runtimes');

/** Bun for a machine; null: this process's own is for it. */
export async function runtimeFor(machine: Machine): Promise<BinaryPlan['runtime']> {
  const { platform, arch, musl } = thisMachine();
  if (machine === `${platform}-${arch}` && !musl) return null;
  const name = MACHINES[machine];
  const { version, integrity } = lockEntry(name);
  const folder = join(KEPT, `${name.split('/')[1]}-${version}`);
  const program = join(folder, 'package/bin/bun');
  const runtime = { target: `bun-${machine}`, file: program } as const;
  if (existsSync(program)) return runtime;
  const aside = mkdtempSync(join(tmpdir(), 'tollgate-runtime-'));
  try {
    const packed = await run(['npm', 'pack', `${name}@${version}`, '--silent', '--pack-destination', aside]);
    const file = join(aside, packed.trim().split('\n').at(-1) ?? '');
    checkIntegrity(file, integrity);
    await run(['tar', '-xzf', file, '-C', aside]);
    rmSync(file);
    mkdirSync(KEPT, { recursive: true });
    rmSync(folder, { recursive: true, force: true });
    await run(['cp', '-R', aside, `${folder}.part`]);
    renameSync(`${folder}.part`, folder);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  return runtime;
}

function lockEntry(name: string): { readonly version: string; readonly integrity: string } {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const entry = lock.packages[`node_modules/${name}`];
  if (entry === undefined) throw new Error(`package-lock.json has no entry of ${name}`);
  return entry;
}

/** @throws if the file is not the one that the lock file names. */
export function checkIntegrity(file: string, integrity: string): void {
  const found = `sha512-${new Bun.CryptoHasher('sha512').update(readFileSync(file)).digest('base64')}`;
  if (found !== integrity)
    throw new Error(`${file} is not the file of package-lock.json: found ${found}, expected ${integrity}`);
}

async function run(command: readonly string[]): Promise<string> {
  const running = Bun.spawn([...command], { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr] = await Promise.all([
    new Response(running.stdout).text(),
    new Response(running.stderr).text(),
  ]);
  if ((await running.exited) !== 0) throw new Error(`${command.join(' ')} failed:\n${stderr}`);
  return stdout;
}

/**
 * Runs `npm run check`: every check of the repository, one line each; prints the output of a check only if it fails.
 */
import { join, resolve } from 'node:path';

interface Step {
  readonly name: string;
  /** Script and arguments, run by this same Bun. */
  readonly command: readonly string[];
}

const ROOT = resolve(import.meta.dir, '../../..');
const TEST_DRIVER = join(import.meta.dir, '../test-runner/main.ts');
const STATIC_STEPS: readonly Step[] = [
  { name: 'types', command: ['node_modules/typescript/bin/tsc', '--noEmit', '-p', '.'] },
  { name: 'types of console', command: ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'console'] },
  { name: 'lint and format', command: ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings'] },
  { name: 'dead code', command: ['node_modules/knip/bin/knip.js', '--no-progress'] },
];
const TEST_STEPS: readonly Step[] = [
  { name: 'architecture', command: [TEST_DRIVER, 'architecture'] },
  { name: 'tests', command: [TEST_DRIVER] },
];

/** Runs one step; returns whether it passed. */
async function hold({ name, command }: Step): Promise<boolean> {
  const start = performance.now();
  const running = Bun.spawn([process.execPath, ...command], { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr] = await Promise.all([
    new Response(running.stdout).text(),
    new Response(running.stderr).text(),
  ]);
  const good = (await running.exited) === 0;
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const closing = good && TEST_STEPS.some((step) => step.name === name) ? stdout.trimEnd().split('\n').at(-1) : '';
  if (!good) process.stdout.write(`${stdout}${stderr}`);
  process.stdout.write(`${good ? 'ok    ' : 'FAILED'} ${name.padEnd(16)} ${seconds.padStart(6)} s  ${closing}\n`);
  return good;
}

const withTests = !process.argv.includes('--without-tests');
const broken: string[] = [];
for (const step of withTests ? [...STATIC_STEPS, ...TEST_STEPS] : STATIC_STEPS) {
  if (!(await hold(step))) broken.push(step.name);
}
if (broken.length > 0) process.stdout.write(`check failed: ${broken.join(', ')}\n`);
process.exit(broken.length === 0 ? 0 : 1);

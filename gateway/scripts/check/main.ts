/**
 * Runs `npm run check`: types, lint, dead code, language and architecture, one line each; prints the output of a check
 * only if it fails. Tests are `npm test`.
 */
import { resolve } from 'node:path';
import { plainInterface, plainWords } from '../../test/architecture/language-rules.ts';
import { RULES } from '../../test/architecture/rules.ts';
import { readTree, type Tree } from '../../test/architecture/source-tree.ts';

interface Outcome {
  readonly good: boolean;
  readonly output: string;
}

const ROOT = resolve(import.meta.dir, '../../..');
const LANGUAGE: ReadonlySet<unknown> = new Set([plainWords, plainInterface]);

/** Runs a script with its arguments by this same Bun. */
async function run(command: readonly string[]): Promise<Outcome> {
  const running = Bun.spawn([process.execPath, ...command], { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr] = await Promise.all([
    new Response(running.stdout).text(),
    new Response(running.stderr).text(),
  ]);
  return { good: (await running.exited) === 0, output: stdout + stderr };
}

/** Type checks keep what they found, so that the next run reads changed files only. */
function types(project: string, name: string): Promise<Outcome> {
  const kept = `node_modules/.tsinfo-check-${name}`;
  const tsc = 'node_modules/typescript/bin/tsc';
  return run([tsc, '--noEmit', '--incremental', '--tsBuildInfoFile', kept, '-p', project]);
}

function rules(tree: Tree, areLanguage: boolean): Outcome {
  const chosen = Object.entries(RULES).filter(([, rule]) => LANGUAGE.has(rule) === areLanguage);
  const found = chosen.flatMap(([name, rule]) => rule(tree).map((violation) => `${name}: ${violation}\n`));
  return { good: found.length === 0, output: found.join('') };
}

const STEPS: readonly (readonly [name: string, step: () => Outcome | Promise<Outcome>])[] = [
  ['types', () => types('.', 'gateway')],
  ['types of scanner', () => types('gateway/src/wire/simd/assembly', 'scanner')],
  ['types of console', () => types('console', 'console')],
  ['lint and format', () => run(['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings'])],
  ['dead code', () => run(['node_modules/knip/bin/knip.js', '--no-progress'])],
  ['language', () => rules(readTree(ROOT), true)],
  ['architecture', () => rules(readTree(ROOT), false)],
];

const broken: string[] = [];
for (const [name, step] of STEPS) {
  const start = performance.now();
  const { good, output } = await step();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if (!good) {
    broken.push(name);
    process.stdout.write(output);
  }
  process.stdout.write(`${good ? 'ok    ' : 'FAILED'} ${name.padEnd(16)} ${seconds.padStart(6)} s\n`);
}
if (broken.length > 0) process.stdout.write(`check failed: ${broken.join(', ')}\n`);
process.exitCode = broken.length === 0 ? 0 : 1;

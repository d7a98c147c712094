/** Tests that every command line in README.md and the guides names a command and flags that exist. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import type { CliEnvironment } from '../../src/cli/environment.ts';

const ROOT = resolve(import.meta.dir, '../../..');
const COMMANDS = join(ROOT, 'gateway/src/cli/commands');

interface CommandLine {
  readonly page: string;
  readonly words: readonly string[];
}

async function createProgram(): Promise<Command> {
  const program = new Command('tollgate').version('0');
  const environment: CliEnvironment = { dataDir: '', stdout() {}, stderr() {}, nowMs: Date.now };
  for (const file of new Bun.Glob('**/*.ts').scanSync(COMMANDS)) {
    if (file.endsWith('.test.ts')) continue;
    const { register } = await import(join(COMMANDS, file));
    register?.(program, environment);
  }
  return program;
}

/** In blocks of shell commands, and in code within sentences. */
function commandLines(page: string): CommandLine[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) =>
    block.replaceAll(/\\\n\s*/g, '').split('\n'),
  );
  const inline = [...text.replaceAll(/```.*?```/gs, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  return [...blocks, ...inline].flatMap((line) => {
    const [, rest] = /^(?:[A-Z_]+=\S* )*(?:bin\/|npx |\.\/|podman exec \S+ )?tollgate (.*)$/.exec(line) ?? [];
    return rest === undefined ? [] : [{ page, words: wordsOf(rest) }];
  });
}

/** Up to a comment, a pipe or the next command. */
function wordsOf(line: string): string[] {
  const words = line.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  const end = words.findIndex((word) => /^(#|\||>|&&|;)/.test(word));
  return end === -1 ? words : words.slice(0, end);
}

/** What is wrong with a command line; null: nothing. */
function faultOf(program: Command, words: readonly string[]): string | null {
  let command = program;
  let rest = [...words];
  while (command.commands.length > 0 && rest[0] !== undefined && !rest[0].startsWith('-')) {
    const name = rest[0];
    const next = command.commands.find((one) => one.name() === name || one.aliases().includes(name));
    if (next === undefined) return `${command.name()} has no command ${name}`;
    [command, rest] = [next, rest.slice(1)];
  }
  const known = command.options.flatMap(({ long, short }) => [long, short]);
  const flags = rest.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split('=')[0]);
  const unknown = flags.find((flag) => flag !== '--help' && !known.includes(flag));
  return unknown === undefined ? null : `${command.name()} has no flag ${unknown}`;
}

test('every command and flag that a guide names exists', async () => {
  const program = await createProgram();
  const pages = ['README.md', ...new Bun.Glob('docs/*.md').scanSync({ cwd: ROOT })];
  const lines = pages.flatMap(commandLines);
  expect(lines.length).toBeGreaterThan(100);
  const faults = lines.flatMap(({ page, words }) => {
    const fault = faultOf(program, words);
    return fault === null ? [] : [`${page}: tollgate ${words.join(' ')}: ${fault}`];
  });
  expect(faults).toEqual([]);
});

test('a command or flag that does not exist is found', async () => {
  const program = await createProgram();
  expect(faultOf(program, ['keys', 'make'])).toBe('keys has no command make');
  expect(faultOf(program, ['keys', 'create', '--nme', 'ci'])).toBe('create has no flag --nme');
  expect(faultOf(program, ['keys', 'rotate', 'ID', '--grace', '24h'])).toBeNull();
});

test('every command that prints takes --json, as README.md says', async () => {
  const leaves = (command: Command): Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
  const without = leaves(await createProgram()).filter(({ options }) => !options.some(({ long }) => long === '--json'));
  expect(without.map((command) => command.name()).sort()).toEqual(['health', 'serve']);
});

/** Runs a command line in this process for tests, and returns its output and exit status. */
import { dirname } from 'node:path';
import { Command, CommanderError } from 'commander';
import * as accounts from '../commands/accounts.ts';
import * as alerts from '../commands/books/alerts.ts';
import * as guardrails from '../commands/books/guardrails.ts';
import * as migrate from '../commands/books/migrate.ts';
import * as reconcile from '../commands/books/reconcile.ts';
import * as statement from '../commands/books/statement.ts';
import * as credentials from '../commands/credentials.ts';
import * as data from '../commands/data.ts';
import * as keys from '../commands/keys.ts';
import * as limits from '../commands/limits.ts';
import * as calls from '../commands/requests.ts';
import * as routes from '../commands/routes.ts';
import * as users from '../commands/users.ts';
import * as workspaces from '../commands/workspaces.ts';
import { type CliEnvironment, CliFailure } from '../environment.ts';

export interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The current time for every command that `runProgram` runs, unix ms. */
export const NOW_MS = Date.UTC(2026, 10, 20, 12);

/** Runs a command line, such as `['keys', 'list']`, over a data folder, in that folder's parent, at `NOW_MS`. */
export function runProgram(dataDir: string, ...words: readonly string[]): Promise<Outcome> {
  return runProgramAt(() => NOW_MS, dataDir, words);
}

/** As `runProgram`, with the current time from `nowMs`. */
export async function runProgramAt(nowMs: () => number, dataDir: string, words: readonly string[]): Promise<Outcome> {
  let [stdout, stderr] = ['', ''];
  const environment: CliEnvironment = {
    dataDir,
    stdout: (text) => {
      stdout += text;
    },
    stderr: (text) => {
      stderr += text;
    },
    nowMs,
  };
  const program = new Command('tollgate')
    .exitOverride()
    .configureOutput({ writeOut: environment.stdout, writeErr: environment.stderr });
  for (const { register } of [
    keys,
    workspaces,
    accounts,
    limits,
    calls,
    data,
    routes,
    credentials,
    migrate,
    reconcile,
    alerts,
    guardrails,
    statement,
  ])
    register(program, environment);
  users.register(program, environment, { environment: {}, cwd: dirname(dataDir) });
  try {
    await program.parseAsync(words, { from: 'user' });
    return { exitCode: 0, stdout, stderr };
  } catch (fault) {
    if (fault instanceof CommanderError) return { exitCode: fault.exitCode === 0 ? 0 : 2, stdout, stderr };
    if (fault instanceof CliFailure) return { exitCode: fault.exitCode, stdout, stderr: stderr + fault.message };
    throw fault;
  }
}

/** Defines the command line: its commands and their exit statuses. The commands are in cli/commands/. */
import { resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { register as registerAccounts } from './cli/commands/accounts.ts';
import { register as registerAlerts } from './cli/commands/books/alerts.ts';
import { register as registerGuardrails } from './cli/commands/books/guardrails.ts';
import { register as registerMigrate } from './cli/commands/books/migrate.ts';
import { register as registerReconcile } from './cli/commands/books/reconcile.ts';
import { register as registerStatement } from './cli/commands/books/statement.ts';
import { register as registerCheck } from './cli/commands/check.ts';
import { register as registerConnect } from './cli/commands/connect.ts';
import { register as registerCredentials } from './cli/commands/credentials.ts';
import { register as registerData } from './cli/commands/data.ts';
import { register as registerHealth } from './cli/commands/health.ts';
import { register as registerKeys } from './cli/commands/keys.ts';
import { register as registerLimits } from './cli/commands/limits.ts';
import { register as registerProviders } from './cli/commands/providers.ts';
import { register as registerRequests } from './cli/commands/requests.ts';
import { register as registerRoutes } from './cli/commands/routes.ts';
import { register as registerServe } from './cli/commands/serve.ts';
import { register as registerUsers } from './cli/commands/users.ts';
import { register as registerWorkspaces } from './cli/commands/workspaces.ts';
import { type CliEnvironment, CliFailure } from './cli/environment.ts';
import { DEFAULT_DATA_DIR } from './config/config.ts';

const FAILED = 1;
const WRONG_USAGE = 2;
/** What `npx tollgate` and a binary without arguments do. */
const WITHOUT_WORDS = ['serve'] as const;

function createProgram(environment: CliEnvironment): Command {
  const program = new Command('tollgate')
    .description(
      'An LLM gateway: one address for every model, API keys with budgets and limits, a durable record of each request.',
    )
    .version(manifest.version)
    .configureOutput({ writeOut: environment.stdout, writeErr: environment.stderr })
    .exitOverride();
  for (const register of [
    registerServe,
    registerKeys,
    registerWorkspaces,
    registerAccounts,
    registerLimits,
    registerRequests,
    registerRoutes,
    registerCredentials,
    registerProviders,
    registerData,
    registerUsers,
    registerCheck,
    registerHealth,
    registerConnect,
    registerMigrate,
    registerReconcile,
    registerAlerts,
    registerGuardrails,
    registerStatement,
  ]) {
    register(program, environment);
  }
  return program;
}

/** The exit status of a command line: 0 done, 1 failed, 2 wrong usage. */
async function run(words: readonly string[], environment: CliEnvironment): Promise<number> {
  try {
    await createProgram(environment).parseAsync(words.length === 0 ? [...WITHOUT_WORDS] : [...words], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
    if (!(error instanceof CliFailure)) throw error;
    if (error.message !== '') environment.stderr(`${error.message}\n`);
    return error.exitCode;
  }
}

process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
  // A reader such as `head` has what it wants.
  if (fault.code === 'EPIPE') return;
  process.stderr.write(`The output cannot be written: ${fault.message}\n`);
  process.exitCode = FAILED;
});
process.stderr.on('error', () => undefined);
const status = await run(process.argv.slice(2), {
  dataDir: resolve(process.env.TOLLGATE_DATA_DIR || DEFAULT_DATA_DIR),
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  nowMs: Date.now,
});
process.exitCode ||= status;

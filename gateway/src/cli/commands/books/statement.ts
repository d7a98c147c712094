/** Defines the command `tollgate statement`: flags and output. The statement is built in control/. */
import type { Command } from 'commander';
import { type MonthlyStatement, renderStatementCsv } from '../../../control/statements/monthly-statement.ts';
import { administer } from '../../administer.ts';
import { type CliEnvironment, renderJsonLine } from '../../environment.ts';

interface Flags {
  readonly month?: string;
  readonly json?: true;
}

/** Adds `statement` to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  program
    .command('statement')
    .description('print the monthly statement of an account as CSV: charges by workspace, key and model, and credits')
    .argument('[account]', 'the id of the account', 'default')
    .option(
      '--month <month>',
      'calendar month in the account’s time zone, such as 2026-10 (default: the last one that has ended)',
    )
    .option('--json', 'print JSON')
    .action(async (account: string, { month, json }: Flags) => {
      const given = { account, ...(month === undefined ? {} : { month }) };
      const statement = (await administer(environment, 'accounts.statement', given)) as MonthlyStatement;
      environment.stdout(json === true ? renderJsonLine(statement) : [...renderStatementCsv(statement)].join(''));
    });
}

/** Defines the command that reads an account's monthly statement. */
import { z } from 'zod';
import { givenId, quote } from '../arguments.ts';
import { CommandFailure, type ControlCommand, defineCommand, findAccount } from '../command.ts';
import { MONTH_PATTERN, monthRange, readMonthlyStatement, usualMonth } from './monthly-statement.ts';

const read = defineCommand(
  z.strictObject({
    account: givenId,
    month: z
      .string()
      .regex(MONTH_PATTERN, { error: ({ input }) => `found ${quote(input)}, expected a month such as 2026-10` })
      .optional(),
  }),
  async (run, given) => {
    const account = findAccount(run, given.account);
    const nowMs = run.nowMs();
    const month = given.month ?? usualMonth(account, nowMs);
    if (monthRange(month, account.timeZone).fromMs > nowMs) {
      throw new CommandFailure(`month: found ${month}, expected a month that has begun`, 'usage');
    }
    return readMonthlyStatement(run.statements, account, month, nowMs);
  },
);

/** It changes nothing, and may read long. */
export const STATEMENT_COMMANDS: readonly (readonly [string, ControlCommand])[] = [['accounts.statement', read]];

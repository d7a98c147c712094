/** Serves monthly statements: the lines that cost most for a page, and all of them as a file. */
import {
  type MonthlyStatement,
  monthAt,
  monthRange,
  readMonthlyStatement,
  renderStatementCsv,
  type StatementLine,
  usualMonth,
} from '../../control/statements/monthly-statement.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { CHARGED_TOKENS } from '../../store/ports/ledger.ts';
import type { Reply } from '../contract/contract.ts';
import type { Tenancy } from '../kernel/actor.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { findAccount, type PolicyParts } from './policy-parts.ts';

const LINES_SHOWN = 1_000;

export function statementHandlers(parts: PolicyParts) {
  return {
    'GET /accounts/{account}/statement': async ({ tenancy, query }) => {
      const { statement, createdMs } = await read(parts, tenancy, query.month);
      const { lines, ...common } = statement;
      const zone = statement.time_zone;
      const first = monthAt(zone, createdMs);
      return {
        ...common,
        movements: [...common.movements],
        ...showLines(lines),
        months: { first: first < statement.month ? first : statement.month, last: monthAt(zone, parts.nowMs()) },
      };
    },
    'GET /accounts/{account}/statement.csv': async ({ tenancy, query }) => {
      const { statement } = await read(parts, tenancy, query.month);
      return {
        name: `tollgate-statement-${statement.account}-${statement.month}.csv`,
        lines: (async function* () {
          yield* renderStatementCsv(statement);
        })(),
      };
    },
  } satisfies Partial<Handlers>;
}

async function read(
  parts: PolicyParts,
  tenancy: Tenancy,
  requested: string | undefined,
): Promise<{ readonly statement: MonthlyStatement; readonly createdMs: number }> {
  const account = findAccount(parts, tenancy);
  const nowMs = parts.nowMs();
  const month = requested ?? usualMonth(account, nowMs);
  if (monthRange(month, account.timeZone).fromMs > nowMs) {
    throw new ConsoleFailure('invalid', `month: found ${month}, expected a month that has begun`, { member: 'month' });
  }
  const statement = await readMonthlyStatement(parts.statements, account, month, nowMs);
  return { statement, createdMs: account.createdAtMs };
}

type Shown = Pick<Reply<'GET /accounts/{account}/statement'>, 'lines' | 'rest'>;

/** Keeps the order of the lines that are shown. */
export function showLines(lines: readonly StatementLine[], shownMax = LINES_SHOWN): Shown {
  if (lines.length <= shownMax) return { lines: [...lines], rest: null };
  const byCost = [...lines].sort((one, other) => (BigInt(one.cost_nano_usd) > BigInt(other.cost_nano_usd) ? -1 : 1));
  const shown = new Set(byCost.slice(0, shownMax));
  const others = lines.filter((line) => !shown.has(line));
  const tokens = CHARGED_TOKENS.map((kind) => [kind, others.reduce((sum, line) => sum + line[kind], 0)] as const);
  return {
    lines: lines.filter((line) => shown.has(line)),
    rest: {
      lines: others.length,
      requests: others.reduce((sum, { requests }) => sum + requests, 0),
      ...(Object.fromEntries(tokens) as Record<(typeof CHARGED_TOKENS)[number], number>),
      cost_nano_usd: others.reduce((sum, line) => sum + BigInt(line.cost_nano_usd), 0n).toString(),
    },
  };
}

/** Defines the routes about monthly statements. */
import { z } from 'zod';
import { id, nanoUsd, type RouteTable, time } from './row.ts';

const month = z.string().regex(/^20\d{2}-(?:0[1-9]|1[0-2])$/, 'expected a month such as 2026-10');
/** In the account's time zone. Omitted: the last month that has ended. */
const query = z.object({ month: month.optional() });
const tokens = {
  input: z.int(),
  cache_read: z.int(),
  cache_write_5m: z.int(),
  cache_write_1h: z.int(),
  /** Including reasoning. */
  output: z.int(),
};

export const statementRoutes = {
  'GET /accounts/{account}/statement': {
    summary: 'Returns the statement of a calendar month: charges by workspace, key and model, credits, and balances.',
    access: 'billing.read',
    query,
    reply: z.object({
      account: id,
      name: z.string(),
      mode: z.enum(['postpaid', 'prepaid']),
      month,
      time_zone: z.string(),
      from: time,
      to: time,
      /** False: the month goes on, and the statement is of what has happened so far. */
      final: z.boolean(),
      /** Null, as the closing balance: postpaid. */
      opening_nano_usd: nanoUsd.nullable(),
      closing_nano_usd: nanoUsd.nullable(),
      credits_nano_usd: nanoUsd,
      charges_nano_usd: nanoUsd,
      /** By workspace, the highest cost first; at most the 1,000 with the highest cost. Only charged requests count. */
      lines: z.array(
        z.object({
          workspace: z.string().nullable(),
          key: z.string().nullable(),
          key_name: z.string().nullable(),
          model: z.string().nullable(),
          requests: z.int(),
          ...tokens,
          cost_nano_usd: nanoUsd,
        }),
      ),
      /** The sum of all further lines, which the file lists; null: none. */
      rest: z.object({ lines: z.int(), requests: z.int(), ...tokens, cost_nano_usd: nanoUsd }).nullable(),
      movements: z.array(
        z.object({
          at: time,
          kind: z.enum(['topup', 'correct']),
          ref: z.string(),
          note: z.string().nullable(),
          amount_nano_usd: nanoUsd,
        }),
      ),
      /** From the month in which the account was created to the current one. */
      months: z.object({ first: month, last: month }),
    }),
  },
  'GET /accounts/{account}/statement.csv': {
    summary: 'Exports the statement of a calendar month as a file, with every line.',
    access: 'billing.read',
    query,
    reply: 'csv',
  },
} as const satisfies RouteTable;

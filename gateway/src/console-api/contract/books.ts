/** Defines the routes about reconciliations with providers. They belong to the operator. */
import { z } from 'zod';
import { CAUSES } from '../../store/ports/books/reconciliation.ts';
import { nanoUsd, type RouteTable, time } from './row.ts';

const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, 'a day such as 2026-11-23');

const summary = z.object({
  id: z.string(),
  /** Names of providers, joined by commas. */
  providers: z.string(),
  format: z.string(),
  file: z.string(),
  imported_at: time,
  first_day: day,
  last_day: day,
  time_zone: z.string(),
  lines: z.int(),
  billed_nano_usd: nanoUsd,
  recorded_nano_usd: nanoUsd,
  explained_nano_usd: nanoUsd,
  findings: z.int(),
});

export const bookRoutes = {
  'GET /reconciliations': {
    summary: 'Lists the comparisons of providers’ exports with the records, newest first, at most 100.',
    access: 'operator.read',
    reply: z.object({ reconciliations: z.array(summary) }),
  },
  'GET /reconciliations/{reconciliation}': {
    summary: 'Returns a comparison: its days and models, and the findings that explain the differences.',
    access: 'operator.read',
    reply: summary.extend({
      days: z.array(
        z.object({
          day,
          model: z.string(),
          /** Null: the export does not state it. */
          billed_requests: z.int().nullable(),
          recorded_requests: z.int(),
          billed_nano_usd: nanoUsd.nullable(),
          recorded_nano_usd: nanoUsd,
          explained_nano_usd: nanoUsd,
        }),
      ),
      list: z.array(
        z.object({
          day,
          model: z.string(),
          cause: z.enum(CAUSES),
          amount_nano_usd: nanoUsd,
          count: z.int(),
          request_id: z.string().nullable(),
          attempt: z.int().nullable(),
          provider_request_id: z.string().nullable(),
          detail: z.string(),
        }),
      ),
    }),
  },
  'GET /reconciliations/{reconciliation}/findings.csv': {
    summary: 'Exports the findings of a comparison as a file.',
    access: 'operator.read',
    reply: 'csv',
  },
} as const satisfies RouteTable;

/** Serves reconciliations with providers as a list, in detail and as a CSV export. Read-only. */

import { formatNanoUsd } from '../../billing/money.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { csvLine } from '../../lib/tables/csv-line.ts';
import type {
  Finding,
  ReconciledDay,
  Reconciliation,
  ReconciliationReader,
  ReconciliationSummary,
} from '../../store/ports/books/reconciliation.ts';
import type { Handlers } from '../kernel/handlers.ts';

const LIST_MAX = 100;
const COLUMNS = ['day', 'model', 'cause', 'usd', 'count', 'request_id', 'attempt', 'provider_request_id', 'detail'];

export function reconciliationHandlers({ reconciliations }: { readonly reconciliations: ReconciliationReader }) {
  async function find(id: string): Promise<Reconciliation> {
    const found = await reconciliations.read(id);
    if (found !== null) return found;
    throw new ConsoleFailure('not_found', 'there is no such reconciliation; see the list of imports', {
      page: '/app/reconciliation',
    });
  }
  return {
    'GET /reconciliations': async () => ({
      reconciliations: (await reconciliations.list(LIST_MAX)).map(showSummary),
    }),
    'GET /reconciliations/{reconciliation}': async ({ path }) => {
      const { days, list, ...summary } = await find(path.reconciliation);
      return { ...showSummary(summary), days: days.map(showDay), list: list.map(showFinding) };
    },
    'GET /reconciliations/{reconciliation}/findings.csv': async ({ path }) => {
      const { id, list } = await find(path.reconciliation);
      return { name: `tollgate-findings-${id}.csv`, lines: renderFindings(list) };
    },
  } satisfies Partial<Handlers>;
}

function showSummary(summary: ReconciliationSummary) {
  const { id, providers, format, file, lines, findings } = summary;
  return {
    ...{ id, providers, format, file, lines, findings },
    imported_at: new Date(summary.importedAtMs).toISOString(),
    first_day: summary.firstDay,
    last_day: summary.lastDay,
    time_zone: summary.timeZone,
    billed_nano_usd: summary.billed.toString(),
    recorded_nano_usd: summary.recorded.toString(),
    explained_nano_usd: summary.explained.toString(),
  };
}

function showDay({ day, model, billedRequests, recordedRequests, billed, recorded, explained }: ReconciledDay) {
  return {
    day,
    model,
    billed_requests: billedRequests,
    recorded_requests: recordedRequests,
    billed_nano_usd: billed === null ? null : billed.toString(),
    recorded_nano_usd: recorded.toString(),
    explained_nano_usd: explained.toString(),
  };
}

function showFinding({ day, model, cause, amount, count, requestId, attempt, providerRequestId, detail }: Finding) {
  return {
    ...{ day, model, cause, count, attempt, detail },
    amount_nano_usd: amount.toString(),
    request_id: requestId,
    provider_request_id: providerRequestId,
  };
}

async function* renderFindings(list: readonly Finding[]): AsyncGenerator<string> {
  yield csvLine(COLUMNS);
  for (const { day, model, cause, amount, count, requestId, attempt, providerRequestId, detail } of list) {
    yield csvLine([day, model, cause, formatNanoUsd(amount), count, requestId, attempt, providerRequestId, detail]);
  }
}

/** Renders the reconciliation page: a provider's export beside the records, and why they differ. */
import { addressOf } from '../../lib/api.ts';
import { wholeNumber } from '../../lib/format.ts';
import { useReply } from '../../lib/queries.ts';
import { useFilters } from '../../route/route.ts';
import { When } from '../../ui/amounts.tsx';
import { FileLink } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CONTROL } from '../../ui/field.tsx';
import { Empty, Page, SkeletonRows } from '../../ui/page.tsx';
import { ComparisonView } from './comparison-view.tsx';
import type { Summary } from './reconciliation.ts';

const COMMAND = 'tollgate reconcile import activity.csv --provider openrouter';

export default function ReconciliationPage() {
  const [filters, setFilters] = useFilters();
  const { data, error, refetch } = useReply('GET /reconciliations', {});
  const chosen = data?.reconciliations.find(({ id }) => id === filters.import) ?? data?.reconciliations[0];
  return (
    <Page
      title="Reconciliation"
      lead="Providers’ invoices compared with your records, and the cause of each difference."
      action={
        chosen && (
          <FileLink
            href={
              addressOf('GET /reconciliations/{reconciliation}/findings.csv', { path: { reconciliation: chosen.id } })
                .url
            }
          >
            Findings CSV
          </FileLink>
        )
      }
      filters={
        data &&
        chosen && (
          <>
            <select
              data-filter
              aria-label="Import"
              className={`${CONTROL} min-w-0 max-w-full sm:w-96`}
              value={chosen.id}
              onChange={({ target }) => setFilters({ import: target.value, cause: undefined, open: undefined })}
            >
              {data.reconciliations.map((each) => (
                <option key={each.id} value={each.id}>
                  {nameOf(each)}
                </option>
              ))}
            </select>
            <p className="self-center text-ink-2">
              {chosen.file}, {wholeNumber(chosen.lines)} lines, imported <When at={chosen.imported_at} />
            </p>
          </>
        )
      }
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows />}
      {data !== undefined && chosen === undefined && (
        <Empty
          title="No imports yet"
          action={
            <div className="w-full max-w-xl text-left">
              <CodeBlock what="Command" text={COMMAND} wraps />
            </div>
          }
        >
          Export the usage or costs of a provider (OpenAI, Anthropic, AWS or OpenRouter) as CSV or JSON, and import the
          file on the gateway’s machine. Days, models and requests that differ appear here.
        </Empty>
      )}
      {chosen !== undefined && <ComparisonView key={chosen.id} id={chosen.id} />}
    </Page>
  );
}

function nameOf({ providers, first_day, last_day }: Summary): string {
  return `${providers}, ${first_day === last_day ? first_day : `${first_day} to ${last_day}`}`;
}

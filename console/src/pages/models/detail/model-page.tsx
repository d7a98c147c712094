/** Renders the page of one model: its figures over a range, prices and facts, beside another model if asked. */
import { RangeChoice } from '../../../filters/range-choice.tsx';
import { readRange, type TimeRange } from '../../../filters/time-range.ts';
import { useChosenAt } from '../../../filters/use-chosen-at.ts';
import { useReply } from '../../../lib/queries.ts';
import { useAccount, useSession } from '../../../lib/session.ts';
import { useZone } from '../../../lib/zone.ts';
import { Link } from '../../../route/link.tsx';
import { useFilters, usePathNames } from '../../../route/route.ts';
import { SnippetChoice } from '../../../snippets/snippet-choice.tsx';
import { buttonClasses } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/error-note.tsx';
import { CONTROL } from '../../../ui/field.tsx';
import { Empty, Page, Panel, Section, SkeletonLine, SkeletonRows } from '../../../ui/page.tsx';
import type { ModelView } from '../model-facts.ts';
import { FACT_ROWS, type Figures, priceRows, type Row, USE_ROWS } from './model-figures.ts';

const LATEST_STREAMS = 50;

/** `name`: null asks nothing. */
function useFigures(name: string | null, range: TimeRange): Omit<Figures, 'model'> & { readonly error: Error | null } {
  const { account, may } = useAccount();
  const { from, to } = range;
  const query = { model: name ?? '', from, to };
  const options = { enabled: name !== null, keepsPrevious: true };
  const usage = useReply('GET /accounts/{account}/usage', { path: { account }, query }, options);
  const mayLog = may('logs.read');
  const logs = useReply(
    'GET /accounts/{account}/logs',
    { path: { account }, query: { ...query, q: 'stream:yes status:200', limit: LATEST_STREAMS } },
    { ...options, enabled: options.enabled && mayLog },
  );
  return {
    sums: usage.data?.total,
    calls: mayLog ? (logs.error === null ? logs.data?.calls : []) : null,
    error: usage.error ?? logs.error,
  };
}

export default function ModelPage() {
  const { model: name = '' } = usePathNames();
  const { account } = useAccount();
  const [search, change] = useFilters();
  const zone = useZone();
  const range = readRange(search, '7d', useChosenAt(search), zone);
  const models = useReply('GET /accounts/{account}/models', { path: { account } });
  const find = (one: string | undefined) => models.data?.models.find((model) => model.name === one);
  const [own, other] = [find(name), find(search.with)];
  const ownFigures = useFigures(own?.name ?? null, range);
  const otherFigures = useFigures(other?.name ?? null, range);
  const compared: readonly Figures[] = [
    ...(own === undefined ? [] : [{ ...ownFigures, model: own }]),
    ...(other === undefined ? [] : [{ ...otherFigures, model: other }]),
  ];
  const error = models.error ?? ownFigures.error ?? otherFigures.error;
  return (
    <Page
      title={own?.display_name ?? name}
      lead={
        <>
          Usage of this account by requests that name <code>{name}</code>, and what it costs.
        </>
      }
      hasTimes
      action={
        own !== undefined && (
          <>
            <Link to="/app/models" search={{ model: name }} className={buttonClasses()}>
              Prices and routing
            </Link>
            <Link to="/app/playground" search={{ model: name }} className={buttonClasses('primary')}>
              Open in playground
            </Link>
          </>
        )
      }
      filters={
        own !== undefined && (
          <>
            <RangeChoice range={range} />
            <select
              data-filter
              aria-label="Compare with"
              className={`${CONTROL} sm:max-w-64`}
              value={other?.name ?? ''}
              onChange={({ target }) => change({ with: target.value })}
            >
              <option value="">Compare with…</option>
              {models.data?.models
                .filter((model) => model.name !== name)
                .map((model) => (
                  <option key={model.name}>{model.name}</option>
                ))}
            </select>
          </>
        )
      }
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void models.refetch()} />}
      {models.data === undefined && models.error === null && <SkeletonRows rows={10} />}
      {models.data !== undefined && own === undefined && (
        <Empty
          title="No such model"
          action={
            <Link to="/app/models" className={buttonClasses('primary')}>
              Show all models
            </Link>
          }
        >
          No model is named “{name}”. It may have been removed, or renamed in the configuration.
        </Empty>
      )}
      {own !== undefined && (
        <>
          <ComparedTable title="Usage" rows={USE_ROWS} compared={compared} />
          <ComparedTable
            title="Price (USD per million tokens)"
            rows={priceRows(compared.map(({ model }) => model))}
            compared={compared}
          />
          <ComparedTable title="Details" rows={FACT_ROWS} compared={compared} />
          <Call model={own} />
        </>
      )}
    </Page>
  );
}

interface ComparedTableProps {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly compared: readonly Figures[];
}

function ComparedTable({ title, rows, compared }: ComparedTableProps) {
  const isCompared = compared.length > 1;
  return (
    <Section title={title}>
      <Panel className="overflow-x-auto">
        <table aria-label={title} className="w-full table-fixed border-separate border-spacing-0 text-left">
          <thead className={isCompared ? '' : 'sr-only'}>
            <tr>
              <th scope="col" className="w-2/5 border-b border-line px-3 py-1 font-medium text-ink-2 sm:w-64">
                <span className="sr-only">Figure</span>
              </th>
              {compared.map(({ model }) => (
                <th key={model.name} scope="col" className="border-b border-line px-3 py-1 font-medium">
                  <code className="break-all">{model.name}</code>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ label, hint, text }) => (
              <tr key={label} className="group">
                <th
                  scope="row"
                  className="w-2/5 border-b border-line px-3 py-1.5 align-top font-normal text-ink-2 group-last:border-0 sm:w-64"
                >
                  {label}
                  {hint !== undefined && <span className="block text-sm text-ink-3">{hint}</span>}
                </th>
                {compared.map((figures) => (
                  <td
                    key={figures.model.name}
                    className="figures border-b border-line px-3 py-1.5 align-top break-words group-last:border-0"
                  >
                    {text(figures) ?? (
                      <span role="status" aria-label="Loading">
                        <SkeletonLine width={40} />
                      </span>
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Panel>
    </Section>
  );
}

function Call({ model }: { readonly model: ModelView }) {
  const session = useSession();
  return (
    <Section title="Call it">
      <Panel className="p-4">
        <SnippetChoice
          first="curl"
          fill={{ url: session.data?.public_url ?? location.origin, key: 'tg_YOUR_KEY', model: model.name }}
        />
      </Panel>
    </Section>
  );
}

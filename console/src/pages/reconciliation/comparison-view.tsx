/** Renders one comparison: its figures, its days and models, and its findings. */
import { wholeNumber } from '../../lib/format.ts';
import { exactUsd, shortUsd } from '../../lib/money.ts';
import { useReply } from '../../lib/queries.ts';
import { Link } from '../../route/link.tsx';
import { useFilters } from '../../route/route.ts';
import { Money } from '../../ui/amounts.tsx';
import { Badge } from '../../ui/badge.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CONTROL } from '../../ui/field.tsx';
import { Panel, Section, SkeletonRows } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { FindingSheet } from './finding-sheet.tsx';
import {
  CAUSES,
  type Cause,
  type ComparedDay,
  type Comparison,
  differenceOf,
  differencePercent,
  type Finding,
  isDifferent,
  needsAttention,
} from './reconciliation.ts';

const FINDING_PX = 43;

const DAYS: readonly Column<ComparedDay>[] = [
  { id: 'day', head: 'Day', cell: ({ day }) => <span className="figures">{day}</span>, sortBy: ({ day }) => day },
  {
    id: 'model',
    head: 'Model',
    cell: ({ model }) => (
      <span className="block truncate font-medium max-md:max-w-28" title={model}>
        {model}
      </span>
    ),
    sortBy: ({ model }) => model,
  },
  {
    id: 'requests',
    head: 'Requests',
    align: 'right',
    wideOnly: true,
    cell: ({ billed_requests, recorded_requests }) =>
      billed_requests === null
        ? wholeNumber(recorded_requests)
        : `${wholeNumber(billed_requests)} billed, ${wholeNumber(recorded_requests)} recorded`,
  },
  {
    id: 'billed',
    head: 'Billed',
    align: 'right',
    wideOnly: true,
    cell: ({ billed_nano_usd }) => <Amount nanoUsd={billed_nano_usd} />,
  },
  {
    id: 'recorded',
    head: 'Recorded',
    align: 'right',
    wideOnly: true,
    cell: ({ recorded_nano_usd }) => <Amount nanoUsd={recorded_nano_usd} />,
  },
  { id: 'difference', head: 'Difference', align: 'right', cell: (day) => <Amount nanoUsd={differenceIn(day)} /> },
  {
    id: 'explained',
    head: 'Explained',
    align: 'right',
    wideOnly: true,
    cell: ({ explained_nano_usd }) => <Amount nanoUsd={explained_nano_usd} />,
  },
];

const FINDINGS: readonly Column<Finding>[] = [
  {
    id: 'cause',
    head: 'Cause',
    cell: ({ cause, count }) => (
      <span className="flex items-center gap-1.5">
        <Badge tone={CAUSES[cause].tone}>{CAUSES[cause].name}</Badge>
        {count > 1 && <span className="figures text-ink-3">× {wholeNumber(count)}</span>}
      </span>
    ),
    sortBy: ({ cause }) => CAUSES[cause].name,
  },
  {
    id: 'detail',
    head: 'Finding',
    cell: ({ day, model, detail }) => (
      <span className="block min-w-0 max-w-[60ch] max-md:max-w-32">
        <span className="block truncate" title={`${day} ${model}`}>
          <span className="figures text-ink-3">{day}</span> <span className="font-medium">{model}</span>
        </span>
        <span className="block truncate text-sm text-ink-2" title={detail}>
          {detail}
        </span>
      </span>
    ),
    sortBy: ({ day, model }) => `${day} ${model}`,
  },
  {
    id: 'request',
    head: 'Request',
    wideOnly: true,
    cell: ({ request_id, provider_request_id }) =>
      request_id === null ? (
        <span className="text-ink-3">{provider_request_id ?? 'No record'}</span>
      ) : (
        <Link to="/app/logs/{-$request}" names={{ request: request_id }} className="text-accent hover:underline">
          <code title={provider_request_id ?? request_id}>…{request_id.slice(-8)}</code>
        </Link>
      ),
  },
  {
    id: 'amount',
    head: 'USD',
    align: 'right',
    cell: ({ amount_nano_usd }) => <Money nanoUsd={amount_nano_usd} />,
    sortBy: ({ amount_nano_usd }) => BigInt(amount_nano_usd),
  },
];

export function ComparisonView({ id }: { readonly id: string }) {
  const [{ cause, open }, setFilters] = useFilters();
  const { data, error, refetch } = useReply('GET /reconciliations/{reconciliation}', { path: { reconciliation: id } });
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <SkeletonRows />;
  const placeOf = (finding: Finding) => String(data.list.indexOf(finding));
  const opened = open === undefined ? undefined : data.list[Number(open)];
  const days = data.days.filter(isDifferent);
  const causes = [...new Set(data.list.map((finding) => finding.cause))];
  const findings = data.list.filter((finding) => cause === undefined || finding.cause === cause);
  return (
    <>
      <Figures comparison={data} />
      <Section
        title="Findings"
        aside={
          causes.length > 1 && (
            <select
              aria-label="Cause"
              className={`${CONTROL} sm:w-44`}
              value={cause ?? ''}
              onChange={({ target }) => setFilters({ cause: target.value })}
            >
              <option value="">All causes</option>
              {causes.map((each: Cause) => (
                <option key={each} value={each}>
                  {CAUSES[each].name}
                </option>
              ))}
            </select>
          )
        }
      >
        {findings.length === 0 ? (
          <p className="text-ink-2">No differences: the export and the records agree.</p>
        ) : (
          <Table
            label="Findings"
            columns={FINDINGS}
            rows={findings}
            rowPx={FINDING_PX}
            rowKey={placeOf}
            openKey={open ?? null}
            onOpen={(finding) => setFilters({ open: placeOf(finding) })}
          />
        )}
      </Section>
      {days.length > 0 && (
        <Section title="Days and models that differ">
          <Table label="Days" columns={DAYS} rows={days} rowKey={({ day, model }) => `${day} ${model}`} />
          <p className="text-sm text-ink-3">
            Days in {data.time_zone}. Recorded amounts are at list prices, without markups.
          </p>
        </Section>
      )}
      {opened !== undefined && <FindingSheet finding={opened} onClose={() => setFilters({ open: undefined })} />}
    </>
  );
}

function Figures({ comparison }: { readonly comparison: Comparison }) {
  const difference = differenceOf(comparison);
  const unexplained = (BigInt(difference) - BigInt(comparison.explained_nano_usd)).toString();
  const isMuch = needsAttention(comparison);
  return (
    <Panel className="@container">
      <dl className="grid grid-cols-2 @2xl:grid-cols-4">
        <Figure name="Billed" nanoUsd={comparison.billed_nano_usd} description={`By ${comparison.providers}`} />
        <Figure name="Recorded" nanoUsd={comparison.recorded_nano_usd} description="At list prices" />
        <Figure
          name="Difference"
          nanoUsd={difference}
          description={`${differencePercent(comparison) ?? 'Nothing billed'}${isMuch ? ', above 1%' : ''}`}
          tone={isMuch ? 'text-amber' : ''}
        />
        <Figure
          name="Not explained"
          nanoUsd={unexplained}
          description={`${wholeNumber(comparison.findings)} ${comparison.findings === 1 ? 'finding' : 'findings'}`}
        />
      </dl>
    </Panel>
  );
}

function Figure({
  name,
  nanoUsd,
  description,
  tone = '',
}: {
  readonly name: string;
  readonly nanoUsd: string;
  readonly description: string;
  readonly tone?: string;
}) {
  return (
    <div className="min-w-0 px-4 py-3">
      <dt className="text-ink-2">{name}</dt>
      <dd className={`figures truncate text-title font-semibold ${tone}`} title={exactUsd(nanoUsd)}>
        {shortUsd(nanoUsd)}
      </dd>
      <dd className="truncate text-sm text-ink-3" title={description}>
        {description}
      </dd>
    </div>
  );
}

/** Null: the export does not state it. */
function Amount({ nanoUsd }: { readonly nanoUsd: string | null }) {
  return nanoUsd === null ? <span className="text-ink-3">Not stated</span> : <Money nanoUsd={nanoUsd} />;
}

function differenceIn({ billed_nano_usd, recorded_nano_usd }: ComparedDay): string | null {
  return billed_nano_usd === null ? null : differenceOf({ billed_nano_usd, recorded_nano_usd });
}

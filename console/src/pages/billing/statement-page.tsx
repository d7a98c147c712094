/** Renders the monthly statement of the account, on the screen and on paper. */
import { Printer } from 'lucide-react';
import type { ReactNode } from 'react';
import { addressOf } from '../../lib/api.ts';
import { counted, shortNumber, wholeNumber } from '../../lib/format.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { zoneFormat } from '../../lib/zone.ts';
import { Link } from '../../route/link.tsx';
import { useFilters } from '../../route/route.ts';
import { Money } from '../../ui/amounts.tsx';
import { Button, FileLink } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CONTROL } from '../../ui/field.tsx';
import { Empty, Page, Panel, Section, SkeletonPanel, SkeletonRows } from '../../ui/page.tsx';
import { kindLabel } from './account.ts';
import { byWorkspace, monthName, monthsBetween, type Statement } from './statement.ts';

export default function StatementPage() {
  const { account } = useAccount();
  const [filters, setFilters] = useFilters();
  const query = filters.month === undefined ? {} : { month: filters.month };
  const { data, error, refetch } = useReply(
    'GET /accounts/{account}/statement',
    { path: { account }, query },
    { keepsPrevious: true },
  );
  return (
    <Page
      title={data === undefined ? 'Statement' : `Statement for ${monthName(data.month)}`}
      lead={data === undefined ? undefined : <Period statement={data} />}
      action={
        <>
          <FileLink href={addressOf('GET /accounts/{account}/statement.csv', { path: { account }, query }).url}>
            Statement CSV
          </FileLink>
          <Button kind="primary" icon={<Printer size={14} />} onClick={() => print()}>
            Print
          </Button>
        </>
      }
      filters={
        data && (
          <select
            data-filter
            aria-label="Month"
            className={`${CONTROL} sm:max-w-48`}
            value={data.month}
            onChange={({ target }) => setFilters({ month: target.value })}
          >
            {monthsBetween(data.months).map((month) => (
              <option key={month} value={month}>
                {monthName(month)}
              </option>
            ))}
          </select>
        )
      }
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && (
        <>
          <SkeletonPanel heightPx={96} />
          <SkeletonRows />
        </>
      )}
      {data !== undefined && <StatementView statement={data} />}
    </Page>
  );
}

function Period({ statement: { name, account, from, to, time_zone, final } }: { readonly statement: Statement }) {
  const day = zoneFormat(time_zone, { dateStyle: 'medium' });
  const last = new Date(Date.parse(to) - 1);
  return (
    <>
      {name === account ? name : `${name} (${account})`}, {day.format(new Date(from))} to {day.format(last)}. Days start
      at midnight in {time_zone}.{!final && <b className="font-medium text-amber"> The month isn’t over yet.</b>}
    </>
  );
}

function StatementView({ statement }: { readonly statement: Statement }) {
  const { opening_nano_usd: opening, closing_nano_usd: closing, lines, movements } = statement;
  return (
    <>
      <Panel className="grid grid-cols-2 gap-x-6 gap-y-3 p-4 sm:flex sm:flex-wrap sm:gap-x-12">
        {opening !== null && <Figure name="Opening balance" nanoUsd={opening} />}
        {(opening !== null || movements.length > 0) && (
          <Figure name="Top-ups and adjustments" nanoUsd={statement.credits_nano_usd} />
        )}
        <Figure name="Charges" nanoUsd={statement.charges_nano_usd} />
        {closing !== null && <Figure name={statement.final ? 'Closing balance' : 'Balance so far'} nanoUsd={closing} />}
      </Panel>
      <Section title="Charges">
        {lines.length === 0 ? (
          <Empty
            title="No charges"
            action={
              <Link to="/app/usage" className="text-accent underline underline-offset-2 print:hidden">
                Show usage
              </Link>
            }
          >
            No request was charged in {monthName(statement.month)}.
          </Empty>
        ) : (
          <Charges statement={statement} />
        )}
      </Section>
      {movements.length > 0 && (
        <Section title="Top-ups and adjustments">
          <Movements statement={statement} />
        </Section>
      )}
      <p className="text-sm text-ink-3">
        Charges count in the month in which a request ends. Requests without a charge aren’t listed. Output includes
        reasoning. Amounts are in USD, exact, and equal to the ledger.
      </p>
    </>
  );
}

function Figure({ name, nanoUsd }: { readonly name: string; readonly nanoUsd: string }) {
  return (
    <div className="flex flex-col">
      <span className="text-ink-2">{name}</span>
      <span className="text-title font-semibold">
        <Money nanoUsd={nanoUsd} />
      </span>
    </div>
  );
}

const CELL = 'border-b border-line px-2 py-1 md:px-3';
const NUMBER = `${CELL} figures text-right`;

/** A plain table: paper needs every row and no scrolling. */
function Sheet({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
    <section aria-label={label} tabIndex={0} className="overflow-x-auto rounded-lg border border-line bg-panel">
      <table aria-label={label} className="w-full border-separate border-spacing-0 text-left [&_tr]:break-inside-avoid">
        {children}
      </table>
    </section>
  );
}

function Heads({ names }: { readonly names: readonly (readonly [name: string, isNumber?: true])[] }) {
  return (
    <thead>
      <tr>
        {names.map(([name, isNumber]) => (
          <th
            key={name}
            scope="col"
            className={`${isNumber ? NUMBER : CELL} text-sm/4 font-medium whitespace-nowrap text-ink-2`}
          >
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

const CHARGE_HEADS = [
  ['API key'],
  ['Model'],
  ['Requests', true],
  ['Input', true],
  ['Cache read', true],
  ['Cache write', true],
  ['Output', true],
  ['Cost (USD)', true],
] as const;

type Counts = Pick<
  Statement['lines'][number],
  'requests' | 'input' | 'cache_read' | 'cache_write_5m' | 'cache_write_1h' | 'output' | 'cost_nano_usd'
>;

function CountCells(counts: Counts) {
  const { requests, input, cache_read, cache_write_5m, cache_write_1h, output, cost_nano_usd } = counts;
  return (
    <>
      <td className={NUMBER}>{wholeNumber(requests)}</td>
      {[input, cache_read, cache_write_5m + cache_write_1h, output].map((tokens, at) => (
        <td key={CHARGE_HEADS[at + 3]?.[0]} className={NUMBER} title={wholeNumber(tokens)}>
          {shortNumber(tokens)}
        </td>
      ))}
      <td className={NUMBER}>
        <Money nanoUsd={cost_nano_usd} exact />
      </td>
    </>
  );
}

function Charges({ statement: { lines, rest, charges_nano_usd } }: { readonly statement: Statement }) {
  return (
    <Sheet label="Charges">
      <Heads names={CHARGE_HEADS} />
      {byWorkspace(lines).map((group) => (
        <tbody key={group.workspace}>
          <tr className="bg-sunken">
            <th scope="rowgroup" colSpan={7} className={`${CELL} font-medium`}>
              {group.workspace ?? 'Without a workspace'}
            </th>
            <td className={`${NUMBER} font-medium`}>
              <Money nanoUsd={group.costNanoUsd} exact />
            </td>
          </tr>
          {group.lines.map((line) => (
            <tr key={`${line.key} ${line.model}`}>
              <td className={`${CELL} min-w-28`} title={line.key ?? undefined}>
                {line.key_name ?? line.key ?? 'Not recorded'}
              </td>
              <td className={`${CELL} min-w-28`}>{line.model ?? 'No model'}</td>
              <CountCells {...line} />
            </tr>
          ))}
        </tbody>
      ))}
      {rest !== null && (
        <tbody>
          <tr>
            <td className={CELL} colSpan={2}>
              {counted(rest.lines, 'smaller line')}, listed in the CSV file
            </td>
            <CountCells {...rest} />
          </tr>
        </tbody>
      )}
      <tfoot>
        <tr className="font-semibold">
          <th scope="row" colSpan={7} className="px-2 py-1.5 font-semibold md:px-3">
            Total
          </th>
          <td className="figures px-2 py-1.5 text-right md:px-3">
            <Money nanoUsd={charges_nano_usd} exact />
          </td>
        </tr>
      </tfoot>
    </Sheet>
  );
}

function Movements({ statement: { movements, time_zone } }: { readonly statement: Statement }) {
  const day = zoneFormat(time_zone, { dateStyle: 'medium' });
  return (
    <Sheet label="Top-ups and adjustments">
      <Heads names={[['Date'], ['Type'], ['Note'], ['Reference'], ['Amount (USD)', true]]} />
      <tbody>
        {movements.map(({ at, kind, ref, note, amount_nano_usd }) => (
          <tr key={`${kind} ${ref}`}>
            <td className={`${CELL} whitespace-nowrap`}>{day.format(new Date(at))}</td>
            <td className={CELL}>{kindLabel(kind)}</td>
            <td className={`${CELL} min-w-28`}>{note}</td>
            <td className={CELL}>
              <code className="break-all">{ref}</code>
            </td>
            <td className={NUMBER}>
              <Money nanoUsd={amount_nano_usd} exact />
            </td>
          </tr>
        ))}
      </tbody>
    </Sheet>
  );
}

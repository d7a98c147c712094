/**
 * Renders what the listed requests would cost on another model: sums, what the estimate cannot know, and the difference
 * per model and per key. Large sets are computed in pages, which add up while they arrive.
 */
import { type ReactNode, useEffect, useState } from 'react';
import { GENERATED_PROTOCOLS } from '../../../../../gateway/src/protocols/names.ts';
import { counted, wholeNumber } from '../../../lib/format.ts';
import { exactUsd, shortUsd } from '../../../lib/money.ts';
import { usePages, useReply } from '../../../lib/queries.ts';
import { useAccount } from '../../../lib/session.ts';
import { exactTime, useClockZone } from '../../../lib/zone.ts';
import { Link } from '../../../route/link.tsx';
import { Money } from '../../../ui/amounts.tsx';
import { Button } from '../../../ui/button.tsx';
import { Sheet } from '../../../ui/dialog.tsx';
import { ErrorNote } from '../../../ui/error-note.tsx';
import { SelectField } from '../../../ui/field.tsx';
import { Section, SkeletonPanel, SkeletonRows } from '../../../ui/page.tsx';
import { type Column, Table } from '../../../ui/table.tsx';
import type { LogQuery } from '../log-filters.ts';
import { mergePages, type WhatIfPage } from './merge-pages.ts';

/** Rows of each table. */
const ROWS_MAX = 100;

interface WhatIfSheetProps {
  readonly query: LogQuery;
  /** As in the address; unknown until the user chooses one. */
  readonly model: string;
  readonly onChoose: (model: string) => void;
  readonly onClose: () => void;
}

export default function WhatIfSheet({ query, model, onChoose, onClose }: WhatIfSheetProps) {
  const { account } = useAccount();
  const { data, error, refetch } = useReply('GET /accounts/{account}/models', { path: { account } });
  // Models of other formats have prices of other kinds.
  const models = data?.models.filter(
    ({ price, protocols }) => price !== null && protocols.some((protocol) => GENERATED_PROTOCOLS.has(protocol)),
  );
  const isChosen = models?.some(({ name }) => name === model) === true;
  return (
    <Sheet
      title="Cost on another model"
      lead="Computed from recorded usage at current prices. No request is sent."
      onClose={onClose}
    >
      <div className="flex flex-col gap-6">
        {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {models === undefined && error === null && <SkeletonRows rows={1} />}
        {models !== undefined && (
          <SelectField label="Model" value={isChosen ? model : ''} onChange={(event) => onChoose(event.target.value)}>
            {!isChosen && <option value="">Choose a model</option>}
            {models.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </SelectField>
        )}
        {isChosen && <Comparison key={model} query={query} model={model} />}
      </div>
    </Sheet>
  );
}

function Comparison({ query, model }: Pick<WhatIfSheetProps, 'query' | 'model'>) {
  const { account } = useAccount();
  const zone = useClockZone();
  const [isPaused, setPaused] = useState(false);
  const given = { ...query, other_model: model };
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = usePages(
    'GET /accounts/{account}/what-if',
    [account, given],
    (before) => ({ path: { account }, query: before === undefined ? given : { ...given, before } }),
  );
  const continues = hasNextPage && !isPaused && !isFetchingNextPage && error === null;
  useEffect(() => {
    if (continues) void fetchNextPage();
  }, [continues, fetchNextPage]);
  const all = mergePages(data?.pages ?? []);
  if (all === null && error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (all === null) return <SkeletonPanel heightPx={220} />;
  return (
    <>
      {error !== null && <ErrorNote error={error} onRetry={() => void fetchNextPage()} />}
      {all.counted_from !== null && (
        <div role="status" className="flex flex-wrap items-center gap-3 text-ink-2">
          <span>
            {counted(all.requests, 'request')} so far, since {exactTime(all.counted_from, zone)}.
          </span>
          <Button onClick={() => setPaused(!isPaused)}>{isPaused ? 'Continue' : 'Stop'}</Button>
        </div>
      )}
      <Totals all={all} />
      {all.requests === 0 && <Notes notes={notIncluded(all)} />}
      {all.requests > 0 && (
        <>
          <Section title="Uncertainty">
            <Notes notes={notesOf(all)} />
          </Section>
          <Section title="By model">
            <Table
              label="Cost by model"
              columns={MODEL_COLUMNS}
              rows={all.by_model.slice(0, ROWS_MAX)}
              rowKey={(row) => String(row.model)}
            />
          </Section>
          <Section title="By API key">
            <Table
              label="Cost by API key"
              columns={KEY_COLUMNS}
              rows={all.by_key.slice(0, ROWS_MAX)}
              rowKey={(row) => row.key}
              foot={
                all.by_key.length > ROWS_MAX ? (
                  <p className="border-t border-line p-3 text-center text-ink-2">
                    {counted(all.by_key.length - ROWS_MAX, 'more key')} with lower cost.
                  </p>
                ) : null
              }
            />
          </Section>
        </>
      )}
    </>
  );
}

function Totals({ all }: { readonly all: WhatIfPage }) {
  return (
    <dl className="figures grid grid-cols-2 gap-x-8 gap-y-3 sm:grid-cols-4">
      <Total name="Requests">{wholeNumber(all.requests)}</Total>
      <Total name="Cost now">
        <Money nanoUsd={all.now_nano_usd} />
      </Total>
      <Total name={`On ${all.model}`}>
        <Money nanoUsd={all.then_nano_usd} />
      </Total>
      <Total name="Difference">{differenceText(all)}</Total>
    </dl>
  );
}

function Total({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="truncate text-sm text-ink-2" title={name}>
        {name}
      </dt>
      <dd className="text-title font-semibold">{children}</dd>
    </div>
  );
}

function notesOf(all: WhatIfPage): readonly string[] {
  const { model } = all;
  const isSame = all.then_low_nano_usd === all.then_nano_usd && all.then_high_nano_usd === all.then_nano_usd;
  return [
    isSame
      ? `Tokens: ${model} counts tokens like the models that answered.`
      : `Tokens: ${model} counts tokens differently, so expect ${amountText(all.then_low_nano_usd)} to ${amountText(all.then_high_nano_usd)}. Text in scripts other than Latin may differ more.`,
    'Answers: another model writes shorter or longer answers. The recorded lengths are used.',
    all.reasoning_tokens > 0 &&
      `Reasoning: ${amountText(all.then_reasoning_nano_usd)} of it is for ${counted(all.reasoning_tokens, 'recorded reasoning token')}. ${model} may reason more, less or not at all.`,
    all.then_uncached_nano_usd !== all.then_nano_usd &&
      `Cache: ${amountText(all.then_uncached_nano_usd)} if nothing were cached. The recorded cache reads and writes are used.`,
    all.tiered > 0 &&
      `Tiers: ${counted(all.tiered, 'request')} used a service tier and are computed at the list price.`,
    ...notIncluded(all),
    `Price: that of ${all.provider}, the first target of ${model}.`,
  ].filter((note) => note !== false);
}

/** Why there may be fewer requests than were listed, or none. */
function notIncluded({ unpriced, other_formats }: WhatIfPage): readonly string[] {
  return [
    unpriced > 0 && `Not included: ${counted(unpriced, 'request')} without a price.`,
    other_formats > 0 &&
      `Not included: ${counted(other_formats, 'request')} of other formats, such as embeddings, images or batches.`,
  ].filter((note) => note !== false);
}

function Notes({ notes }: { readonly notes: readonly string[] }) {
  return (
    <ul className="flex list-disc flex-col gap-1 pl-4 text-ink-2">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

/** All digits of small amounts, which a range would show as equal. */
function amountText(nanoUsd: string): string {
  return BigInt(nanoUsd) < 10_000_000n ? exactUsd(nanoUsd) : shortUsd(nanoUsd);
}

type Row = Pick<WhatIfPage, 'requests' | 'now_nano_usd' | 'then_nano_usd'>;

const difference = ({ now_nano_usd, then_nano_usd }: Row) => BigInt(then_nano_usd) - BigInt(now_nano_usd);

/** `−$9.10 (−74%)`. */
function differenceText(row: Row): string {
  const nano = difference(row);
  const now = BigInt(row.now_nano_usd);
  const sign = nano < 0n ? '−' : nano > 0n ? '+' : '±';
  const size = nano < 0n ? -nano : nano;
  const percent = now === 0n ? '' : ` (${sign}${(size * 100n + now / 2n) / now}%)`;
  return `${sign}${shortUsd(size.toString())}${percent}`;
}

const sums = <Group extends Row>(): readonly Column<Group>[] => [
  {
    id: 'requests',
    head: 'Requests',
    align: 'right',
    sortBy: (row) => row.requests,
    cell: (row) => wholeNumber(row.requests),
  },
  {
    id: 'now',
    head: 'Now (USD)',
    align: 'right',
    sortBy: (row) => BigInt(row.now_nano_usd),
    cell: (row) => <Money nanoUsd={row.now_nano_usd} />,
  },
  {
    id: 'then',
    head: 'Then (USD)',
    align: 'right',
    wideOnly: true,
    sortBy: (row) => BigInt(row.then_nano_usd),
    cell: (row) => <Money nanoUsd={row.then_nano_usd} />,
  },
  { id: 'difference', head: 'Difference', align: 'right', sortBy: difference, cell: differenceText },
];

type ModelRow = WhatIfPage['by_model'][number];
type KeyRow = WhatIfPage['by_key'][number];

const MODEL_COLUMNS: readonly Column<ModelRow>[] = [
  { id: 'model', head: 'Model', sortBy: ({ model }) => model ?? '', cell: ({ model }) => <ModelName model={model} /> },
  ...sums<ModelRow>(),
];
const KEY_COLUMNS: readonly Column<KeyRow>[] = [
  { id: 'key', head: 'API key', sortBy: ({ name }) => name, cell: ({ name }) => name },
  ...sums<KeyRow>(),
];

/** Leads to the model, whose targets an operator edits there. */
function ModelName({ model }: { readonly model: string | null }) {
  const { may } = useAccount();
  if (model === null) return 'None';
  if (!may('models.read')) return model;
  return (
    <Link
      to="/app/models"
      search={{ model }}
      title={may('operator.write') ? `Edit targets of ${model}` : `Show ${model}`}
      className="text-accent underline underline-offset-2"
    >
      {model}
    </Link>
  );
}

/** Renders the models page: the callable models, their prices and number of keys, and the details of one in a sheet. */

import { Search } from 'lucide-react';
import { TableDownload } from '../../csv/table-download.tsx';
import { counted, sentenceCase, wholeNumber } from '../../lib/format.ts';
import { PROTOCOL_LABELS } from '../../lib/protocols.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { Link } from '../../route/link.tsx';
import { useFilters } from '../../route/route.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, buttonClasses } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CONTROL } from '../../ui/field.tsx';
import { Empty, Page, SkeletonRows } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import {
  contextText,
  findModels,
  foundText,
  type ModelView,
  type RateName,
  rateOrder,
  rateText,
} from './model-facts.ts';
import { ModelSheet } from './model-sheet.tsx';

function Rate({ model, rate }: { readonly model: ModelView; readonly rate: RateName }) {
  const text = rateText(model.price, rate);
  return text === 'Unpriced' ? <span className="text-amber">{text}</span> : text;
}

const COLUMNS: readonly Column<ModelView>[] = [
  {
    id: 'name',
    head: 'Model',
    width: 220,
    sortBy: ({ name }) => name,
    cell: ({ name, aliases }) => (
      <span className="flex items-center gap-2">
        <span className="truncate font-medium" title={name}>
          {name}
        </span>
        {aliases.length > 0 && (
          <span className="text-sm text-ink-3" title={aliases.join('\n')}>
            +{aliases.length}
            <span className="sr-only"> more aliases: {aliases.join(', ')}</span>
          </span>
        )}
      </span>
    ),
  },
  {
    id: 'provider',
    head: 'Provider',
    width: 110,
    wideOnly: true,
    sortBy: ({ targets }) => targets[0]?.provider ?? '',
    cell: ({ targets }) => {
      const text = targets.map(({ provider }) => provider).join(', then ');
      return <span title={text}>{text}</span>;
    },
  },
  {
    id: 'protocols',
    head: 'Protocols',
    wideOnly: true,
    cell: ({ protocols }) => {
      const text = protocols.map((one) => PROTOCOL_LABELS[one]).join(', ');
      return <span title={text}>{text}</span>;
    },
  },
  {
    id: 'capabilities',
    head: 'Capabilities',
    width: 220,
    wideOnly: true,
    cell: ({ capabilities }) => (
      <span className="flex gap-1" title={capabilities.map(sentenceCase).join('\n')}>
        {capabilities.slice(0, 2).map((one) => (
          <Badge key={one}>{sentenceCase(one)}</Badge>
        ))}
        {capabilities.length > 2 && <Badge>+{capabilities.length - 2}</Badge>}
      </span>
    ),
  },
  {
    id: 'context',
    head: 'Context (tokens)',
    width: 120,
    align: 'right',
    wideOnly: true,
    sortBy: ({ context_tokens: tokens }) => tokens ?? 0,
    cell: ({ context_tokens: tokens }) => contextText(tokens),
  },
  {
    id: 'input',
    head: 'Input (USD/M)',
    width: 108,
    align: 'right',
    sortBy: ({ price }) => rateOrder(price, 'input'),
    cell: (model) => <Rate model={model} rate="input" />,
  },
  {
    id: 'output',
    head: 'Output (USD/M)',
    width: 120,
    align: 'right',
    sortBy: ({ price }) => rateOrder(price, 'output'),
    cell: (model) => <Rate model={model} rate="output" />,
  },
  {
    id: 'keys',
    head: 'API keys',
    width: 88,
    align: 'right',
    sortBy: ({ keys }) => keys,
    cell: ({ keys }) => wholeNumber(keys),
  },
];

export default function ModelsPage() {
  const account = useAccount();
  const [search, change] = useFilters();
  const { data, error, refetch } = useReply('GET /accounts/{account}/models', { path: { account: account.account } });
  const text = search.q ?? '';
  const found = data === undefined ? [] : findModels(data.models, text);
  const open = data?.models.find(({ name, aliases }) => [name, ...aliases].includes(search.model ?? ''));
  return (
    <Page
      title="Models"
      lead="Available models with their providers, prices and the number of API keys that can use them."
      action={
        found.length > 0 && (
          <TableDownload
            name={`tollgate-models-${account.account}`}
            rows={found}
            columns={() => import('./model-csv.ts')}
          />
        )
      }
      filters={
        <>
          <div className="relative w-full sm:w-80">
            <Search size={14} aria-hidden="true" className="absolute top-2.25 left-2.5 text-ink-3" />
            <input
              type="search"
              data-filter
              aria-label="Name, provider or capability"
              placeholder="Name, provider or capability"
              className={`${CONTROL} pl-8`}
              value={text}
              onChange={(event) => change({ q: event.target.value })}
            />
          </div>
          {data !== undefined && (
            <p role="status" className="figures self-center text-ink-2">
              {foundText(found.length, data.models.length)}
            </p>
          )}
        </>
      }
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows rows={10} />}
      {data !== undefined && data.models.length === 0 && (
        <Empty
          title="No models yet"
          action={
            account.may('operator.read') && (
              <Link to="/app/providers" className={buttonClasses('primary')}>
                Add provider
              </Link>
            )
          }
        >
          Add a provider with its credential, and its models are listed here.
        </Empty>
      )}
      {data !== undefined && search.model !== undefined && open === undefined && (
        <p className="text-ink-2">
          No model {search.model} is available here: it was removed or renamed, or its provider is not in use.
        </p>
      )}
      {data !== undefined && data.models.length > 0 && found.length === 0 && (
        <Empty
          title="No matching models"
          action={
            <Button kind="primary" onClick={() => change({ q: undefined })}>
              Show all {counted(data.models.length, 'model')}
            </Button>
          }
        >
          No model has “{text}” in its name, provider or capabilities.
        </Empty>
      )}
      {found.length > 0 && (
        <Table
          label="Models"
          columns={COLUMNS}
          fixed
          rows={found}
          rowKey={({ name }) => name}
          onOpen={({ name }) => change({ model: name })}
          openKey={open?.name ?? null}
        />
      )}
      {data !== undefined && open !== undefined && (
        <ModelSheet
          key={open.name}
          model={open}
          toolKinds={data.tool_kinds}
          onClose={() => change({ model: undefined })}
        />
      )}
    </Page>
  );
}

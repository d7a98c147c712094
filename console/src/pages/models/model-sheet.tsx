/** Renders the details of one model: its facts, its prices with their start times, and a routing preview. */

import { type ReactNode, useState } from 'react';
import { counted, retirementText, sentenceCase, wholeNumber } from '../../lib/format.ts';
import { PROTOCOL_TITLES } from '../../lib/protocols.ts';
import { useAccount } from '../../lib/session.ts';
import { useNow } from '../../lib/timers.ts';
import { Link } from '../../route/link.tsx';
import { ExactTime } from '../../ui/amounts.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button, buttonClasses } from '../../ui/button.tsx';
import { CopyIcon } from '../../ui/code-block.tsx';
import { Sheet } from '../../ui/dialog.tsx';
import { Section } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import {
  EXTRA_RATES,
  type ModelView,
  type PriceView,
  RATES,
  type RateName,
  type RatesView,
  rateText,
  SOURCE_LABELS,
  versionAt,
} from './model-facts.ts';
import { ModelTargets } from './model-targets.tsx';
import { PriceDialog } from './price-dialog.tsx';
import { RoutingPreview } from './routing-preview.tsx';
import { flatUnits, unitLabel } from './unit-prices.ts';

interface ModelSheetProps {
  readonly model: ModelView;
  /** Kinds of tools for which a fee can be entered. */
  readonly toolKinds: readonly string[];
  readonly onClose: () => void;
}

export function ModelSheet({ model, toolKinds, onClose }: ModelSheetProps) {
  const account = useAccount();
  const [isPricing, setPricing] = useState(false);
  return (
    <Sheet
      title={model.display_name ?? model.name}
      lead={
        <span className="flex items-center gap-1.5">
          <code className="truncate">{model.name}</code>
          <CopyIcon text={model.name} what="model name" />
        </span>
      }
      onClose={onClose}
      footer={
        <>
          <Link to="/app/models/$model" names={{ model: model.name }} className={buttonClasses()}>
            Usage and comparison
          </Link>
          <Link to="/app/playground" search={{ model: model.name }} className={buttonClasses()}>
            Open in playground
          </Link>
        </>
      }
    >
      <div className="flex flex-col gap-6">
        <dl className="grid grid-cols-[max-content_1fr] gap-x-5 gap-y-1.5">
          {model.aliases.length > 0 && <Fact name="Aliases">{model.aliases.join(', ')}</Fact>}
          <Fact name="Protocols">{model.protocols.map((one) => PROTOCOL_TITLES[one]).join(', ')}</Fact>
          <Fact name="Context">
            {model.context_tokens === null ? 'Unknown' : `${wholeNumber(model.context_tokens)} tokens`}
          </Fact>
          <Fact name="Max output">
            {model.output_tokens_max === null ? 'Unknown' : `${wholeNumber(model.output_tokens_max)} tokens`}
          </Fact>
          <Fact name="Capabilities">
            {model.capabilities.length === 0 ? (
              'Unknown'
            ) : (
              <span className="flex flex-wrap gap-1">
                {model.capabilities.map((one) => (
                  <Badge key={one}>{sentenceCase(one)}</Badge>
                ))}
              </span>
            )}
          </Fact>
          {model.retires !== null && <Fact name="Retirement">{retirementText(model.retires)}</Fact>}
          <Fact name="Available to">{counted(model.keys, 'API key')} of this account</Fact>
          <Fact name="Defined in">{SOURCE_LABELS[model.source]}</Fact>
        </dl>
        <Section
          title="Prices (USD per million tokens)"
          aside={account.may('operator.write') && <Button onClick={() => setPricing(true)}>Set price</Button>}
        >
          <Prices prices={model.prices} />
        </Section>
        {account.may('operator.read') && <ModelTargets model={model.name} />}
        <Section title="Routing preview">
          <RoutingPreview model={model} />
        </Section>
      </div>
      {isPricing && <PriceDialog model={model} toolKinds={toolKinds} onClose={() => setPricing(false)} />}
    </Sheet>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-2">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}

/** Prices side by side leave little room. */
const SHORT_LABELS: Readonly<Partial<Record<RateName, string>>> = {
  cache_write_5m: 'Write (5 min)',
  cache_write_1h: 'Write (1 h)',
};

/** A price, or below it one of its tiers. */
interface PriceRow {
  readonly price: PriceView;
  readonly rates: RatesView & { readonly free?: boolean };
  /** Null: the base rates, for calls that no tier covers. */
  readonly above: number | null;
}

function Prices({ prices }: { readonly prices: readonly PriceView[] }) {
  const nowMs = useNow();
  if (prices.length === 0) {
    return (
      <p className="text-ink-2">
        No price set. Tokens are counted, but requests cost nothing. Requests that a budget or balance pays for are
        rejected.
      </p>
    );
  }
  const holds = versionAt(prices, nowMs);
  const rows = prices.flatMap((price): PriceRow[] => [
    { price, rates: price, above: null },
    ...(price.tiers ?? []).map(({ above, ...rates }) => ({ price, rates, above })),
  ]);
  const extras = EXTRA_RATES.filter(([rate]) => rows.some(({ rates }) => rates[rate] !== undefined));
  const kinds = [...new Set(prices.flatMap((price) => Object.keys(price.per_1000_requests ?? {})))];
  const units = [...new Set(prices.flatMap((price) => Object.keys(flatUnits(price))))];
  const columns: readonly Column<PriceRow>[] = [
    {
      id: 'from',
      head: 'Effective from',
      cell: ({ price, above }) =>
        above !== null ? (
          <span className="pl-4 text-ink-2">Over {wholeNumber(above)} input tokens</span>
        ) : (
          <span className="flex items-center gap-2">
            {price.from === null ? 'Always' : <ExactTime at={price.from} />}
            {price === holds && <Badge tone="accent">Current</Badge>}
            {price.from !== null && Date.parse(price.from) > nowMs && <Badge>Scheduled</Badge>}
          </span>
        ),
    },
    ...[...RATES, ...extras].map(
      ([rate, word]): Column<PriceRow> => ({
        id: rate,
        head: SHORT_LABELS[rate] ?? word,
        align: 'right',
        cell: ({ rates }) => rateText(rates, rate),
      }),
    ),
    ...kinds.map(
      (kind): Column<PriceRow> => ({
        id: `fee ${kind}`,
        head: `${sentenceCase(kind)} (per 1,000)`,
        align: 'right',
        cell: ({ price, above }) => (above === null ? (price.per_1000_requests?.[kind] ?? '–') : ''),
      }),
    ),
    ...units.map(
      (unit): Column<PriceRow> => ({
        id: `unit ${unit}`,
        head: `${unitLabel(unit)} (each)`,
        align: 'right',
        cell: ({ price, above }) => (above === null ? (flatUnits(price)[unit] ?? '–') : ''),
      }),
    ),
    { id: 'source', head: 'Source', cell: ({ price, above }) => (above === null ? SOURCE_LABELS[price.source] : '') },
  ];
  return (
    <Table
      label="Prices"
      columns={columns}
      rows={rows}
      rowKey={({ price: { version, from }, above }) => `${version} ${from} ${above}`}
    />
  );
}

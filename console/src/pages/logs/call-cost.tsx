/** Renders the cost of a call: tokens and requests by price, held and settled amounts, and the ledger entries. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { sentenceCase, wholeNumber } from '../../lib/format.ts';
import { exactPicoUsd, exactUsd, usdPerMillion, usdPerThousand } from '../../lib/money.ts';
import { When } from '../../ui/amounts.tsx';
import { CopyIcon } from '../../ui/code-block.tsx';
import { Section } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';

export type CallDetail = Reply<'GET /accounts/{account}/logs/{request}'>;
type CostLine = NonNullable<CallDetail['cost']>['lines'][number];
type Entry = CallDetail['entries'][number];

const KIND_LABELS: Readonly<Record<string, string>> = {
  input: 'Input',
  cache_read: 'Cache read',
  cache_write_5m: 'Cache write (5 min)',
  cache_write_1h: 'Cache write (1 h)',
  output: 'Output',
  reasoning: 'Reasoning',
  audio_input: 'Audio input',
  audio_cache_read: 'Audio cache read',
  audio_output: 'Audio output',
  image_input: 'Image input',
  image_output: 'Image output',
  cache_write_30m: 'Cache write (30 min)',
  images: 'Images',
  seconds: 'Seconds of audio',
  characters: 'Characters',
  search_units: 'Search units',
  mark_up: 'Markup',
};
const LINES: readonly Column<CostLine>[] = [
  { id: 'kind', head: 'Type', cell: ({ kind }) => KIND_LABELS[kind] ?? sentenceCase(kind) },
  { id: 'count', head: 'Quantity', align: 'right', cell: countText },
  { id: 'price', head: 'Price (USD)', align: 'right', cell: priceText },
  { id: 'cost', head: 'Cost (USD)', align: 'right', cell: (line) => exactPicoUsd(line.cost_pico_usd) },
];
const ENTRY_LABELS: Readonly<Record<string, string>> = {
  hold: 'Reserved',
  extend: 'Reservation extended',
  post: 'Charged',
  void: 'Reservation released, nothing charged',
  absorb: 'Written off (paid by operator)',
  correct: 'Adjusted',
};
const ENTRIES: readonly Column<Entry>[] = [
  { id: 'seq', head: 'No.', align: 'right', width: 64, cell: ({ seq }) => wholeNumber(seq) },
  { id: 'kind', head: 'Type', cell: ({ kind }) => ENTRY_LABELS[kind] ?? kind },
  { id: 'amount', head: 'Amount (USD)', align: 'right', cell: (entry) => exactUsd(entry.amount_nano_usd) },
  { id: 'released', head: 'Released (USD)', align: 'right', cell: (entry) => exactUsd(entry.released_nano_usd) },
  { id: 'at', head: 'Time', wideOnly: true, cell: ({ at }) => <When at={at} /> },
  {
    id: 'hash',
    head: 'Hash',
    cell: ({ hash }) => (
      <span className="flex items-center gap-1">
        <code title={hash}>{hash.slice(0, 10)}…</code>
        <CopyIcon text={hash} what="hash" />
      </span>
    ),
  },
];

type LostAttempt = CallDetail['call']['attempts'][number];

/** Only operators get the members that these show. */
const LOST: readonly Column<LostAttempt>[] = [
  { id: 'target', head: 'Target', cell: ({ target, provider, model }) => target ?? `${provider}/${model}` },
  { id: 'billed', head: 'Billed', cell: ({ billed }) => (billed === 'yes' ? 'Yes' : 'Maybe') },
  { id: 'input', head: 'Input', align: 'right', wideOnly: true, cell: ({ usage }) => wholeNumber(usage?.input ?? 0) },
  {
    id: 'output',
    head: 'Output',
    align: 'right',
    wideOnly: true,
    cell: ({ usage }) => wholeNumber(usage?.output ?? 0),
  },
  {
    id: 'cost',
    head: 'Cost (USD)',
    align: 'right',
    cell: ({ cost_nano_usd: cost }) => (cost === undefined || cost === null ? 'No price' : exactUsd(cost)),
  },
];

export function CallCost({ detail }: { readonly detail: CallDetail }) {
  const { call, cost, entries } = detail;
  const lost = call.attempts.filter(({ billed }) => billed !== undefined);
  return (
    <>
      <Section
        title="Cost"
        aside={
          call.price_version !== null && <span className="text-sm text-ink-2">Price version {call.price_version}</span>
        }
      >
        {cost === null ? (
          <p className="text-ink-2">
            {call.cost_nano_usd === null
              ? 'The model had no price, so nothing was charged. Set a price on the Models page.'
              : 'No tokens were used, so nothing was charged.'}
          </p>
        ) : (
          <>
            {cost.lines.length > 0 && (
              <Table
                label="Cost by type"
                columns={LINES}
                rows={cost.lines}
                rowKey={({ kind, unit, pico_usd_each }) => `${unit} ${kind} ${pico_usd_each}`}
              />
            )}
            <p className="figures text-ink-2">
              Reserved {exactUsd(cost.held_nano_usd)}, charged {exactUsd(cost.settled_nano_usd)}
              {cost.written_off_nano_usd !== '0' &&
                `, written off ${exactUsd(cost.written_off_nano_usd)} (paid by operator)`}
            </p>
          </>
        )}
        {call.unpriced_server_tools !== undefined && (
          <p className="text-amber">
            Not included: requests of {call.unpriced_server_tools.map(sentenceCase).join(', ')}, which have no fee. Add
            a fee per 1,000 requests to the model’s price.
          </p>
        )}
      </Section>
      {lost.length > 0 && (
        <Section title="Failed attempts (paid by operator)">
          <Table
            label="Failed attempts"
            columns={LOST}
            rows={lost}
            rowKey={({ provider, start_ms }) => `${provider} ${start_ms}`}
          />
          <p className="text-sm text-ink-3">Maybe: the provider reported no usage, so the cost is an estimate.</p>
        </Section>
      )}
      {entries.length > 0 && (
        <Section title="Ledger entries">
          <Table label="Ledger entries" columns={ENTRIES} rows={entries} rowKey={({ seq, kind }) => `${seq} ${kind}`} />
        </Section>
      )}
    </>
  );
}

function countText({ unit, count }: CostLine): string {
  if (unit === null) return '–';
  return `${wholeNumber(count)} ${unit}${count === 1 ? '' : unit === 'search' ? 'es' : 's'}`;
}

function priceText({ unit, pico_usd_each: picoUsd }: CostLine): string {
  if (unit === null) return '–';
  if (unit === 'token') return `${usdPerMillion(picoUsd)} per million`;
  return unit === 'request' ? `${usdPerThousand(picoUsd)} per 1,000` : `${exactPicoUsd(picoUsd)} per ${unit}`;
}

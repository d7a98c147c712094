/** Lists for operators what failed attempts cost at each provider, for the comparison with its invoice. */
import { useState } from 'react';
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { wholeNumber } from '../../lib/format.ts';
import { useReply } from '../../lib/queries.ts';
import { Money } from '../../ui/amounts.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Section } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';

type AttemptCost = Reply<'GET /attempt-costs'>['costs'][number];

const DAYS_MS = 30 * 24 * 60 * 60 * 1000;

const COLUMNS: readonly Column<AttemptCost>[] = [
  {
    id: 'model',
    head: 'Model',
    cell: ({ provider, model }) => (
      <>
        <span className="font-medium">{provider}</span> <span className="text-ink-3">{model}</span>
      </>
    ),
  },
  { id: 'billed', head: 'Billed', cell: ({ billed }) => (billed === 'yes' ? 'Yes' : 'Maybe') },
  { id: 'attempts', head: 'Attempts', align: 'right', wideOnly: true, cell: ({ attempts }) => wholeNumber(attempts) },
  { id: 'input', head: 'Input tokens', align: 'right', wideOnly: true, cell: ({ input }) => wholeNumber(input) },
  { id: 'output', head: 'Output tokens', align: 'right', wideOnly: true, cell: ({ output }) => wholeNumber(output) },
  { id: 'cost', head: 'Cost (USD)', align: 'right', cell: ({ cost_nano_usd }) => <Money nanoUsd={cost_nano_usd} /> },
];

/** Nothing is shown while no attempt failed. */
export function AttemptCostsSection() {
  const [toMs] = useState(Date.now);
  const [from, to] = [toMs - DAYS_MS, toMs].map((atMs) => new Date(atMs).toISOString());
  const query = { from: from ?? '', to: to ?? '' };
  const { data, error, refetch } = useReply('GET /attempt-costs', { query });
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined || data.costs.length === 0) return null;
  return (
    <Section title="Failed attempts, last 30 days (paid by operator)">
      <Table
        label="Failed attempts"
        columns={COLUMNS}
        rows={data.costs}
        rowKey={({ provider, model, billed }) => `${provider} ${model} ${billed}`}
      />
      <p className="text-sm text-ink-3">Maybe: the provider reported no usage, so the cost is an estimate.</p>
    </Section>
  );
}

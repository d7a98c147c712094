/** Defines the columns of the table of calls, by the names that an address and a saved view use. */
import type { ReactNode } from 'react';
import {
  type CallColumn,
  isCallColumn,
  isSorted,
  USUAL_COLUMNS,
} from '../../../../../gateway/src/lib/query/call-columns.ts';
import { shortNumber, wholeNumber } from '../../../lib/format.ts';
import { RECORDED_TITLES } from '../../../lib/protocols.ts';
import { Money, When } from '../../../ui/amounts.tsx';
import { CallStatus } from '../../../ui/badge.tsx';
import { CopyIcon } from '../../../ui/code-block.tsx';
import type { Column } from '../../../ui/table.tsx';
import { REASON_TITLES } from '../reasons/reason-titles.ts';
import type { CallView } from '../use-call-list.ts';

/** Heads of columns; the dialog that chooses columns has the same names. */
export const COLUMN_HEADS: Readonly<Record<CallColumn, string>> = {
  at: 'Time',
  status: 'Status',
  reason: 'Reason',
  model: 'Model',
  served: 'Served model',
  provider: 'Provider',
  key: 'API key',
  workspace: 'Workspace',
  user: 'End user',
  session: 'Session',
  protocol: 'Protocol',
  stream: 'Streamed',
  cost: 'Cost (USD)',
  tokens: 'Tokens in / out',
  input: 'Input tokens',
  output: 'Output tokens',
  cache: 'Cache read',
  ttft: 'First byte (ms)',
  duration: 'Duration (ms)',
  tps: 'Tokens/s',
  attempts: 'Attempts',
  id: 'Request ID',
};

type Cell = (call: CallView) => ReactNode;

const number = (value: number | null) => (value === null ? '–' : wholeNumber(Math.round(value)));
const name = (value: string | null) => <Name text={value ?? '–'} />;
const inputOf = ({ usage }: CallView) => usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h;

const NUMBERS: Readonly<Partial<Record<CallColumn, Cell>>> = {
  cost: ({ cost_nano_usd: cost }) => <Money nanoUsd={cost} />,
  tokens: (call) => (
    <span title={`${wholeNumber(inputOf(call))} in, ${wholeNumber(call.usage.output)} out`}>
      {shortNumber(inputOf(call))} / {shortNumber(call.usage.output)}
    </span>
  ),
  input: (call) => wholeNumber(inputOf(call)),
  output: ({ usage }) => wholeNumber(usage.output),
  cache: ({ usage }) => wholeNumber(usage.cache_read),
  ttft: ({ ttfb_ms: ms }) => number(ms),
  duration: ({ duration_ms: ms }) => number(ms),
  // As the field `tps` of a query.
  tps: ({ usage: { output }, duration_ms: ms }) => (output > 0 && ms > 0 ? ((output * 1_000) / ms).toFixed(1) : '–'),
  attempts: ({ attempts }) => wholeNumber(attempts.length),
};

const TEXTS: Readonly<Partial<Record<CallColumn, Cell>>> = {
  at: ({ at }) => <When at={at} />,
  status: ({ status, error }) => (
    <span title={error ?? undefined}>
      <CallStatus status={status} error={error} />
    </span>
  ),
  reason: ({ reason }) => name(reason === undefined ? null : REASON_TITLES[reason.kind]),
  model: ({ model, served_model: served }) => (
    <Name
      text={model ?? '–'}
      title={served === null || served === model ? (model ?? undefined) : `${model ?? '–'}, served by ${served}`}
    />
  ),
  served: ({ served_model: served }) => name(served),
  provider: ({ provider }) => name(provider),
  key: ({ key_name: key }) => name(key),
  workspace: ({ workspace }) => name(workspace),
  user: ({ end_user: user }) => name(user),
  session: ({ session }) => name(session),
  protocol: ({ protocol }) => RECORDED_TITLES[protocol],
  stream: ({ stream }) => (stream ? 'Yes' : 'No'),
  id: ({ request_id: id }) => (
    <span className="flex items-center gap-1">
      <code className="text-ink-2" title={id}>
        …{id.slice(-8)}
      </code>
      <span className="-my-1 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
        <CopyIcon text={id} what="request ID" />
      </span>
    </span>
  ),
};

const WIDTHS: Readonly<Partial<Record<CallColumn, number>>> = { at: 108, status: 84 };
/** Of the usual columns, those that a phone has no room for. */
const WIDE_ONLY: readonly CallColumn[] = ['provider', 'key', 'ttft', 'id'];

/** The columns of an address, in its order; unknown names are left out, and without any the usual ones are shown. */
export function columnsOf(columns: string | undefined): readonly CallColumn[] {
  const known = [...new Set(columns?.split(','))].filter(isCallColumn);
  return known.length === 0 ? USUAL_COLUMNS : known;
}

/** `isChosen`: the user chose the columns, so that none is hidden on narrow windows. */
export function tableColumns(columns: readonly CallColumn[], isChosen: boolean): readonly Column<CallView>[] {
  return columns.map((id) => ({
    id,
    head: COLUMN_HEADS[id],
    cell: (call) => (NUMBERS[id] ?? TEXTS[id])?.(call),
    sorts: isSorted(id),
    wideOnly: !isChosen && WIDE_ONLY.includes(id),
    ...(WIDTHS[id] === undefined ? {} : { width: WIDTHS[id] }),
    ...(NUMBERS[id] === undefined ? {} : { align: 'right' as const }),
  }));
}

/** Long names are truncated, so that no column is pushed out of the window. */
function Name({ text, title = text }: { readonly text: string; readonly title?: string | undefined }) {
  return (
    <span title={title} className="block max-w-24 truncate md:max-w-40">
      {text}
    </span>
  );
}

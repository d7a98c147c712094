/** Renders the table of calls, and reports when it must not move because someone is reading it. */
import { ArrowUp } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { counted, shortNumber, wholeNumber } from '../../lib/format.ts';
import { exactTime } from '../../lib/zone.ts';
import { Money, When } from '../../ui/amounts.tsx';
import { CallStatus } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyIcon } from '../../ui/code-block.tsx';
import { type Column, type Sorting, Table } from '../../ui/table.tsx';
import type { CallView } from './use-call-list.ts';

const COLUMNS: readonly Column<CallView>[] = [
  { id: 'at', head: 'Time', width: 108, cell: ({ at }) => <When at={at} /> },
  { id: 'status', head: 'Status', width: 84, sorts: true, cell: (call) => <Status call={call} /> },
  {
    id: 'model',
    head: 'Model',
    sorts: true,
    cell: ({ model, served_model: served }) => (
      <Name
        text={model ?? '–'}
        title={served === null || served === model ? (model ?? undefined) : `${model ?? '–'}, served by ${served}`}
      />
    ),
  },
  {
    id: 'provider',
    head: 'Provider',
    wideOnly: true,
    sorts: true,
    cell: ({ provider }) => <Name text={provider ?? '–'} />,
  },
  {
    id: 'key',
    head: 'API key',
    wideOnly: true,
    sorts: true,
    cell: ({ key_name: name }) => <Name text={name} title={name} />,
  },
  {
    id: 'cost',
    head: 'Cost (USD)',
    align: 'right',
    sorts: true,
    cell: ({ cost_nano_usd: cost }) => <Money nanoUsd={cost} />,
  },
  {
    id: 'tokens',
    head: 'Tokens in / out',
    sorts: true,
    align: 'right',
    cell: ({ usage }) => {
      const input = usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h;
      return (
        <span title={`${wholeNumber(input)} in, ${wholeNumber(usage.output)} out`}>
          {shortNumber(input)} / {shortNumber(usage.output)}
        </span>
      );
    },
  },
  {
    id: 'ttft',
    head: 'First byte (ms)',
    sorts: true,
    align: 'right',
    wideOnly: true,
    cell: ({ ttfb_ms: ms }) => (ms === null ? '–' : wholeNumber(Math.round(ms))),
  },
  {
    id: 'duration',
    head: 'Duration (ms)',
    sorts: true,
    align: 'right',
    cell: ({ duration_ms: ms }) => wholeNumber(Math.round(ms)),
  },
  {
    id: 'id',
    head: 'Request ID',
    wideOnly: true,
    cell: ({ request_id: id }) => (
      <span className="flex items-center gap-1">
        <code className="text-ink-2" title={id}>
          …{id.slice(-8)}
        </code>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: only keeps the row from opening; the button is a button */}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: keys are the button's */}
        <span
          onClick={(event) => event.stopPropagation()}
          className="-my-1 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100"
        >
          <CopyIcon text={id} what="request ID" />
        </span>
      </span>
    ),
  },
];

/** Long names are truncated, so that no column is pushed out of the window. */
function Name({ text, title = text }: { readonly text: string; readonly title?: string | undefined }) {
  return (
    <span title={title} className="block max-w-24 truncate md:max-w-40">
      {text}
    </span>
  );
}

function Status({ call }: { readonly call: CallView }) {
  return (
    <span title={call.error ?? undefined}>
      <CallStatus status={call.status} error={call.error} />
    </span>
  );
}

interface CallTableProps {
  readonly calls: readonly CallView[];
  readonly waiting: number;
  /** Null: newest first. */
  readonly sorting: Sorting | null;
  readonly onSort: (sorting: Sorting | null) => void;
  readonly openKey: string | null;
  readonly onOpen: (call: CallView) => void;
  readonly onShowNew: () => void;
  /** Whether the pointer is over the rows, or the list is scrolled down. */
  readonly onHold: (holds: boolean) => void;
  readonly foot: ReactNode;
}

const STILL_PX = 8;

export function CallTable({
  calls,
  waiting,
  sorting,
  onSort,
  openKey,
  onOpen,
  onShowNew,
  onHold,
  foot,
}: CallTableProps) {
  const frame = useRef<HTMLDivElement>(null);
  const isOver = useRef(false);
  const holdNow = () => {
    const scroller = frame.current?.firstElementChild;
    const isScrolled = scrollY > (frame.current?.offsetTop ?? 0) || (scroller?.scrollTop ?? 0) > STILL_PX;
    onHold(isOver.current || isScrolled);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: it reads only refs
  useEffect(() => {
    addEventListener('scroll', holdNow, { passive: true, capture: true });
    return () => removeEventListener('scroll', holdNow, { capture: true });
  }, []);
  const point = (over: boolean) => {
    isOver.current = over;
    holdNow();
  };
  return (
    <div className="relative">
      <div ref={frame} onPointerEnter={() => point(true)} onPointerLeave={() => point(false)}>
        <Table
          label={sorting === null ? 'Requests, newest first' : 'Requests'}
          sorting={sorting}
          onSort={onSort}
          columns={COLUMNS}
          rows={calls}
          rowKey={({ request_id: id }) => id}
          onOpen={onOpen}
          openKey={openKey}
          foot={foot}
        />
      </div>
      <div role="status" className="pointer-events-none absolute inset-x-0 top-10 z-20 flex justify-center">
        {waiting > 0 && (
          <Button
            kind="primary"
            icon={<ArrowUp size={14} aria-hidden="true" />}
            className="pointer-events-auto animate-[rise-in_140ms_ease-out] shadow-float"
            onClick={() => {
              frame.current?.firstElementChild?.scrollTo({ top: 0 });
              onShowNew();
            }}
          >
            {counted(waiting, 'new request')}
          </Button>
        )}
      </div>
    </div>
  );
}

/** Title of a call's sheet. */
export function callTitle(call: CallView, zone: string): string {
  return `${call.model ?? 'No model'} · ${exactTime(call.at, zone)}`;
}

/** Renders the logs page: live calls, filters, search by id, and one call in detail at its own address. */

import { Radio, Scale } from 'lucide-react';
import { Suspense, useMemo, useState } from 'react';
import { FilterChips } from '../../filters/filter-chips.tsx';
import { QueryBar } from '../../filters/query-bar.tsx';
import { RangeChoice } from '../../filters/range-choice.tsx';
import { readRange } from '../../filters/time-range.ts';
import { useChosenAt } from '../../filters/use-chosen-at.ts';
import { addressOf } from '../../lib/api.ts';
import { part } from '../../lib/part.ts';
import { useAccount } from '../../lib/session.ts';
import { useZone } from '../../lib/zone.ts';
import { useFilters, useNavigate, usePathNames, useReturnTo } from '../../route/route.ts';
import { DialogPart, PanelPart } from '../../shell/page-fault.tsx';
import { Button, FileLink } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Segmented } from '../../ui/field.tsx';
import { Page, Panel, SkeletonPanel, SkeletonRows } from '../../ui/page.tsx';
import { CallTable } from './call-table.tsx';
import { csvQuery, LOG_FILTERS, listQuery, logQuery, sortingOf, sortText } from './log-filters.ts';
import { useCallList } from './use-call-list.ts';
import { columnsOf } from './views/call-columns.tsx';

const CallSheet = part(() => import('./call-sheet.tsx'));
const LogHistogram = part(() => import('./log-histogram.tsx'));
const ReasonTable = part(() => import('./reasons/reason-table.tsx'));
const ReasonChip = part(() => import('./reasons/reason-chip.tsx'));
const WhatIfSheet = part(() => import('./what-if/what-if-sheet.tsx'));
const NoRequests = part(() => import('./no-requests.tsx'));
const LiveBar = part(() => import('./live-bar.tsx'));
const ViewsDialog = part(() => import('./views/views-dialog.tsx'));
const ActiveView = part(() => import('./views/active-view.tsx'));
const ColumnsDialog = part(() => import('./views/columns-dialog.tsx'));

export default function LogsPage() {
  const [search, change] = useFilters();
  const { request } = usePathNames();
  const navigate = useNavigate();
  const returnTo = useReturnTo();
  const { account } = useAccount();
  const [holds, setHolds] = useState(false);
  const [pauses, setPauses] = useState(false);
  const [layer, setLayer] = useState<'views' | 'columns' | null>(null);
  const isLive = search.live === '1';
  const isPaused = isLive && pauses;
  // At the address of a request, that request comes first: the list behind it is loaded when the sheet closes.
  const [showsList, showList] = useState(request === undefined);
  if (!showsList && request === undefined) showList(true);
  const byReason = search.view === 'reasons';
  const zone = useZone();
  const range = readRange(search, '24h', useChosenAt(search), zone);
  const query = logQuery(search, range);
  const { list, histogram, filterLabels, error, isFetchingOlder, retry, fetchOlder, showNew } = useCallList(
    account,
    listQuery(search, query),
    { isLive, holds: holds || isPaused, isShown: showsList },
  );
  const open = (id: string) => navigate({ to: '/app/logs/{-$request}', names: { request: id }, search });
  const close = () => returnTo({ to: '/app/logs/{-$request}', search });
  const csv = addressOf('GET /accounts/{account}/logs.csv', {
    path: { account },
    query: csvQuery(search, listQuery(search, query)),
  }).url;
  const columns = useMemo(() => columnsOf(search.columns), [search.columns]);
  return (
    <Page
      title="Logs"
      lead="Every request with its response, attempts and cost."
      hasTimes
      action={
        <>
          <Button
            aria-pressed={isLive}
            icon={<Radio size={14} aria-hidden="true" />}
            className="aria-pressed:border-accent aria-pressed:text-accent-strong"
            disabled={list !== null && list.searched !== null}
            onPointerEnter={LiveBar.prefetch}
            onFocus={LiveBar.prefetch}
            onClick={() => {
              setPauses(false);
              change({
                live: isLive ? undefined : '1',
                sort: undefined,
                ...(range.preset === null ? { from: undefined, to: undefined, range: undefined } : {}),
              });
            }}
          >
            Live tail
          </Button>
          <Button
            icon={<Scale size={14} aria-hidden="true" />}
            onPointerEnter={WhatIfSheet.prefetch}
            onFocus={WhatIfSheet.prefetch}
            onClick={() => change({ other_model: '-' })}
          >
            Compare cost
          </Button>
          <FileLink href={csv}>CSV</FileLink>
        </>
      }
      filters={
        <>
          <QueryBar
            placeholder="status:5xx duration>10s model:claude*, a request ID, or text"
            range={range}
            onFind={open}
          />
          <RangeChoice range={range} />
          <Segmented
            label="Show"
            value={byReason ? 'reasons' : 'requests'}
            choices={VIEWS}
            onChoose={(view) => change({ view: view === 'reasons' ? view : undefined, live: undefined })}
          />
          <Button
            onPointerEnter={ViewsDialog.prefetch}
            onFocus={ViewsDialog.prefetch}
            onClick={() => setLayer('views')}
          >
            Views
          </Button>
          {!byReason && (
            <Button
              onPointerEnter={ColumnsDialog.prefetch}
              onFocus={ColumnsDialog.prefetch}
              onClick={() => setLayer('columns')}
            >
              Columns
            </Button>
          )}
          <FilterChips kinds={LOG_FILTERS} labels={filterLabels} />
          {search.saved !== undefined && (
            <PanelPart>
              <ActiveView />
            </PanelPart>
          )}
          {search.reason !== undefined && (
            <Suspense fallback={null}>
              <ReasonChip reason={search.reason} onRemove={() => change({ reason: undefined })} />
            </Suspense>
          )}
        </>
      }
    >
      {error !== null && <ErrorNote error={error} onRetry={retry} />}
      {byReason && (
        <Suspense fallback={<SkeletonRows rows={8} />}>
          <ReasonTable
            account={account}
            query={query}
            onOpen={({ group }) => change({ reason: group, view: undefined })}
          />
        </Suspense>
      )}
      {!byReason && histogram !== null && histogram.bars.length > 0 && (
        <PanelPart fallback={<SkeletonPanel heightPx={HISTOGRAM_PX} />}>
          <LogHistogram histogram={histogram} />
        </PanelPart>
      )}
      {!showsList && <Panel className="h-160">{null}</Panel>}
      {!byReason && isLive && list !== null && (
        <PanelPart fallback={<div className="min-h-8" />}>
          <LiveBar list={list} isPaused={isPaused} onPause={setPauses} />
        </PanelPart>
      )}
      {!byReason && showsList && list === null && error === null && <Waiting />}
      {!byReason && list !== null && list.calls.length === 0 && (
        <Suspense fallback={null}>
          <NoRequests
            next={list.next}
            isFetching={isFetchingOlder}
            onContinue={fetchOlder}
            range={range}
            isLive={isLive}
            searched={list.searched}
          />
        </Suspense>
      )}
      {!byReason && list !== null && list.calls.length > 0 && (
        <CallTable
          calls={list.calls}
          columns={columns}
          hasOwnColumns={search.columns !== undefined}
          waiting={list.waiting.length}
          offersWaiting={!isPaused}
          sorting={sortingOf(search.sort)}
          onSort={(sorting) => change({ sort: sortText(sorting), live: undefined })}
          openKey={request ?? null}
          onOpen={(call) => open(call.request_id)}
          onShowNew={showNew}
          onHold={setHolds}
          foot={
            list.next !== null ? (
              <div className="border-t border-line p-2 text-center">
                <Button kind="quiet" busy={isFetchingOlder} onClick={fetchOlder}>
                  {list.searched === null ? 'Load older requests' : 'Continue search'}
                </Button>
              </div>
            ) : list.isCut ? (
              <p className="border-t border-line p-3 text-center text-ink-2">
                Older requests are hidden to keep the live view fast. Reload the page to see them.
              </p>
            ) : null
          }
        />
      )}
      {search.other_model !== undefined && request === undefined && (
        <DialogPart onClose={() => change({ other_model: undefined })}>
          <WhatIfSheet
            query={query}
            model={search.other_model}
            onChoose={(model) => change({ other_model: model })}
            onClose={() => change({ other_model: undefined })}
          />
        </DialogPart>
      )}
      {layer !== null && (
        <DialogPart onClose={() => setLayer(null)}>
          {layer === 'views' && <ViewsDialog onClose={() => setLayer(null)} />}
          {layer === 'columns' && <ColumnsDialog onClose={() => setLayer(null)} />}
        </DialogPart>
      )}
      {request !== undefined && (
        <DialogPart onClose={close}>
          <CallSheet key={request} request={request} onClose={close} />
        </DialogPart>
      )}
    </Page>
  );
}

/** Height of the histogram's panel, so that the list does not move when it appears. */
const HISTOGRAM_PX = 160;

const VIEWS = [
  ['requests', 'Requests'],
  ['reasons', 'Reasons'],
] as const;

function Waiting() {
  return (
    <>
      <SkeletonPanel heightPx={HISTOGRAM_PX} />
      <SkeletonRows rows={14} />
    </>
  );
}

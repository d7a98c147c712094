/** Renders the current limits of one key: the polled part of its page. */
import { useReply } from '../../lib/queries.ts';
import { GaugeBar } from '../../policy/gauge-bar.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Panel, Section } from '../../ui/page.tsx';
import { SkeletonPanel } from '../../ui/skeleton.tsx';

/** While the window is visible. */
const LIVE_MS = 5_000;

export function KeyGauges({ account, apiKey }: { readonly account: string; readonly apiKey: string }) {
  const { data, error, refetch } = useReply(
    'GET /accounts/{account}/keys/{key}/gauges',
    { path: { account, key: apiKey } },
    { everyMs: LIVE_MS },
  );
  return (
    <Section title="Current limits" aside={<span className="text-sm text-ink-3">Live</span>}>
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonPanel heightPx={96} />}
      {data !== undefined && (
        <Panel className="flex flex-col gap-4 p-4">
          {data.gauges.map((gauge) => (
            <GaugeBar
              key={`${gauge.layer} ${gauge.subject.kind} ${gauge.subject.id} ${gauge.sort}`}
              layered={data.gauges.some(({ layer }) => layer === 'account')}
              gauge={gauge}
              named
              ownKey={apiKey}
            />
          ))}
          {data.gauges.length === 0 && (
            <p className="text-ink-2">No limits are set for this key, its workspace or its account.</p>
          )}
        </Panel>
      )}
    </Section>
  );
}

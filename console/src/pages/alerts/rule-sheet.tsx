/** Renders the sheet of one alert: its settings and its last deliveries. */
import { useReply } from '../../lib/queries.ts';
import { When } from '../../ui/amounts.tsx';
import { Sheet } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { SkeletonRows } from '../../ui/page.tsx';
import { isMuted, type Rule, ruleText } from './alerts.ts';
import { DeliveryStatus, receiverText } from './rule-table.tsx';

interface RuleSheetProps {
  readonly account: string;
  readonly rule: Rule;
  readonly onClose: () => void;
}

export function RuleSheet({ account, rule, onClose }: RuleSheetProps) {
  const { data, error, refetch } = useReply('GET /accounts/{account}/alerts/{alert}/deliveries', {
    path: { account, alert: rule.id },
  });
  const { quiet, renotify_hours, muted_until, created_at } = rule;
  return (
    <Sheet title={rule.name} lead={ruleText(rule)} wide={false} onClose={onClose}>
      <div className="flex flex-col gap-5">
        <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-1.5">
          <dt className="text-ink-3">Sent to</dt>
          <dd className="break-all">{receiverText(rule)}</dd>
          <dt className="text-ink-3">Quiet hours</dt>
          <dd className="figures">{quiet === null ? 'None' : `${quiet.from} to ${quiet.to}`}</dd>
          <dt className="text-ink-3">Repeat after</dt>
          <dd>{renotify_hours === null ? 'Default' : `${renotify_hours} h`}</dd>
          {muted_until !== null && isMuted(rule, Date.now()) && (
            <>
              <dt className="text-ink-3">Muted until</dt>
              <dd>
                <When at={muted_until} />
              </dd>
            </>
          )}
          <dt className="text-ink-3">Created</dt>
          <dd>
            <When at={created_at} />
          </dd>
        </dl>
        <section className="flex flex-col gap-2">
          <h3 className="text-read font-semibold">Last deliveries</h3>
          {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
          {data === undefined && error === null && <SkeletonRows rows={3} />}
          {data?.deliveries.length === 0 && <p className="text-ink-2">None yet. Send a test from the alert’s menu.</p>}
          <ul className="flex flex-col">
            {data?.deliveries.map((delivery) => (
              <li key={delivery.id} className="flex flex-col gap-1 border-b border-line py-2 last:border-0">
                <span className="flex flex-wrap items-center gap-2 text-sm text-ink-3">
                  <DeliveryStatus delivery={delivery} />
                  <When at={delivery.at} />
                  {delivery.attempts > 1 && <span>{delivery.attempts} attempts</span>}
                </span>
                <span className="break-words">{delivery.text}</span>
                {delivery.error !== null && <span className="text-sm break-words text-red">{delivery.error}</span>}
              </li>
            ))}
          </ul>
        </section>
      </div>
    </Sheet>
  );
}

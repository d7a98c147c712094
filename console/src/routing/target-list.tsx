/** Lists the targets of all models with their live states; those that need attention come first, with their remedy. */
import { useState } from 'react';
import { counted } from '../lib/format.ts';
import { useClockZone } from '../lib/zone.ts';
import { Link } from '../route/link.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Facts } from '../ui/facts.tsx';
import { Panel, Section } from '../ui/page.tsx';
import {
  explainTarget,
  isTroubled,
  sortTargets,
  type TargetState,
  targetFacts,
  targetLabel,
  untilText,
  useRoutingStates,
} from './routing-states.ts';
import { TargetActions } from './target-actions.tsx';

interface TargetListProps {
  readonly account: string;
  /** Whether the user may resume targets and change their rotation. */
  readonly mayWrite: boolean;
}

/** Healthy targets beyond these are shown on request. */
const SHOWN = 8;

export function TargetList({ account, mayWrite }: TargetListProps) {
  const { data, error, refetch } = useRoutingStates(account);
  const zone = useClockZone();
  const [showsAll, setShowsAll] = useState(false);
  if (error !== null) {
    return (
      <Section title="Targets">
        <ErrorNote error={error} onRetry={() => void refetch()} />
      </Section>
    );
  }
  if (data === undefined || data.targets.length === 0) return null;
  const troubled = data.targets.filter(isTroubled).length;
  const sorted = sortTargets(data.targets);
  const shown = showsAll ? sorted : sorted.slice(0, Math.max(SHOWN, troubled));
  return (
    <Section
      title="Targets"
      aside={
        <span role="status" className="text-ink-2">
          {troubled === 0 ? 'All healthy' : `${troubled} of ${counted(sorted.length, 'target')} not fully in use`}
        </span>
      }
    >
      {data.limping.map(({ model, since }) => (
        <p key={model} className="rounded-md border border-red/35 bg-red-soft px-3 py-2">
          No target of <strong>{model}</strong> has been healthy since {untilText(since, zone)}. Requests are sent to
          paused targets until one works again.
        </p>
      ))}
      <Panel>
        <ul className="divide-y divide-line">
          {shown.map((target) => (
            <li key={`${target.model} ${target.target}`}>
              <TargetRow
                target={target}
                account={account}
                mayWrite={mayWrite}
                canRest={data.targets.some((one) => one.model === target.model && one.target !== target.target)}
              />
            </li>
          ))}
        </ul>
      </Panel>
      {shown.length < sorted.length && (
        <Button className="self-start" onClick={() => setShowsAll(true)}>
          Show {counted(sorted.length - shown.length, 'more target')}
        </Button>
      )}
    </Section>
  );
}

interface TargetRowProps extends TargetListProps {
  readonly target: TargetState;
  readonly canRest: boolean;
}

function TargetRow({ target, account, mayWrite, canRest }: TargetRowProps) {
  const { model, provider, upstream_model } = target;
  return (
    <div className="flex flex-wrap items-start gap-2 px-4 py-2.5">
      <div className="min-w-0 flex-1 basis-64">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <Link
            to="/app/models"
            search={{ account, model }}
            className="min-w-0 truncate font-medium text-accent underline underline-offset-2"
          >
            {model}
          </Link>
          <span className="min-w-0 truncate text-ink-2">
            {provider}: {upstream_model}
          </span>
          <TargetBadge target={target} />
        </p>
        <TargetStateText target={target} />
      </div>
      {mayWrite && isTroubled(target) && (
        <TargetActions
          account={account}
          model={model}
          target={target.target}
          isOut={target.state === 'out'}
          isPaused={target.state !== 'closed'}
          canRest={canRest}
        />
      )}
    </div>
  );
}

export function TargetBadge({ target }: { readonly target: TargetState }) {
  const [word, tone] = targetLabel(target);
  return <Badge tone={tone}>{word}</Badge>;
}

/** Why it is in its state, and what was counted. */
export function TargetStateText({ target }: { readonly target: TargetState }) {
  const zone = useClockZone();
  const reason = explainTarget(target, zone);
  const facts = targetFacts(target);
  return (
    <>
      {reason !== null && <p>{reason}</p>}
      {facts.length > 0 && (
        <p className="figures text-sm text-ink-2">
          <Facts facts={facts} />
        </p>
      )}
    </>
  );
}

/** Lists the targets of a model with their states; removes one from rotation, closes its breaker, opens the editor. */
import { useState } from 'react';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { type TargetState, useRoutingStates } from '../../routing/routing-states.ts';
import { TargetActions } from '../../routing/target-actions.tsx';
import { TargetBadge, TargetStateText } from '../../routing/target-list.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Panel, Section, SkeletonPanel } from '../../ui/page.tsx';
import { RouteDialog } from './route-dialog.tsx';
import { ROUTE, type RouteView, type TargetView } from './route-form.ts';

export function ModelTargets({ model }: { readonly model: string }) {
  const { account, may } = useAccount();
  const [isEditing, setEditing] = useState(false);
  const { data, error, refetch } = useReply(ROUTE, { path: { account, model } });
  const states = useRoutingStates(account);
  const isFixed = data === undefined || data.source === 'file' || !may('operator.write');
  return (
    <Section title="Targets" aside={!isFixed && <Button onClick={() => setEditing(true)}>Edit targets</Button>}>
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {states.error !== null && <ErrorNote error={states.error} onRetry={() => void states.refetch()} />}
      {data === undefined && error === null && <SkeletonPanel heightPx={60} />}
      {data !== undefined && (
        <Panel>
          <ul className="divide-y divide-line">
            {data.targets.map((target) => (
              <li key={target.name}>
                <TargetLine
                  route={data}
                  target={target}
                  isKnown={states.data !== undefined}
                  state={states.data?.targets.find((one) => one.model === data.model && one.target === target.name)}
                />
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {data?.problem && <p className="text-sm text-amber">{data.problem}</p>}
      {data?.source === 'file' && (
        <p className="text-sm text-ink-3">The configuration file defines them; change them there.</p>
      )}
      {isEditing && data !== undefined && <RouteDialog route={data} onClose={() => setEditing(false)} />}
    </Section>
  );
}

interface TargetLineProps {
  readonly route: RouteView;
  readonly target: TargetView;
  /** Whether the states are loaded. */
  readonly isKnown: boolean;
  /** Undefined: it was not used yet. */
  readonly state: TargetState | undefined;
}

function TargetLine({ route, target, isKnown, state }: TargetLineProps) {
  const { account, may } = useAccount();
  const { name, provider, priority, weight, max_concurrency: cap, tags, out_of_rotation_since: outSince } = target;
  const options = [
    priority === 1 ? null : `Priority ${priority}`,
    weight === null ? null : `Weight ${weight}`,
    cap === null ? null : `Max concurrency ${cap}`,
    tags.length === 0 ? null : `Tags ${tags.join(', ')}`,
  ].filter((part) => part !== null);
  return (
    <div className="flex flex-wrap items-start gap-2 px-3 py-2">
      <div className="min-w-0 flex-1 basis-56">
        <p className="flex flex-wrap items-center gap-2">
          <span className="min-w-0 truncate font-medium">
            {provider}: {target.model}
          </span>
          {state !== undefined && <TargetBadge target={state} />}
          {state === undefined && isKnown && <Badge>Idle</Badge>}
        </p>
        {options.length > 0 && (
          <p className="text-sm text-ink-2">
            <Facts facts={options} />
          </p>
        )}
        {state !== undefined && <TargetStateText target={state} />}
      </div>
      {may('operator.write') && (
        <TargetActions
          account={account}
          model={route.model}
          target={name}
          isOut={outSince !== null}
          isPaused={state !== undefined && state.state !== 'closed'}
          canRest={route.targets.length > 1}
        />
      )}
    </div>
  );
}

/** Lists the targets of a model with their states; removes one from rotation, closes its breaker, opens the editor. */
import { useState } from 'react';
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { useAction, useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Panel, Section, SkeletonPanel } from '../../ui/page.tsx';
import { toast } from '../../ui/toasts.tsx';
import { RouteDialog } from './route-dialog.tsx';
import { ROUTE, type RouteView, STATES, type TargetView, TOUCHES } from './route-form.ts';

const STATES_MS = 15_000;

type TargetState = Reply<typeof STATES>['targets'][number];

const WORDS: Readonly<Record<TargetState['state'], readonly [word: string, tone: Tone]>> = {
  closed: ['Healthy', 'good'],
  open: ['Paused after failures', 'bad'],
  half_open: ['Next request probes', 'attention'],
  benched: ['Unknown model or address', 'bad'],
  out: ['Out of rotation', 'attention'],
};

export function ModelTargets({ model }: { readonly model: string }) {
  const { account, may } = useAccount();
  const [isEditing, setEditing] = useState(false);
  const { data, error, refetch } = useReply(ROUTE, { path: { account, model } });
  const states = useReply(STATES, { path: { account } }, { everyMs: STATES_MS });
  const isFixed = data === undefined || data.source === 'file' || !may('operator.write');
  return (
    <Section title="Targets" aside={!isFixed && <Button onClick={() => setEditing(true)}>Edit targets</Button>}>
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonPanel heightPx={60} />}
      {data !== undefined && (
        <Panel>
          <ul className="divide-y divide-line">
            {data.targets.map((target) => (
              <li key={target.name}>
                <TargetLine
                  route={data}
                  target={target}
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
  readonly state: TargetState | undefined;
}

function TargetLine({ route, target, state }: TargetLineProps) {
  const { account, may } = useAccount();
  const path = { account, model: route.model };
  const rotate = useAction('POST /accounts/{account}/routes/{model}/rotation', TOUCHES);
  const close = useAction('POST /accounts/{account}/routes/{model}/close', TOUCHES);
  const { name, provider, priority, weight, max_concurrency: cap, tags, out_of_rotation_since: outSince } = target;
  const [word, tone] = WORDS[outSince === null ? (state?.state ?? 'closed') : 'out'];
  const isClosed = outSince !== null || state === undefined || state.state === 'closed';
  const rotation = outSince === null ? 'Remove from rotation' : 'Return to rotation';
  const options = [
    priority === 1 ? null : `Priority ${priority}`,
    weight === null ? null : `Weight ${weight}`,
    cap === null ? null : `Max ${cap} at once`,
    ...tags,
  ].filter((part) => part !== null);
  return (
    <div className="flex flex-wrap items-start gap-2 px-3 py-2">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2">
          <span className="min-w-0 truncate font-medium">
            {provider}: {target.model}
          </span>
          <Badge tone={tone}>{word}</Badge>
        </p>
        {options.length > 0 && <p className="text-sm text-ink-2">{options.join(' · ')}</p>}
      </div>
      {may('operator.write') && (
        <>
          {!isClosed && (
            <Button
              aria-label={`Resume ${name}`}
              busy={close.isPending}
              onClick={() =>
                close.mutate(
                  { path, body: { target: name } },
                  { onSuccess: () => toast({ text: `${name} gets requests again.` }) },
                )
              }
            >
              Resume now
            </Button>
          )}
          {(outSince !== null || route.targets.length > 1) && (
            <Button
              aria-label={`${rotation} ${name}`}
              busy={rotate.isPending}
              onClick={() =>
                rotate.mutate(
                  { path, body: { target: name, in_rotation: outSince !== null } },
                  {
                    onSuccess: () =>
                      toast({
                        text: outSince === null ? `Removed ${name} from rotation.` : `Returned ${name} to rotation.`,
                      }),
                  },
                )
              }
            >
              {rotation}
            </Button>
          )}
        </>
      )}
      {(rotate.error ?? close.error) !== null && (
        <div className="basis-full">
          <ErrorNote error={rotate.error ?? close.error ?? new Error()} />
        </div>
      )}
    </div>
  );
}

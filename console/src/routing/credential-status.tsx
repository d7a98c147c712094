/** Renders the live state of a credential: why it is paused and until when, open requests, and what is left of its limits. */
import { counted } from '../lib/format.ts';
import { useAction } from '../lib/queries.ts';
import { useClockZone } from '../lib/zone.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { toast } from '../ui/toasts.tsx';
import {
  type CredentialState,
  explainCredential,
  STATE_TOUCHES,
  type TargetState,
  targetsPausedBy,
} from './routing-states.ts';
import { CREDENTIAL_LABELS } from './routing-words.ts';

export function CredentialBadge({ state }: Pick<CredentialState, 'state'>) {
  const [word, tone] = CREDENTIAL_LABELS[state];
  return <Badge tone={tone}>{word}</Badge>;
}

interface CredentialStatusProps {
  readonly account: string;
  readonly state: CredentialState;
  readonly targets: readonly TargetState[];
  readonly mayWrite: boolean;
}

/** Nothing is shown of a credential that was not used yet. */
export function CredentialStatus({ account, state, targets, mayWrite }: CredentialStatusProps) {
  const zone = useClockZone();
  const reason = explainCredential(state, zone);
  const paused = targetsPausedBy(state, targets);
  return (
    <>
      {reason !== null && state.state !== 'out' && (
        <div className="mt-1 flex flex-wrap items-center justify-between gap-2">
          <p className="min-w-0 flex-1 basis-48">{reason}</p>
          {mayWrite && paused.length > 0 && <Resume account={account} name={state.name} targets={paused} />}
        </div>
      )}
      {state.open_calls > 0 && (
        <p className="figures mt-1 text-sm text-ink-2">{counted(state.open_calls, 'open request')}</p>
      )}
      {state.headroom.length > 0 && (
        <ul className="mt-1 flex flex-col gap-1">
          {[...state.headroom]
            .sort((one, other) => one.share - other.share)
            .slice(0, HEADROOM_MAX)
            .map(({ upstream_model, share }) => (
              <li key={upstream_model}>
                <Headroom name={state.name} model={upstream_model} share={share} />
              </li>
            ))}
        </ul>
      )}
    </>
  );
}

/** Models of a credential for which its limits are shown, those with least left first. */
const HEADROOM_MAX = 4;

interface HeadroomProps {
  readonly name: string;
  readonly model: string;
  /** From 0 to 1. */
  readonly share: number;
}

function Headroom({ name, model, share }: HeadroomProps) {
  const percent = Math.round(Math.min(1, share) * 100);
  const fill = percent === 0 ? 'bg-red' : percent <= 20 ? 'bg-amber' : 'bg-accent';
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_72px_auto] items-center gap-2 text-sm text-ink-2">
      <span className="truncate" title={model}>
        {model}
      </span>
      {/* biome-ignore lint/a11y/useSemanticElements: the native meter cannot take the theme's colors in every browser */}
      <div
        role="meter"
        aria-label={`Headroom of ${name} for ${model}`}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        className="h-1.5 overflow-hidden rounded-full bg-hover"
      >
        <div className={`h-full ${fill}`} style={{ width: `${percent}%` }} />
      </div>
      <span className="figures w-16 text-right">{percent}% left</span>
    </div>
  );
}

interface ResumeProps {
  readonly account: string;
  readonly name: string;
  readonly targets: readonly TargetState[];
}

/** Pauses of a credential end with those of the targets that it serves. */
function Resume({ account, name, targets }: ResumeProps) {
  const close = useAction('POST /accounts/{account}/routes/{model}/close', STATE_TOUCHES);
  const resume = async () => {
    for (const { model, target } of targets) {
      await close.mutateAsync({ path: { account, model }, body: { target } });
    }
    toast({ text: `${name} gets requests again.` });
  };
  return (
    <>
      <Button
        aria-label={`Resume now ${name}`}
        busy={close.isPending}
        // The error is shown below.
        onClick={() => void resume().catch(() => undefined)}
      >
        Resume now
      </Button>
      {close.error !== null && (
        <div className="basis-full">
          <ErrorNote error={close.error} />
        </div>
      )}
    </>
  );
}

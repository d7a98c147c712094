/** Renders what an operator does about a target: resume it after failures, take it out of rotation or put it back. */
import { useAction } from '../lib/queries.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { toast } from '../ui/toasts.tsx';
import { STATE_TOUCHES } from './routing-states.ts';

interface TargetActionsProps {
  readonly account: string;
  readonly model: string;
  readonly target: string;
  readonly isOut: boolean;
  /** Paused after failures, or benched. */
  readonly isPaused: boolean;
  /** False: it is the model's only one. */
  readonly canRest: boolean;
}

export function TargetActions({ account, model, target, isOut, isPaused, canRest }: TargetActionsProps) {
  const path = { account, model };
  const rotate = useAction('POST /accounts/{account}/routes/{model}/rotation', STATE_TOUCHES);
  const close = useAction('POST /accounts/{account}/routes/{model}/close', STATE_TOUCHES);
  const rotation = isOut ? 'Return to rotation' : 'Remove from rotation';
  const error = rotate.error ?? close.error;
  return (
    <>
      {isPaused && !isOut && (
        <Button
          aria-label={`Resume now ${target}`}
          busy={close.isPending}
          onClick={() =>
            close.mutate(
              { path, body: { target } },
              { onSuccess: () => toast({ text: `${target} gets requests again.` }) },
            )
          }
        >
          Resume now
        </Button>
      )}
      {(isOut || canRest) && (
        <Button
          aria-label={`${rotation} ${target}`}
          busy={rotate.isPending}
          onClick={() =>
            rotate.mutate(
              { path, body: { target, in_rotation: isOut } },
              {
                onSuccess: () =>
                  toast({ text: isOut ? `Returned ${target} to rotation.` : `Removed ${target} from rotation.` }),
              },
            )
          }
        >
          {rotation}
        </Button>
      )}
      {error !== null && (
        <div className="basis-full">
          <ErrorNote error={error} />
        </div>
      )}
    </>
  );
}

/** Renders a list of steps: done ones as one line, the current one open, later ones by title. */
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from '../../ui/class-names.ts';

export function Steps({ children }: { readonly children: ReactNode }) {
  return <ol className="flex flex-col">{children}</ol>;
}

export type StepState = 'done' | 'now' | 'later';

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly state: StepState;
  /** The result, shown after the title of a completed step. */
  readonly outcome?: ReactNode;
  readonly children?: ReactNode;
}

const WORDS: Readonly<Record<StepState, string>> = { done: 'done', now: 'current step', later: 'not started' };

export function Step({ number, title, state, outcome, children }: StepProps) {
  return (
    <li
      aria-current={state === 'now' ? 'step' : undefined}
      className="grid grid-cols-[24px_minmax(0,1fr)] gap-x-3 pb-6 last:pb-0"
    >
      <span className="flex flex-col items-center gap-1.5">
        <span
          aria-hidden="true"
          className={classNames(
            'figures flex size-6 shrink-0 items-center justify-center rounded-full border text-sm font-medium',
            state === 'done' && 'border-transparent bg-accent-soft text-accent-strong',
            state === 'now' && 'border-accent text-accent-strong',
            state === 'later' && 'border-line-strong text-ink-3',
          )}
        >
          {state === 'done' ? <Check size={14} /> : number}
        </span>
        <span aria-hidden="true" className="w-px flex-1 bg-line [li:last-child>span>&]:hidden" />
      </span>
      <div className="flex min-w-0 flex-col gap-3">
        <h2 className={classNames('text-read leading-6', state === 'later' ? 'text-ink-3' : 'font-semibold')}>
          {title}
          <span className="sr-only">, {WORDS[state]}</span>
          {outcome && <span className="font-normal text-ink-2"> · {outcome}</span>}
        </h2>
        {children}
      </div>
    </li>
  );
}

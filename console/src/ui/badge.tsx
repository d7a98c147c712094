/** Renders badges for states; color is never the only signal. */
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

export type Tone = 'neutral' | 'good' | 'attention' | 'bad' | 'accent';

const TONES: Readonly<Record<Tone, string>> = {
  neutral: 'bg-hover text-ink-2',
  good: 'bg-green-soft text-green',
  attention: 'bg-amber-soft text-amber',
  bad: 'bg-red-soft text-red',
  accent: 'bg-accent-soft text-accent-strong',
};

export function Badge({ tone = 'neutral', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return (
    <span
      className={classNames(
        'inline-flex h-5 items-center gap-1 whitespace-nowrap rounded-sm px-1.5 text-xs font-medium',
        TONES[tone],
      )}
    >
      {children}
    </span>
  );
}

/** The tone of an HTTP status as sent to the client. */
export function statusTone(status: number): Tone {
  if (status < 400) return 'neutral';
  if (status === 499) return 'attention';
  return status < 500 ? 'attention' : 'bad';
}

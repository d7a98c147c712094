/** Renders badges for states, including the status of a request; color is never the only signal. */
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

interface Ended {
  readonly status: number;
  readonly error: string | null;
}

/** The response started, but was incomplete. */
function isCut({ status, error }: Ended): boolean {
  return status < 400 && error !== null;
}

export function CallStatus(call: Ended) {
  return <Badge tone={toneOf(call)}>{wordsOf(call)}</Badge>;
}

function wordsOf(call: Ended): string {
  if (call.status === 499) return '499 left';
  return isCut(call) ? `${call.status} incomplete` : String(call.status);
}

/** Errors caused by the client, not by the provider or the gateway. */
const CLIENT_ENDED: ReadonlySet<string | null> = new Set(['quota_exceeded', 'reader_too_slow']);

function toneOf(call: Ended): Tone {
  if (!isCut(call)) return statusTone(call.status);
  return CLIENT_ENDED.has(call.error) ? 'attention' : 'bad';
}

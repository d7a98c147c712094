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

/** On narrow windows its words are short, so that a table's other columns have room. */
export function CallStatus(call: Ended) {
  const words = wordsOf(call);
  return (
    <Badge tone={toneOf(call)}>
      {words === null ? call.status : `${call.status} `}
      {words !== null && (
        <>
          <span className="md:hidden">{words[0]}</span>
          <span className="max-md:hidden">{words[1]}</span>
        </>
      )}
    </Badge>
  );
}

/** Names an end that the status alone does not tell; null: it does. */
function wordsOf(call: Ended): readonly [short: string, full: string] | null {
  if (call.status === 499) return ['left', 'disconnected'];
  return isCut(call) ? ['cut', 'incomplete'] : null;
}

/** Errors caused by the client, not by the provider or the gateway. */
const CLIENT_ENDED: ReadonlySet<string | null> = new Set(['quota_exceeded', 'reader_too_slow']);

function toneOf(call: Ended): Tone {
  if (!isCut(call)) return statusTone(call.status);
  return CLIENT_ENDED.has(call.error) ? 'attention' : 'bad';
}

/** Shows the status of a request as a badge: a 200 whose answer broke off never looks like success. */
import { Badge, statusTone, type Tone } from './badge.tsx';

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
  if (call.status === 499) return '499 disconnected';
  return isCut(call) ? `${call.status} incomplete` : String(call.status);
}

/** Errors caused by the client, not by the provider or the gateway. */
const CLIENT_ENDED: ReadonlySet<string | null> = new Set(['quota_exceeded', 'reader_too_slow']);

function toneOf(call: Ended): Tone {
  if (!isCut(call)) return statusTone(call.status);
  return CLIENT_ENDED.has(call.error) ? 'attention' : 'bad';
}

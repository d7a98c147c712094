/** Says in one sentence what a failed probe of a provider shows, and one remedy. */
import { readErrorBody } from '../../protocols/answer/error-body.ts';
import { readMeaning } from '../../protocols/answer/error-words.ts';
import { headerOf } from '../../upstream/response-head.ts';
import type { CollectedAnswer } from './collect-answer.ts';

export type ProbeTrouble =
  | 'credential'
  | 'region'
  | 'model_access'
  | 'quota'
  | 'address'
  | 'clock'
  | 'unreached'
  /** A rate limit, an overload or a failure of the provider. */
  | 'busy'
  | 'other';

interface Judged {
  readonly trouble: ProbeTrouble;
  readonly message: string;
}

const REMEDIES: Readonly<Record<ProbeTrouble, string>> = {
  credential: 'Enter its credential again.',
  region: 'Choose a region where the provider offers this.',
  model_access: 'Ask for access to the model in the provider’s own console.',
  quota: 'Add credit or raise the limit at the provider.',
  address: 'Does its address end in the right path, such as /v1?',
  clock: 'Set the clock of this machine.',
  unreached: 'Check its address, and whether this machine may connect to it.',
  busy: 'Wait a moment, then test again.',
  other: 'Ask its operator, or try again later.',
};

/** Of AWS, TLS, Google's `invalid_grant`, and Entra ID. */
const CLOCK =
  /signature (?:has )?expired|signature not yet current|time.?too.?skewed|clock|certificate is not yet valid|\biat and exp\b|valid time range/i;

/** The first that matches says more than the status. */
const BY_WORDS: ReadonlyArray<readonly [RegExp, ProbeTrouble]> = [
  [CLOCK, 'clock'],
  [/access to the model|model access|use case details|not allowed to use publisher model/i, 'model_access'],
  [/location is not supported|not (?:available|supported) in (?:your|this) (?:country|region)|\bregion\b/i, 'region'],
  [/quota|balance|billing|\bcredits?\b|spending limit|usage limit/i, 'quota'],
];

/** Signed requests are refused when clocks differ by more than this. */
const CLOCK_MS_MAX = 300_000;

/** An answer other than 200. `words`: its message, without any credential. */
export function judgeRefusal({ head, body }: CollectedAnswer, words: string): Judged {
  const { status } = head;
  if (status >= 300 && status < 400) {
    const message = `It answered ${status}, a redirect to another address, which is never followed. Correct its address.`;
    return { trouble: 'address', message };
  }
  const trouble = troubleOf(status, body, words, skewOf(headerOf(head, 'date')));
  const end = /[.!?]$/.test(words) ? ' ' : '. ';
  return { trouble, message: `It answered ${status}${words === '' ? '. ' : `: ${words}${end}`}${REMEDIES[trouble]}` };
}

function troubleOf(status: number, body: Buffer, words: string, skewMs: number): ProbeTrouble {
  const { message, code } = readErrorBody(body);
  const meaning = readMeaning(message, code);
  const isRefused = status === 401 || status === 403 || meaning === 'account';
  const named = BY_WORDS.find(([pattern]) => pattern.test(`${code ?? ''} ${words}`))?.[1];
  if (isRefused && Math.abs(skewMs) > CLOCK_MS_MAX) return 'clock';
  if (named !== undefined && (status < 500 || named === 'clock'))
    return named === 'quota' && isBusy(status, meaning) ? 'busy' : named;
  if (isRefused) return 'credential';
  if (status === 402) return 'quota';
  if (status === 404 || status === 405 || meaning === 'model') return 'address';
  return status >= 500 || isBusy(status, meaning) ? 'busy' : 'other';
}

/** Many hosts call a rate a quota. */
function isBusy(status: number, meaning: ReturnType<typeof readMeaning>): boolean {
  return status === 429 && meaning !== 'account';
}

/** How far the provider's clock is ahead of ours; 0: it names no time. */
function skewOf(date: string | null): number {
  const atMs = date === null ? Number.NaN : Date.parse(date);
  return Number.isNaN(atMs) ? 0 : atMs - Date.now();
}

/** No answer came. `cause`: why, without any credential. */
export function judgeUnreached(cause: string): Judged {
  return judgeCause('It was not reached', cause, 'unreached');
}

/** The credential gave no token or signature, so no request was sent. `cause`: why, without any credential. */
export function judgeUnauthorized(cause: string): Judged {
  return judgeCause('Its credential cannot be used', cause, 'credential');
}

function judgeCause(what: string, cause: string, usual: ProbeTrouble): Judged {
  const trouble = CLOCK.test(cause) ? 'clock' : usual;
  return { trouble, message: `${what}: ${cause.replace(/\.$/, '')}. ${REMEDIES[trouble]}` };
}

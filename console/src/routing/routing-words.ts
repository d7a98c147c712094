/** Names the states, choices and failures of routing for people. A code without a row is shown as its own words. */

import { sentenceCase } from '../lib/format.ts';
import type { Tone } from '../ui/badge.tsx';

type Words = Readonly<Record<string, string>>;

const FAILURES: Words = {
  unreached: 'Couldn’t connect',
  reset: 'Connection closed before a response',
  fault: 'Provider error',
  overloaded: 'Provider overloaded',
  rate: 'Rate limited',
  timeout: 'Timed out',
  quota: 'Quota used up',
  credential: 'Credential rejected',
  config: 'Unknown model or address',
  ours: 'Request format rejected',
  overflow: 'Prompt too long for the model',
  policy: 'Blocked by the provider’s content policy',
  content: 'Invalid request',
  cut: 'Response cut off',
  client: 'Client disconnected',
};

/** A class of failure, as of an attempt's record or a target's last failure. */
export function failureText(failureClass: string): string {
  return FAILURES[failureClass] ?? sentenceCase(failureClass);
}

const ATTEMPTS: Words = {
  weight: 'Chosen by weight',
  latency: 'Chosen by latency',
  price: 'Chosen by price',
  pin: 'Same target as earlier in the conversation',
  pin_cooling: 'Fallback: the conversation’s own target was rate limited',
  probe: 'Probe of a target that failed before',
  fallback: 'Fallback',
  retry: 'Retry',
  limp: 'Sent although no target was healthy',
};

/** Why an attempt was made; null: it is the first target in order. */
export function attemptText(why: string | undefined): string | null {
  return why === undefined || why === 'order' ? null : (ATTEMPTS[why] ?? sentenceCase(why));
}

/** Why a request would go to a target, in the routing preview. */
const CHOICES: Words = {
  order: 'First in order that can take the request.',
  weight: 'Chosen by weight.',
  latency: 'Expected to answer first.',
  price: 'Cheapest for this request, with some variation.',
  pin: 'The conversation was served here before.',
  pin_cooling: 'The conversation’s own target is rate limited.',
  probe: 'It failed before; this request probes whether it works again.',
  fallback: 'Tried if the targets above fail.',
  limp: 'No target is healthy, so it is tried all the same.',
};
const SKIPS: Words = {
  breaker: 'Paused after failures',
  benched: 'Not in use',
  cooling: 'All of its credentials are rate limited',
  full: 'At its limit of concurrent requests',
  out: 'Removed from rotation',
};
const FILTERS: Words = {
  tools: 'It doesn’t support tools.',
  images: 'It doesn’t support images.',
  audio: 'It doesn’t support audio.',
  files: 'It doesn’t support files.',
  server_tools: 'It doesn’t support the server tools of the request.',
  issuer: 'It can’t read the stored files of the request, which belong to another provider.',
  format: 'The request has a member that only works in its own format.',
  tag: 'It lacks a required tag.',
  price: 'It has no price.',
};

/** The reason behind a verdict of the preview, as a sentence without its times. */
export function verdictText(verdict: 'chosen' | 'fallback' | 'skipped' | 'filtered', why: string): string {
  if (verdict === 'skipped') return SKIPS[why] ?? sentenceCase(why);
  if (verdict === 'filtered') return FILTERS[why] ?? `${sentenceCase(why)}.`;
  if (verdict === 'chosen' && why === 'fallback') return 'The targets before it can’t take the request now.';
  return CHOICES[why] ?? `${sentenceCase(why)}.`;
}

type Labels<State extends string> = Readonly<Record<State, readonly [word: string, tone: Tone]>>;

export const TARGET_LABELS: Labels<'closed' | 'open' | 'half_open' | 'benched' | 'out'> = {
  closed: ['Healthy', 'good'],
  open: ['Paused after failures', 'bad'],
  half_open: ['Next request probes', 'attention'],
  benched: ['Unknown model or address', 'bad'],
  out: ['Out of rotation', 'attention'],
};

export const CREDENTIAL_LABELS: Labels<'usable' | 'cooling' | 'benched' | 'out'> = {
  usable: ['Usable', 'good'],
  cooling: ['Rate limited', 'attention'],
  benched: ['Not in use', 'bad'],
  out: ['Out of rotation', 'attention'],
};

export const STRATEGY_TEXTS = {
  order: 'Targets in order',
  weight: 'Targets by weight',
  latency: 'Targets by latency',
  price: 'Targets by price',
} as const;

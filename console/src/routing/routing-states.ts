/** Reads the live states of targets and credentials, and says in sentences what they mean. */
import type { ConsoleRoute, Reply } from '../../../gateway/src/console-api/contract/contract.ts';
import { counted, duration } from '../lib/format.ts';
import { useReply } from '../lib/queries.ts';
import { zoneFormat } from '../lib/zone.ts';
import type { Tone } from '../ui/badge.tsx';
import { failureText, TARGET_LABELS } from './routing-words.ts';

export const STATES = 'GET /accounts/{account}/routing/states';

/** The replies that a change of rotation or state changes. */
export const STATE_TOUCHES = [
  STATES,
  'GET /accounts/{account}/routes/{model}',
  'POST /accounts/{account}/routes/explain',
  'GET /accounts/{account}/models/{model}/dry-run',
] as const satisfies readonly ConsoleRoute[];

export type RoutingStates = Reply<typeof STATES>;
export type TargetState = RoutingStates['targets'][number];
export type CredentialState = RoutingStates['credentials'][number];

/** A pause lasts from 5 s; half a minute would show its end too late. */
const REFRESH_MS = 5_000;

/** Refreshed while shown. `enabled` false: the user may not read them. */
export function useRoutingStates(account: string, enabled = true) {
  return useReply(STATES, { path: { account } }, { everyMs: REFRESH_MS, enabled });
}

const DAY_MS = 86_400_000;

/** The clock time within a day, to the second, otherwise date and time. */
export function untilText(iso: string, zone: string, nowMs = Date.now()): string {
  const isNear = Math.abs(Date.parse(iso) - nowMs) < DAY_MS;
  const shape = { timeStyle: 'medium', hourCycle: 'h23' } as const;
  return zoneFormat(zone, isNear ? shape : { ...shape, dateStyle: 'medium' }).format(new Date(iso));
}

/** Whether calls avoid the target, or take it only in part. */
export function isTroubled({ state, share }: TargetState): boolean {
  return state !== 'closed' || share < 1;
}

/** Why the target is in its state and when it leaves it; null: it is healthy. */
export function explainTarget(target: TargetState, zone: string): string | null {
  const { state, until, share, why } = target;
  const end = until === null ? null : untilText(until, zone);
  const last = why === null ? '' : ` Last failure: ${lowerFirst(failureText(why))}.`;
  switch (state) {
    case 'open':
      return `No requests${end === null ? '' : ` until ${end}`}, then one request probes it.${last}`;
    case 'half_open':
      return `One request at a time until one succeeds.${last}`;
    case 'benched':
      return `The provider doesn’t know the model or address.${end === null ? '' : ` Tried again at ${end}.`}`;
    case 'out':
      return 'Removed from rotation by an operator.';
    case 'closed':
      return share < 1 ? `Recovering: takes ${Math.round(share * 100)}% of its usual requests.` : null;
  }
}

/** `2 of the last 20 failed`, open requests, time to the first token; empty: it was not used yet. */
export function targetFacts({ faults, outcomes, open_calls, overdue_calls, latency_ms }: TargetState): string[] {
  return [
    outcomes === 0 ? null : faults === 0 ? 'No failures' : `${faults} of the last ${outcomes} failed`,
    open_calls === 0
      ? null
      : `${counted(open_calls, 'open request')}${overdue_calls === 0 ? '' : `, ${overdue_calls} overdue`}`,
    latency_ms === null ? null : `First token about ${duration(latency_ms)}`,
  ].filter((fact) => fact !== null);
}

/** Those that need attention first, otherwise as in the reply. */
export function sortTargets(targets: readonly TargetState[]): readonly TargetState[] {
  const rank = (one: TargetState) => (one.state === 'closed' ? (one.share < 1 ? 1 : 2) : 0);
  return [...targets].sort((one, other) => rank(one) - rank(other));
}

/** Why the credential is in its state and when it leaves it; null: it is usable. */
export function explainCredential({ state, why, until, cooling }: CredentialState, zone: string): string | null {
  const end = until === null ? null : untilText(until, zone);
  switch (state) {
    case 'benched': {
      const reason = why === 'quota' ? 'Its quota at the provider is used up.' : 'The provider rejects it.';
      return `${reason}${end === null ? '' : ` Tried again at ${end}.`}`;
    }
    case 'cooling': {
      const models = cooling.map(
        ({ upstream_model, until: at, is_guess }) =>
          `${upstream_model} until ${is_guess ? 'about ' : ''}${untilText(at, zone)}`,
      );
      return `Paused for ${models.join(', ')}.`;
    }
    case 'out':
      return 'Removed from rotation by an operator.';
    case 'usable':
      return null;
  }
}

/** The targets whose resumption ends the pauses of a credential. */
export function targetsPausedBy(
  { provider, state, cooling }: CredentialState,
  targets: readonly TargetState[],
): readonly TargetState[] {
  const own = targets.filter((target) => target.provider === provider && target.state !== 'out');
  if (state === 'benched') return own.slice(0, 1);
  return cooling.flatMap(({ upstream_model }) => own.find((one) => one.upstream_model === upstream_model) ?? []);
}

/** The state in a word. Green is for proven health only. */
export function targetLabel({ state, share, outcomes }: TargetState): readonly [word: string, tone: Tone] {
  if (state === 'closed' && share < 1) return ['Recovering', 'attention'];
  return state === 'closed' && outcomes === 0 ? ['Idle', 'neutral'] : TARGET_LABELS[state];
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

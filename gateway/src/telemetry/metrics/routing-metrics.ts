/** Reports the states of targets and credentials, retry budgets, limits left at providers, and pins. */
import { type AddSample, counter, gauge, type MetricSpec } from './registry.ts';

/** The states that a target can have; each has its own series, 1 for the one it is in. */
const TARGET_STATES = ['closed', 'open', 'half_open', 'benched', 'out'] as const;
const CREDENTIAL_STATES = ['usable', 'benched', 'out'] as const;

interface TargetView {
  readonly provider: string;
  /** Two models may each have a target of this name. */
  readonly target: string;
  /** The model at the provider. */
  readonly model: string;
  readonly state: string;
  readonly open: number;
  readonly overdue: number;
  /** Null: it was never called. */
  readonly retriesLeft: number | null;
  readonly waiting: number;
}

interface CredentialView {
  readonly provider: string;
  readonly credential: string;
  readonly state: string;
}

interface HeadroomView {
  readonly provider: string;
  readonly credential: string;
  /** The model at the provider. */
  readonly model: string;
  readonly share: number;
}

/** Every target and credential of the configuration that runs, each once. */
export interface RoutingView {
  readonly targets: readonly TargetView[];
  readonly credentials: readonly CredentialView[];
  readonly headroom: readonly HeadroomView[];
  /** Public models without a usable target. */
  readonly limping: readonly string[];
  readonly pins: number;
  /** Pins that moved, by the reason. */
  readonly pinMoves: ReadonlyMap<string, number>;
}

type Read = (routing: RoutingView, add: AddSample) => void;

const AT_TARGET = ['provider', 'target', 'model'];
const AT_CREDENTIAL = ['provider', 'credential'];

function current(name: string, help: string, labels: readonly string[], read: Read): readonly [MetricSpec, Read] {
  return [gauge(name, '', help, labels), read];
}

export const ROUTING_METRICS: readonly (readonly [MetricSpec, Read])[] = [
  current('tollgate.target_state', '1 for the state of the target.', [...AT_TARGET, 'state'], (routing, add) => {
    for (const { provider, target, model, state } of routing.targets) {
      for (const one of TARGET_STATES) add(Number(one === state), provider, target, model, one);
    }
  }),
  current('tollgate.target_open', 'Attempts in progress at the target.', AT_TARGET, (routing, add) => {
    for (const { provider, target, model, open } of routing.targets) add(open, provider, target, model);
  }),
  current('tollgate.overdue', 'Attempts in progress without the first byte in time.', AT_TARGET, (routing, add) => {
    for (const { provider, target, model, overdue } of routing.targets) add(overdue, provider, target, model);
  }),
  current('tollgate.queue', 'Requests that wait for a place at the target.', AT_TARGET, (routing, add) => {
    for (const { provider, target, model, waiting } of routing.targets) add(waiting, provider, target, model);
  }),
  current('tollgate.retry_budget_left', 'Retries that the target may get now.', AT_TARGET, (routing, add) => {
    for (const { provider, target, model, retriesLeft } of routing.targets) {
      if (retriesLeft !== null) add(retriesLeft, provider, target, model);
    }
  }),
  current(
    'tollgate.credential_state',
    '1 for the state of the credential.',
    [...AT_CREDENTIAL, 'state'],
    (routing, add) => {
      for (const { provider, credential, state } of routing.credentials) {
        for (const one of CREDENTIAL_STATES) add(Number(one === state), provider, credential, one);
      }
    },
  ),
  current(
    'tollgate.headroom',
    'The share left of the tightest rate limit that the provider states; below 0: more was sent than remained. Absent: it states none.',
    [...AT_CREDENTIAL, 'model'],
    (routing, add) => {
      for (const { provider, credential, model, share } of routing.headroom) add(share, provider, credential, model);
    },
  ),
  current('tollgate.limping', '1: no target of the model is closed.', ['route'], (routing, add) => {
    for (const route of routing.limping) add(1, route);
  }),
  current('tollgate.pins', 'Sessions bound to a target.', [], (routing, add) => add(routing.pins)),
  [
    counter('tollgate.pin_moves', '{move}', 'Sessions that moved to another target.', ['why']),
    (routing, add) => {
      for (const [why, count] of routing.pinMoves) add(count, why);
    },
  ],
];

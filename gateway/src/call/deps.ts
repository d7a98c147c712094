/** Owns what the line of a call is given by the composition root: stores, settings, gauges. Holds no logic. */
import type { Capacity } from '../admission/capacity.ts';
import type { Config } from '../config/config.ts';
import type { CallFailure } from '../errors/call-failure.ts';
import type { KeyDirectory } from '../identity/key-directory.ts';
import type { Roster } from '../lib/roster.ts';
import type { ProtocolName } from '../protocols/protocol.ts';
import type { RouteTable } from '../routing/route.ts';
import type { CallRecorder } from '../store/ports/records.ts';
import type { ProviderHealth } from './attempt/provider-health.ts';
import type { CallLog } from './call-log.ts';
import type { ContentDesk } from './content/content-recorder.ts';
import type { Idempotency } from './idempotency/idempotency-run.ts';
import type { MoneyDesk } from './money/billing-deps.ts';
import type { KeptReasoning, ReasoningMark } from './plan/kept-reasoning.ts';

import type { RefusedMembers } from './plan/refused-members.ts';

/** What a reload replaces, all at once; a running call keeps what it began with. */
export interface Settings {
  readonly config: Config;
  readonly routes: RouteTable;
}

/** A call that the gateway itself can end, in words to its client. */
export interface Interruptible {
  interrupt(failure: CallFailure): void;
}

export interface Gate {
  settings: Settings;
  readonly directory: KeyDirectory;
  readonly recorder: CallRecorder;
  readonly capacity: Capacity;
  readonly log: CallLog;
  /** Calls that upstream answers, or is to answer; at the end of a drain each is told why it ends. */
  readonly waiting: Roster<Interruptible>;
  /** Whose reasoning it is that comes back in a history. */
  readonly reasoningMark: ReasoningMark;
  readonly keptReasoning: KeptReasoning;
  /** What upstreams do not know of translated requests. */
  readonly refusedMembers: RefusedMembers;
  readonly idempotency: Idempotency;
  readonly desk: MoneyDesk;
  readonly health: ProviderHealth;
  readonly content: ContentDesk;
  /** Events in an order that their format does not have, by format: what upstreams sent, and what was kept from clients. */
  readonly disorders: { [direction in 'received' | 'withheld']: { [protocol in ProtocolName]: number } };
  /** Calls without a valid key: counted, never recorded. */
  unknownCallers: number;
  /** Load balancers may send calls: false from the first signal to stop on. */
  ready: boolean;
  /** No new call is taken any more. */
  draining: boolean;
}

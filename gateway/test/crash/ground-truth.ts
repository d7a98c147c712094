/**
 * Tracks what is known of a data folder's calls without the gateway: what clients sent and received, and what reached
 * upstream.
 */

import type { ServedCall } from '../fake-upstream/served.ts';
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import type { Payer, Role } from './roles.ts';
import { findLabel, type Received } from './send-call.ts';

/** One request of a labeled call; `received` is null if not even a head came back. */
export interface Sent {
  readonly label: string;
  readonly role: Role;
  readonly received: Received | null;
}

export interface Topup {
  readonly id: string;
  readonly account: Payer;
  /** Integer nano-USD. */
  readonly amount: bigint;
  /** Requested, but the outcome is unknown. */
  isOpen: boolean;
}

export interface GroundTruth {
  readonly sent: Sent[];
  /**
   * By label, the cost of each arrival at the upstream by upstream's own count, in nano-USD; null: it counted nothing.
   */
  readonly arrived: Map<string, (bigint | null)[]>;
  readonly topups: Topup[];
}

export function emptyTruth(): GroundTruth {
  return { sent: [], arrived: new Map(), topups: [] };
}

/** Adds what the fake upstream counted. No call may be running there. */
export function noteArrivals(truth: GroundTruth, fake: FakeUpstream): void {
  if (fake.dropped() > 0) throw new Error(`the fake upstream's book lost ${fake.dropped()} calls`);
  for (const call of fake.served()) {
    const label = findLabel(call.requestBody);
    if (label === null) throw new Error(`a call without a label reached the upstream: ${call.requestLine}`);
    const before = truth.arrived.get(label);
    if (before === undefined) truth.arrived.set(label, [costOf(call)]);
    else before.push(costOf(call));
  }
}

/** At the loop's single price: 1,000 nano-USD per input token, 5,000 per output token. */
function costOf({ usage }: ServedCall): bigint | null {
  const input = usage?.prompt_tokens ?? usage?.input_tokens;
  const output = usage?.completion_tokens ?? usage?.output_tokens;
  if (typeof input !== 'number' || typeof output !== 'number') return null;
  return BigInt(input) * 1_000n + BigInt(output) * 5_000n;
}

/** Owns what is known of a data folder's calls without asking the gateway: what clients sent and heard, what reached upstream. */

import type { ServedCall } from '../fake-upstream/served.ts';
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import type { Payer, Role } from './roles.ts';
import { findLabel, type Heard } from './send-call.ts';

/** One sending of a labelled call; `heard` is null where not even a head came back. */
export interface Sent {
  readonly label: string;
  readonly role: Role;
  readonly heard: Heard | null;
}

export interface Topup {
  readonly id: string;
  readonly account: Payer;
  /** Integer nano-USD. */
  readonly amount: bigint;
  /** Asked for, but nobody knows whether it came through. */
  isOpen: boolean;
}

export interface GroundTruth {
  readonly sent: Sent[];
  /** By label, what each arrival at the upstream costs by upstream's own count, in nano-USD; null: it counted nothing. */
  readonly arrived: Map<string, (bigint | null)[]>;
  readonly topups: Topup[];
}

export function emptyTruth(): GroundTruth {
  return { sent: [], arrived: new Map(), topups: [] };
}

/** Takes over what the fake upstream counted. Nothing may still be running there. */
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

/** At the one price of the loop's models: 1,000 nano-USD for a token of input, 5,000 for one of output. */
function costOf({ usage }: ServedCall): bigint | null {
  const input = usage?.prompt_tokens ?? usage?.input_tokens;
  const output = usage?.completion_tokens ?? usage?.output_tokens;
  if (typeof input !== 'number' || typeof output !== 'number') return null;
  return BigInt(input) * 1_000n + BigInt(output) * 5_000n;
}

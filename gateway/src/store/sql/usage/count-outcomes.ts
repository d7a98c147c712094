/** Owns how many of a block's calls ended in one way or another. */
import type { CallOutcome } from '../../usage-port.ts';
import type { SumBlock } from './sum-block.ts';
import { COUNTERS } from './tally.ts';

const AT = {
  requests: COUNTERS.indexOf('requests'),
  client_error: COUNTERS.indexOf('client_errors'),
  server_error: COUNTERS.indexOf('server_errors'),
  cancelled: COUNTERS.indexOf('cancelled'),
} as const;

/** Of the nth series; null: all. */
export function countCalls({ sums }: SumBlock, nth: number, outcome: CallOutcome | null): number {
  const at = (name: keyof typeof AT) => sums[AT[name]]?.[nth] ?? 0;
  if (outcome === null) return at('requests');
  if (outcome !== 'ok') return at(outcome);
  return at('requests') - at('client_error') - at('server_error') - at('cancelled');
}

/** Defines what a call reports to telemetry at its end. telemetry/ implements it. */
import type { Payer } from '../billing/who-pays.ts';
import type { FailureKind } from '../errors/failure-kinds.ts';
import type { TraceContext } from '../lib/trace-context.ts';
import type { CallRecord } from '../store/ports/records.ts';

/** The end of a token count or of a request about a stored object, which have no record, in the form of one. */
export type CountRecord = Omit<CallRecord, 'protocol'> & { readonly protocol: 'count_tokens' | 'stored' };

export interface CallObserver {
  /**
   * A call of a known caller ended; told once, with the record as it is kept, before it is durable. `model`: the
   * operator's name of its route; null: it got none. `trace`: its place in a trace; null: it has none.
   */
  ended(record: CallRecord, model: string | null, payer: Payer, trace: TraceContext | null): void;
  /** A token count, or a request about a stored object, of a known caller ended; told once. `model` and `trace`: as for `ended`. */
  counted(record: CountRecord, model: string | null, trace: TraceContext | null): void;
  /** A request without a valid key was refused. */
  turnedAway(kind: FailureKind): void;
}

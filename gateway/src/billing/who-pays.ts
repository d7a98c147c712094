/**
 * Decides who pays for a call by how it ended, and which usage is charged. Source: money design, "Who pays": the party
 * that caused the failure pays.
 */
import { type Usage, type UsageSource, ZERO_USAGE } from '../generation/usage.ts';

/**
 * `usage`: upstream's final numbers. `so_far`: the input and the output received so far; `count`: the same for a
 * complete response.
 */
type Charged = 'usage' | 'so_far' | 'checkpoint' | 'count' | 'nothing';

/** Who pays the cost of the usage. */
export type Payer = 'account' | 'operator';

interface Row {
  readonly charged: Charged;
  readonly source: UsageSource;
  /** The source where the row wants upstream's numbers so far and upstream sent none. */
  readonly sourceOfCount?: UsageSource;
  /** Default: the account. */
  readonly payer?: Payer;
}

/** One row for each way a call can end, and one for the attempts that did not answer it. */
export const WHO_PAYS = {
  complete: { charged: 'usage', source: 'upstream' },
  complete_without_usage: { charged: 'count', source: 'counted' },
  /** The caller left or was refused before dispatch. */
  not_dispatched: { charged: 'nothing', source: 'void' },
  caller_left: { charged: 'so_far', source: 'partial', sourceOfCount: 'counted' },
  /** The operator pays for the attempt. */
  failed_without_output: { charged: 'nothing', source: 'void' },
  failed_mid_stream: { charged: 'so_far', source: 'partial', sourceOfCount: 'partial' },
  /** The same, where the operator has chosen to pay. */
  failed_mid_stream_free: { charged: 'so_far', source: 'partial', sourceOfCount: 'partial', payer: 'operator' },
  /**
   * Upstream answered with its final usage, but the gateway could not deliver the response: the operator pays. Contract,
   * 10.24.
   */
  undelivered: { charged: 'usage', source: 'upstream', payer: 'operator' },
  /** The caps did not allow the stream's next slice. */
  extension_refused: { charged: 'so_far', source: 'partial', sourceOfCount: 'partial' },
  crashed: { charged: 'checkpoint', source: 'checkpoint' },
  crashed_without_checkpoint: { charged: 'nothing', source: 'void' },
  replayed: { charged: 'nothing', source: 'cache' },
  /** An attempt before the one that answers the call, or the last of those that all failed. Routing design, 6. */
  lost_attempt: { charged: 'usage', source: 'upstream', sourceOfCount: 'counted', payer: 'operator' },
} as const satisfies Record<string, Row>;

export type CallEnding = keyof typeof WHO_PAYS;

/**
 * What ended a call. `failed`: the response is incomplete for a reason other than the caller's. `undelivered`: the client
 * did not get the response, as far as upstream sent one. `lost`: the attempt is not the one that answers the call.
 */
export type EndedBy =
  | 'complete'
  | 'caller_left'
  | 'failed'
  | 'undelivered'
  | 'extension_refused'
  | 'crashed'
  | 'replayed'
  | 'lost';

export interface EndedCall {
  readonly endedBy: EndedBy;
  /** Whether bytes were sent to an upstream. */
  readonly dispatched: boolean;
  /** Whether upstream produced any output. */
  readonly produced: boolean;
  /** Upstream's final numbers; null: missing, invalid, or followed by more of the response. */
  readonly usage: Usage | null;
  /** Upstream's numbers so far; for a crashed call those of its last checkpoint. */
  readonly usageSoFar: Usage | null;
  /** Our count of the output received when upstream sent `usageSoFar`; absent: upstream sent it before any output. */
  readonly countedWhenReported?: number;
  /** The operator's choice for interrupted responses: `free` for the account, or billed to it. */
  readonly brokenAnswers: 'bill' | 'free';
}

export interface Charge {
  readonly ending: CallEnding;
  readonly usage: Usage;
  readonly source: UsageSource;
  readonly payer: Payer;
}

/**
 * Chooses the usage that is charged. `count` makes our own count of the input and the output received; called only
 * where needed.
 */
export function chooseCharge(ended: EndedCall, count: () => Usage): Charge {
  const ending = nameEnding(ended);
  const row: Row = WHO_PAYS[ending];
  const { usage, usageSoFar } = ended;
  const { source, payer = 'account' } = row;
  if (row.charged === 'nothing') return { ending, usage: ZERO_USAGE, source, payer };
  if (row.charged === 'usage' && usage !== null) return { ending, usage, source, payer };
  if (row.charged === 'checkpoint' && usageSoFar !== null) return { ending, usage: usageSoFar, source, payer };
  const counted = count();
  if (usageSoFar === null) {
    return { ending, usage: counted, source: row.sourceOfCount ?? source, payer };
  }
  const output = outputSoFar(usageSoFar.output, counted.output, ended.countedWhenReported ?? 0);
  return { ending, usage: { ...usageSoFar, output }, source, payer };
}

/** Largest factor by which our own count of a text can be wrong. */
const COUNT_TIMES = 4;

/**
 * Upstream's number for the output it covers, plus our count for the output after it. A number sent before any text, or
 * far too small for it (hosts that put zeros into every chunk), is ignored in favor of our count.
 */
function outputSoFar(reported: number, counted: number, countedWhenReported: number): number {
  const isBelieved = countedWhenReported > 0 && reported * COUNT_TIMES >= countedWhenReported;
  if (isBelieved) return reported + Math.max(0, counted - countedWhenReported);
  return Math.max(reported, counted);
}

function nameEnding({ endedBy, dispatched, produced, usage, usageSoFar, brokenAnswers }: EndedCall): CallEnding {
  if (endedBy === 'replayed') return 'replayed';
  if (endedBy === 'lost') return 'lost_attempt';
  if (endedBy === 'crashed') return usageSoFar === null ? 'crashed_without_checkpoint' : 'crashed';
  if (!dispatched) return 'not_dispatched';
  if (endedBy === 'complete') return usage === null ? 'complete_without_usage' : 'complete';
  if (endedBy === 'undelivered' && usage === null) return 'failed_without_output';
  if (endedBy !== 'failed') return endedBy;
  if (!produced) return 'failed_without_output';
  return brokenAnswers === 'free' ? 'failed_mid_stream_free' : 'failed_mid_stream';
}

/**
 * Owns the table of who pays for a call by how it ended, and the choice of the usage that is charged. Knows no price, and
 * not how our own count is made. Source: money design, "Who pays": whoever broke it pays.
 */
import { type Usage, type UsageSource, ZERO_USAGE } from '../generation/usage.ts';

/**
 * `usage`: upstream's final numbers. `so_far`: the input and what came of the output; `count`: the same, of a whole answer.
 * `told`: upstream's numbers, final or not, and never our own.
 */
type Charged = 'usage' | 'so_far' | 'checkpoint' | 'count' | 'told' | 'nothing';

/** Who bears what the usage costs. */
export type Payer = 'account' | 'operator';

interface Row {
  readonly charged: Charged;
  readonly source: UsageSource;
  /** The source where the row wants upstream's numbers so far, and upstream gave none. */
  readonly sourceOfCount?: UsageSource;
  /** Left out: the account. */
  readonly payer?: Payer;
}

/** Who pays: a row for each way a call can end. */
export const WHO_PAYS = {
  complete: { charged: 'usage', source: 'upstream' },
  complete_without_usage: { charged: 'count', source: 'counted' },
  /** The caller left, or was refused. */
  not_dispatched: { charged: 'nothing', source: 'void' },
  caller_left: { charged: 'so_far', source: 'partial', sourceOfCount: 'counted' },
  /** The operator bears what the attempt cost. */
  failed_without_output: { charged: 'nothing', source: 'void' },
  failed_mid_stream: { charged: 'so_far', source: 'partial', sourceOfCount: 'partial' },
  /** The same, where the operator has chosen to bear it. */
  failed_mid_stream_free: { charged: 'so_far', source: 'partial', sourceOfCount: 'partial', payer: 'operator' },
  /** Upstream answered with usage, and the gateway could not deliver it: the operator bears it. Contract, 10.24. */
  undelivered: { charged: 'told', source: 'upstream', payer: 'operator' },
  /** The caps did not allow the stream its next slice. */
  extension_refused: { charged: 'so_far', source: 'partial', sourceOfCount: 'partial' },
  crashed: { charged: 'checkpoint', source: 'checkpoint' },
  crashed_without_checkpoint: { charged: 'nothing', source: 'void' },
  replayed: { charged: 'nothing', source: 'cache' },
} as const satisfies Record<string, Row>;

export type CallEnding = keyof typeof WHO_PAYS;

/**
 * What ended a call. `failed`: the answer is not whole, for a reason that is not the caller's. `undelivered`: upstream answered,
 * and the client did not get it.
 */
export type EndedBy =
  | 'complete'
  | 'caller_left'
  | 'failed'
  | 'undelivered'
  | 'extension_refused'
  | 'crashed'
  | 'replayed';

export interface EndedCall {
  readonly endedBy: EndedBy;
  /** Bytes were sent to an upstream. */
  readonly dispatched: boolean;
  /** Some output came from upstream. */
  readonly produced: boolean;
  /** Upstream's final numbers; null: missing or invalid, or more of the answer came after them. */
  readonly usage: Usage | null;
  /** Upstream's numbers as far as they came, or of a crashed call its last checkpoint's. */
  readonly usageSoFar: Usage | null;
  /** Our count of the output that had come when upstream told `usageSoFar`; absent: it told it before any came. */
  readonly countedWhenTold?: number;
  /** What the operator chose for an answer that broke off: `free` for the account, or billed to it. */
  readonly brokenAnswers: 'bill' | 'free';
}

export interface Charge {
  readonly ending: CallEnding;
  readonly usage: Usage;
  readonly source: UsageSource;
  readonly payer: Payer;
}

/** The usage that is charged. `count` makes our own count of the input and of the output that came; asked only where it matters. */
export function chooseCharge(ended: EndedCall, count: () => Usage): Charge {
  const ending = nameEnding(ended);
  const row: Row = WHO_PAYS[ending];
  const { usage, usageSoFar } = ended;
  const { source, payer = 'account' } = row;
  if (row.charged === 'nothing') return { ending, usage: ZERO_USAGE, source, payer };
  if (row.charged === 'usage' && usage !== null) return { ending, usage, source, payer };
  if (row.charged === 'checkpoint' && usageSoFar !== null) return { ending, usage: usageSoFar, source, payer };
  const told = usage ?? usageSoFar;
  if (row.charged === 'told' && told !== null) {
    return { ending, usage: told, source: usage === null ? 'partial' : source, payer };
  }
  const counted = count();
  if (usageSoFar === null) {
    return { ending, usage: counted, source: row.sourceOfCount ?? source, payer };
  }
  const output = outputSoFar(usageSoFar.output, counted.output, ended.countedWhenTold ?? 0);
  return { ending, usage: { ...usageSoFar, output }, source, payer };
}

/** Our own count of a text is wrong by no more than so many times. */
const COUNT_TIMES = 4;

/**
 * Upstream's number for what it was told of, and our count for what came after it. A number that was told before any text, or
 * that is far too small for it (hosts that put zeros into every chunk), says nothing: what came was made.
 */
function outputSoFar(told: number, counted: number, countedWhenTold: number): number {
  const isBelieved = countedWhenTold > 0 && told * COUNT_TIMES >= countedWhenTold;
  if (isBelieved) return told + Math.max(0, counted - countedWhenTold);
  return Math.max(told, counted);
}

function nameEnding({ endedBy, dispatched, produced, usage, usageSoFar, brokenAnswers }: EndedCall): CallEnding {
  if (endedBy === 'replayed') return 'replayed';
  if (endedBy === 'crashed') return usageSoFar === null ? 'crashed_without_checkpoint' : 'crashed';
  if (!dispatched) return 'not_dispatched';
  if (endedBy === 'complete') return usage === null ? 'complete_without_usage' : 'complete';
  if (endedBy === 'undelivered' && usage === null && usageSoFar === null) return 'failed_without_output';
  if (endedBy !== 'failed') return endedBy;
  if (!produced) return 'failed_without_output';
  return brokenAnswers === 'free' ? 'failed_mid_stream_free' : 'failed_mid_stream';
}

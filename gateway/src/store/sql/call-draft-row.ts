/** Owns how a running call's draft and checkpoint lie beside its hold, and the record that they make if the process dies. */
import { type Usage, ZERO_USAGE } from '../../generation/usage.ts';
import type { UsageApart } from '../../generation/usage-apart.ts';
import type { CallDraft, Checkpoint } from '../ledger-port.ts';
import type { CallRecord } from '../ports.ts';

/** Call and account stand in the hold's own columns. */
const MEMBERS = [
  'at_ms',
  'workspace',
  'key_id',
  'key_name',
  'end_user',
  'session',
  'protocol',
  'model',
  'served_model',
  'provider',
  'stream',
  'price_version',
] as const satisfies readonly (keyof CallDraft)[];

const COUNTERS = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'reasoning'] as const;

/** A draft's values in the order of `MEMBERS`. */
type DraftValues = readonly (string | number | boolean | null)[];
/** A checkpoint's cost as decimal text, then its counters, then what it has beside them, if anything. */
type CheckpointValues = readonly [cost: string, ...counters: (number | UsageApart)[]];

/** The draft as JSON text. */
export function renderDraft(draft: CallDraft): string {
  return JSON.stringify(MEMBERS.map((member) => draft[member]) satisfies DraftValues);
}

/** The checkpoint as JSON text. */
export function renderCheckpoint({ cost, usage }: Checkpoint): string {
  const counters = COUNTERS.map((counter) => usage[counter]);
  const apart = usage.apart === undefined ? [] : [usage.apart];
  return JSON.stringify([cost.toString(), ...counters, ...apart] satisfies CheckpointValues);
}

/** The row of a hold that nobody ended; `draft` and `checkpoint` as rendered above. */
export interface UnendedHold {
  readonly call_id: string;
  readonly account: string;
  readonly draft: string;
  readonly checkpoint: string | null;
}

/** What a call that nobody ended comes to. */
export interface UnendedCall {
  readonly record: CallRecord;
  /** Nano-USD of the usage; 0 without a checkpoint. */
  readonly cost: bigint;
}

/**
 * The end of a call whose process died: its last checkpoint is what was used, without one nothing was. A checkpoint is made
 * as output goes out: a caller of a stream had its 200 by then. How long it ran is not known, so `duration_ms` is 0.
 */
export function endUnendedCall({ call_id, account, draft, checkpoint }: UnendedHold, error: string): UnendedCall {
  const values = JSON.parse(draft) as DraftValues;
  const kept = Object.fromEntries(MEMBERS.map((member, index) => [member, values[index]]));
  const members = { ...kept, request_id: call_id, account } as unknown as CallDraft;
  const [costText, ...counters] = checkpoint === null ? ['0'] : (JSON.parse(checkpoint) as CheckpointValues);
  const cost = BigInt(costText);
  const names = counters.length > COUNTERS.length ? [...COUNTERS, 'apart'] : COUNTERS;
  const usage: Usage =
    checkpoint === null
      ? ZERO_USAGE
      : (Object.fromEntries(names.map((counter, index) => [counter, counters[index]])) as unknown as Usage);
  const unpriced = checkpoint !== null && members.price_version === null;
  const { provider, served_model: model, stream } = members;
  const answered = checkpoint !== null && provider !== null && model !== null;
  const record: CallRecord = {
    ...members,
    status: checkpoint !== null && stream ? 200 : 500,
    error,
    reason: { kind: 'ours', at_step: checkpoint === null ? 'provider' : 'answer' },
    finish_reason: null,
    usage,
    usage_source: checkpoint === null ? 'void' : 'checkpoint',
    usage_flags: null,
    cost_nano_usd: unpriced ? null : cost.toString(),
    ttfb_ms: null,
    duration_ms: 0,
    attempts: answered ? [{ provider, model, status: 200, error, duration_ms: 0 }] : [],
  };
  return { record, cost: unpriced ? 0n : cost };
}

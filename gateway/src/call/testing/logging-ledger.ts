/** Implements a ledger for tests that notes its operations in order and fails on demand. Keeps no balance. */
import type { Ledger } from '../../store/ports/ledger.ts';
import type { CallRecord } from '../../store/ports/records.ts';

export interface NotedLedger extends Ledger {
  /** The operations: `hold req_1 40`, `extend req_1 #1 5`, `settle req_1 posted 9 released 36 absorbed 0` … */
  readonly kept: string[];
  readonly records: CallRecord[];
  /** Operations to reject from now on. */
  readonly failing: Set<'hold' | 'extend' | 'checkpoint' | 'settle'>;
}

/** Creates an empty ledger that accepts everything. */
export function createNotedLedger(): NotedLedger {
  const kept: string[] = [];
  const records: CallRecord[] = [];
  const failing: NotedLedger['failing'] = new Set();
  const keep = async (operation: 'hold' | 'extend' | 'checkpoint' | 'settle', what: string): Promise<void> => {
    if (failing.has(operation)) throw new Error(`no ${operation} is kept`);
    kept.push(`${operation} ${what}`);
  };
  const unasked = (): never => {
    throw new Error('no call asks for this');
  };
  return {
    kept,
    records,
    failing,
    hold: ({ draft, amount }) => keep('hold', `${draft.request_id} ${amount}`),
    extend: (call_id, nth, amount) => keep('extend', `${call_id} #${nth} ${amount}`),
    checkpoint: ({ call_id, usage, cost }) => keep('checkpoint', `${call_id} output ${usage.output} cost ${cost}`),
    async settle({ record, posted, released, writtenOff }) {
      await keep('settle', `${record.request_id} posted ${posted} released ${released} absorbed ${writtenOff}`);
      records.push(record);
    },
    async settleUnheld({ record, posted, released, writtenOff }) {
      kept.push(`settle ${record.request_id} unheld posted ${posted} released ${released} absorbed ${writtenOff}`);
      records.push(record);
    },
    append: unasked,
    async abandon(call_id) {
      kept.push(`abandon ${call_id}`);
    },
    topup: unasked,
    correct: unasked,
    readMovement: unasked,
    readBalances: async () => [],
    writable: () => true,
  };
}

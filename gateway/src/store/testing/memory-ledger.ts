/** Implements the ledger in memory, for tests. Exact, but neither durable nor hashed. */
import { ZERO_USAGE } from '../../generation/usage.ts';
import type { NewAuditEntry } from '../ports/audit.ts';
import type {
  AccountBalance,
  AccountMode,
  CallDraft,
  Checkpoint,
  EntryKind,
  Ledger,
  LedgerProof,
  Movement,
  Settlement,
} from '../ports/ledger.ts';
import type { CallRecord } from '../ports/records.ts';
import { ConstraintViolation, InsufficientFunds } from '../ports/store-errors.ts';

type Amounts = Omit<AccountBalance, 'account' | 'mode'>;

interface Entry {
  readonly kind: EntryKind;
  readonly account: string;
  readonly amount: bigint;
  readonly released: bigint;
}

interface OpenHold {
  readonly draft: CallDraft;
  amount: bigint;
  extensions: number;
  checkpoint: Checkpoint | null;
}

export interface MemoryLedger extends Ledger {
  readonly records: ReadonlyMap<string, CallRecord>;
  /** Ends every open call as recovery after a crash does. */
  recover(): { readonly posted: number; readonly voided: number };
  /** Compares the balances with the sum of all entries. */
  prove(): LedgerProof;
}

const NOTHING: Amounts = { available: 0n, held: 0n, charged: 0n, writtenOff: 0n, toppedUp: 0n };
const CALL_ENDS: readonly EntryKind[] = ['post', 'void'];

/** `modes`: the accounts, read at each operation. `onMoved` gets the audit entry of each new movement. */
export function createMemoryLedger(
  modes: ReadonlyMap<string, AccountMode>,
  onMoved: (entry: NewAuditEntry) => void = () => undefined,
): MemoryLedger {
  const entries: Entry[] = [];
  const balances = new Map<string, Amounts>();
  const open = new Map<string, OpenHold>();
  const records = new Map<string, CallRecord>();
  const movements = new Map<string, Movement>();

  /** The account's amounts after the entry; throws where it is refused. */
  function fold(entry: Entry): Amounts {
    const mode = modes.get(entry.account);
    if (mode === undefined) throw invalid(`there is no account ${entry.account}`);
    const before = balances.get(entry.account) ?? NOTHING;
    const after = moved(before, entry);
    const spends = entry.kind === 'hold' || entry.kind === 'extend' || entry.kind === 'correct';
    if (mode === 'prepaid' && spends && after.available < before.available && after.available < 0n)
      throw new InsufficientFunds(`${entry.account} has ${before.available} nano-USD available`);
    if ([...Object.values(after), entry.amount].some((amount) => BigInt.asIntN(64, amount) !== amount))
      throw invalid('the amounts would leave the range of 64 bits');
    return after;
  }

  function add(entry: Entry): void {
    balances.set(entry.account, fold(entry));
    entries.push(entry);
  }

  function hold(draft: CallDraft, amount: bigint): void {
    if (amount < 0n) throw invalid(`a hold of ${amount}`);
    const entry = { kind: 'hold', account: draft.account, amount, released: 0n } as const;
    fold(entry);
    if (open.has(draft.request_id) || records.has(draft.request_id))
      throw conflict(`the call ${draft.request_id} is held or settled already`);
    add(entry);
    open.set(draft.request_id, { draft, amount, extensions: 0, checkpoint: null });
  }

  function requireHold(call_id: string): OpenHold {
    const found = open.get(call_id);
    if (found === undefined) throw conflict(`the call ${call_id} holds nothing`);
    return found;
  }

  function settle({ record, posted, released, writtenOff }: Settlement): void {
    const { request_id, account } = record;
    const held = requireHold(request_id);
    if (posted + released !== held.amount || account !== held.draft.account)
      throw invalid(`the settlement does not fit the hold of call ${request_id}`);
    if (writtenOff > 0n) add({ kind: 'absorb', account, amount: writtenOff, released: 0n });
    add({ kind: posted > 0n ? 'post' : 'void', account, amount: posted, released });
    open.delete(request_id);
    records.set(request_id, record);
  }

  function endUnended(call_id: string, error: string): 'posted' | 'voided' {
    const { draft, amount, checkpoint } = requireHold(call_id);
    const cost = checkpoint?.cost ?? 0n;
    const posted = cost < amount ? cost : amount;
    const { provider, served_model: model } = draft;
    const isAnswered = checkpoint !== null && provider !== null && model !== null;
    const record: CallRecord = {
      ...draft,
      status: checkpoint !== null && draft.stream ? 200 : 500,
      error,
      reason: { kind: 'ours', at_step: checkpoint === null ? 'provider' : 'answer' },
      finish_reason: null,
      usage: checkpoint?.usage ?? ZERO_USAGE,
      usage_source: checkpoint === null ? 'void' : 'checkpoint',
      usage_flags: null,
      cost_nano_usd: checkpoint !== null && draft.price_version === null ? null : cost.toString(),
      ttfb_ms: null,
      duration_ms: 0,
      attempts: isAnswered ? [{ provider, model, status: 200, error, duration_ms: 0 }] : [],
    };
    settle({ record, posted, released: amount - posted, writtenOff: cost - posted });
    return posted > 0n ? 'posted' : 'voided';
  }

  function move(kind: 'topup' | 'correct', movement: Movement, entry?: NewAuditEntry): AccountBalance {
    const { id, account, amount, note } = movement;
    if (![id, account, note ?? ''].every((text) => text.isWellFormed())) throw invalid('half of a surrogate pair');
    const before = movements.get(`${kind} ${id}`);
    if (before !== undefined && (before.account !== account || before.amount !== amount))
      throw conflict(`the ${kind} ${id} moved another amount or account`);
    if (before === undefined) {
      if (kind === 'topup' ? amount <= 0n : amount === 0n) throw invalid(`a ${kind} of ${amount}`);
      add({ kind, account, amount, released: 0n });
      movements.set(`${kind} ${id}`, movement);
      if (entry !== undefined) onMoved(entry);
    }
    return balanceOf(account);
  }

  function balanceOf(account: string): AccountBalance {
    return { account, mode: modes.get(account) ?? 'postpaid', ...(balances.get(account) ?? NOTHING) };
  }

  return {
    records,
    hold: async ({ draft, amount }) => hold(draft, amount),
    async extend(call_id, nth, amount) {
      const found = requireHold(call_id);
      if (amount < 0n) throw invalid(`an extension of ${amount}`);
      const entry = { kind: 'extend', account: found.draft.account, amount, released: 0n } as const;
      fold(entry);
      if (nth !== found.extensions + 1) throw conflict(`the call ${call_id} is not at its extension ${nth}`);
      add(entry);
      found.amount += amount;
      found.extensions = nth;
    },
    async checkpoint(checkpoint) {
      requireHold(checkpoint.call_id).checkpoint = checkpoint;
    },
    async settle(settlement) {
      checkSettlement(settlement);
      settle(settlement);
    },
    async settleUnheld(settlement) {
      checkSettlement(settlement);
      if (settlement.posted !== 0n) throw invalid('a call whose hold may not be stored posts nothing');
      const { record } = settlement;
      if (records.has(record.request_id)) return;
      if (!open.has(record.request_id)) hold(record, 0n);
      settle({ ...settlement, released: requireHold(record.request_id).amount });
    },
    async append(record) {
      if (record.cost_nano_usd !== null && record.cost_nano_usd !== '0')
        throw invalid('a call that held nothing costs nothing');
      if (open.has(record.request_id) || records.has(record.request_id))
        throw conflict(`the call ${record.request_id} is held or recorded already`);
      records.set(record.request_id, record);
    },
    async abandon(call_id) {
      if (open.has(call_id)) endUnended(call_id, 'gateway_fault');
    },
    topup: async (movement, entry) => move('topup', movement, entry),
    correct: async (movement, entry) => move('correct', movement, entry),
    readMovement: async (kind, id) => movements.get(`${kind} ${id}`) ?? null,
    readBalances: async (account) =>
      [...modes.keys()]
        .filter((id) => account === undefined || id === account)
        .sort()
        .map(balanceOf),
    writable: () => true,
    recover() {
      const recovered = { posted: 0, voided: 0 };
      for (const call_id of [...open.keys()]) recovered[endUnended(call_id, 'gateway_crashed')] += 1;
      return recovered;
    },
    prove() {
      const sums = new Map<string, Amounts>();
      for (const entry of entries) sums.set(entry.account, moved(sums.get(entry.account) ?? NOTHING, entry));
      const wrong = [...sums].find(([account, sum]) => !Bun.deepEquals(sum, balances.get(account)));
      const problem = wrong === undefined ? null : { entry: null, message: `account ${wrong[0]}: the balance differs` };
      const calls = entries.filter(({ kind }) => CALL_ENDS.includes(kind)).length;
      return { entries: entries.length, calls, last: null, problem };
    },
  };
}

function moved(before: Amounts, { kind, amount, released }: Entry): Amounts {
  const { available, held, charged, writtenOff, toppedUp } = before;
  switch (kind) {
    case 'topup':
      return { ...before, available: available + amount, toppedUp: toppedUp + amount };
    case 'correct':
      return { ...before, available: available + amount };
    case 'hold':
    case 'extend':
      return { ...before, available: available - amount, held: held + amount };
    case 'absorb':
      return { ...before, writtenOff: writtenOff + amount };
    default: {
      const rest = { available: available + released, held: held - amount - released };
      return { ...before, ...rest, charged: charged + amount };
    }
  }
}

function checkSettlement({ record, posted, released, writtenOff }: Settlement): void {
  const isExact = BigInt(record.cost_nano_usd ?? 0) === posted + writtenOff;
  if (!isExact || posted < 0n || released < 0n || writtenOff < 0n) throw invalid('the parts are not those of the cost');
  if (!Number.isFinite(record.at_ms) || !Number.isFinite(record.duration_ms)) throw invalid('a time is no number');
}

function invalid(message: string): ConstraintViolation {
  return new ConstraintViolation('invalid', message);
}

function conflict(message: string): ConstraintViolation {
  return new ConstraintViolation('conflict', message);
}

/** Generates random but valid histories of frames for tests, with what the tables must show after them. */
import { EMPTY_BALANCE, sumAttempts } from '../../ledger/fold-balance.ts';
import type { Frame } from '../../ports/journal.ts';
import type { CallRecord } from '../../ports/records.ts';
import { randomCall } from '../../testing/random-calls.ts';
import { jobOf } from '../../testing/sample-call.ts';

export interface ModelBalance {
  available: bigint;
  held: bigint;
  charged: bigint;
  writtenOff: bigint;
  toppedUp: bigint;
  absorbedAttempts: bigint;
}

/** A line as a statement shows it; `position` sorts like the arrival of its call or movement. */
export interface ModelLine {
  readonly account: string;
  readonly kind: string;
  readonly ref: string;
  readonly atMs: number;
  readonly amount: bigint;
  readonly released: bigint;
}

export interface History {
  readonly frames: readonly Frame[];
  readonly balances: ReadonlyMap<string, ModelBalance>;
  /** Calls that hold money at the end, with all that they hold. */
  readonly open: ReadonlyMap<string, { readonly record: CallRecord; readonly held: bigint }>;
  /** The ends of calls and the movements, in order. */
  readonly ends: readonly { readonly record: CallRecord; readonly posted: bigint; readonly endedMs: number }[];
  readonly records: readonly CallRecord[];
  readonly lines: readonly ModelLine[];
}

const VARIETY = {
  accounts: ['default', 'acme'],
  keysPerAccount: 3,
  models: 3,
  endUsersPerAccount: 4,
  sessionMs: 600_000,
};
const HOUR_MS = 3_600_000;

/** `count` calls that arrive from `startMs` on, one each minute, the first numbered `firstNth`. */
export function randomHistory(random: () => number, count: number, startMs: number, firstNth = 0): History {
  const frames: Frame[] = [];
  const balances = new Map<string, ModelBalance>();
  const open = new Map<string, { record: CallRecord; held: bigint; extensions: number; isDetached: boolean }>();
  const ends: { record: CallRecord; posted: bigint; endedMs: number }[] = [];
  const records: CallRecord[] = [];
  const lines: ModelLine[] = [];
  const chance = (share: number) => random() < share;
  const amountUpTo = (most: number) => BigInt(Math.floor(random() * most));
  const balanceOf = (account: string) => {
    const balance = balances.get(account) ?? { ...EMPTY_BALANCE };
    balances.set(account, balance);
    return balance;
  };

  function end(record: CallRecord, own: bigint | null, held: bigint): void {
    const cost = BigInt(record.cost_nano_usd ?? 0);
    const posted = cost < held ? cost : held;
    const [released, writtenOff] = [held - posted, cost - posted];
    const hold = own === null ? null : { amount: own, prepaid: false };
    const endedMs = record.at_ms + Math.floor(random() ** 4 * 5 * HOUR_MS);
    frames.push({ kind: 'end', record, hold, posted, released, writtenOff, at_ms: endedMs });
    records.push(record);
    ends.push({ record, posted, endedMs });
    const balance = balanceOf(record.account);
    balance.available += own === null ? released : -posted;
    if (own === null) balance.held -= held;
    balance.charged += posted;
    balance.writtenOff += writtenOff;
    balance.absorbedAttempts += sumAttempts(record);
    const common = { account: record.account, ref: record.request_id };
    lines.push({ ...common, kind: 'hold', atMs: record.at_ms, amount: held, released: 0n });
    if (writtenOff > 0n) lines.push({ ...common, kind: 'absorb', atMs: endedMs, amount: writtenOff, released: 0n });
    lines.push({ ...common, kind: posted > 0n ? 'post' : 'void', atMs: endedMs, amount: posted, released });
  }

  function move(nth: number, atMs: number): void {
    const account = chance(0.5) ? 'default' : 'acme';
    const of = chance(0.7) ? 'topup' : 'correct';
    const amount = of === 'topup' ? amountUpTo(9_000_000) + 1n : amountUpTo(200) - 300n;
    const audited = { kind: 'account', id: account };
    const by = { actor: { kind: 'command_line', id: 'command_line', name: 'command line' }, address: null } as const;
    const members = { before: null, after: null };
    const audit = chance(0.5)
      ? { atMs, account, workspace: null, by, act: `accounts.${of}`, subject: audited, ...members }
      : null;
    const movement = { id: `m${nth}`, account, amount, note: chance(0.5) ? `note ${nth}` : null, at_ms: atMs };
    frames.push({ kind: 'movement', of, movement, prepaid: false, audit });
    const balance = balanceOf(account);
    balance.available += amount;
    if (of === 'topup') balance.toppedUp += amount;
    lines.push({ account, kind: of, ref: movement.id, atMs, amount, released: 0n });
  }

  /** Extends, notes or ends one of the open calls. */
  function goOn(): void {
    const all = [...open.values()];
    const call = all[Math.floor(random() * all.length)];
    if (call === undefined) return;
    const { request_id: call_id, account } = call.record;
    if (chance(0.2)) {
      const amount = amountUpTo(5_000_000);
      call.extensions += 1;
      call.held += amount;
      const at_ms = call.record.at_ms + 5;
      frames.push({ kind: 'extend', call_id, nth: call.extensions, amount, prepaid: false, at_ms });
      balanceOf(account).available -= amount;
      balanceOf(account).held += amount;
    } else if (!call.isDetached && chance(0.1)) {
      call.isDetached = true;
      frames.push({ kind: 'detach', call_id, at_ms: call.record.at_ms + 6, job: jobOf(`resp_${call_id}`) });
    } else if (chance(0.25)) {
      frames.push({ kind: 'checkpoint', call_id, usage: call.record.usage, cost: amountUpTo(5_000) });
    } else {
      open.delete(call_id);
      end(call.record, null, call.held);
    }
  }

  for (let nth = firstNth; nth < firstNth + count; nth++) {
    const record = randomCall(random, VARIETY, startMs + (nth - firstNth) * 60_000, nth);
    const hold = amountUpTo(Number(record.cost_nano_usd ?? 0) * 2 + 10);
    if (chance(0.1)) {
      const refused = { ...record, cost_nano_usd: chance(0.5) ? '0' : null };
      frames.push({ kind: 'refused', record: refused });
      records.push(refused);
      balanceOf(refused.account).absorbedAttempts += sumAttempts(refused);
    } else if (chance(0.6)) {
      end(record, hold, hold);
    } else {
      frames.push({ kind: 'hold', draft: record, amount: hold, prepaid: false });
      open.set(record.request_id, { record, held: hold, extensions: 0, isDetached: false });
      balanceOf(record.account).available -= hold;
      balanceOf(record.account).held += hold;
    }
    while (open.size > 0 && chance(0.6)) goOn();
    if (chance(0.1)) move(nth, record.at_ms);
  }
  return { frames, balances, open, ends, records, lines };
}

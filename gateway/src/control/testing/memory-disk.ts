/**
 * Simulates a disk in memory for tests of commands: policy and money. Each write takes a turn of the event loop, and
 * fails when told to.
 */
import type { NewAuditEntry } from '../../store/ports/audit.ts';
import type { ImportedObject } from '../../store/ports/books/imports.ts';
import type { AccountBalance, Ledger, Movement } from '../../store/ports/ledger.ts';
import type { LimitRule, PolicyChange, PolicyStore, StoredAccount } from '../../store/ports/policy.ts';
import type { StoredKey, StoredWorkspace } from '../../store/ports/records.ts';

export interface MemoryDisk {
  /** While true, nothing can be written. */
  full: boolean;
  readonly keys: Map<string, StoredKey>;
  readonly workspaces: Map<string, StoredWorkspace>;
  readonly accounts: Map<string, StoredAccount>;
  /** By `kind:id` of the subject. */
  readonly rules: Map<string, LimitRule>;
  readonly imports: Map<string, ImportedObject>;
  readonly balances: Map<string, AccountBalance>;
  readonly movements: Movement[];
  /** The audit trail. */
  readonly entries: NewAuditEntry[];
  readonly policies: PolicyStore;
  readonly ledger: Pick<Ledger, 'topup' | 'correct' | 'readMovement' | 'readBalances'>;
}

const ACCOUNT: StoredAccount = {
  id: 'default',
  name: 'Default',
  mode: 'postpaid',
  markUpPpm: 0,
  timeZone: 'UTC',
  holds: null,
  createdAtMs: 0,
};
const WORKSPACE: StoredWorkspace = {
  id: 'default',
  accountId: 'default',
  models: null,
  bodies: null,
  bodiesDays: null,
  createdAtMs: 0,
};

/** The balance of an account without movements. */
export function emptyBalance(account: string): AccountBalance {
  return {
    account,
    mode: 'postpaid',
    available: 0n,
    held: 0n,
    charged: 0n,
    writtenOff: 0n,
    toppedUp: 0n,
    absorbedAttempts: 0n,
  };
}

/** A disk after a first start. */
export function createMemoryDisk(): MemoryDisk {
  const disk: MemoryDisk = {
    full: false,
    keys: new Map(),
    workspaces: new Map([[WORKSPACE.id, WORKSPACE]]),
    accounts: new Map([[ACCOUNT.id, ACCOUNT]]),
    rules: new Map(),
    imports: new Map(),
    balances: new Map(),
    movements: [],
    entries: [],
    policies: {
      readKeys: async () => [...disk.keys.values()],
      readWorkspaces: async () => [...disk.workspaces.values()],
      readAccounts: async () => [...disk.accounts.values()],
      readLimitRules: async () => [...disk.rules.values()],
      readImported: async (source, foreignIds) =>
        [...disk.imports.values()].filter((each) => each.source === source && foreignIds.includes(each.foreignId)),
      async save(changes, entries = []) {
        await waitForWrite(disk);
        for (const change of changes) take(disk, change);
        disk.entries.push(...entries);
      },
    },
    ledger: {
      topup: (movement, entry) => move(disk, movement, movement.amount, entry),
      correct: (movement, entry) => move(disk, movement, 0n, entry),
      readMovement: async (_kind, id) => disk.movements.find((movement) => movement.id === id) ?? null,
      readBalances: async (account) =>
        [...disk.balances.values()].filter((balance) => account === undefined || balance.account === account),
    },
  };
  return disk;
}

async function waitForWrite(disk: MemoryDisk): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  if (disk.full) throw new Error('the disk is full');
}

function take(disk: MemoryDisk, change: PolicyChange): void {
  switch (change.of) {
    case 'key':
      return void disk.keys.set(change.key.id, change.key);
    case 'workspace':
      return void disk.workspaces.set(change.workspace.id, change.workspace);
    case 'account':
      return void disk.accounts.set(change.account.id, change.account);
    case 'rule': {
      const { subject, caps } = change;
      const place = `${subject.layer === 'account' ? 'own ' : ''}${subject.kind}:${subject.id}`;
      if (caps !== null) disk.rules.set(place, { subject, caps });
      else if (!disk.rules.delete(place)) throw new Error(`there is no rule of ${place}`);
      return;
    }
    case 'import': {
      const { source, kind, foreignId } = change.imported;
      disk.imports.set(`${source} ${kind} ${foreignId}`, change.imported);
    }
  }
}

async function move(
  disk: MemoryDisk,
  movement: Movement,
  toppedUp: bigint,
  entry?: NewAuditEntry,
): Promise<AccountBalance> {
  await waitForWrite(disk);
  const before = disk.balances.get(movement.account) ?? emptyBalance(movement.account);
  if (disk.movements.some(({ id }) => id === movement.id)) return before;
  disk.movements.push(movement);
  if (entry !== undefined) disk.entries.push(entry);
  const after = { ...before, available: before.available + movement.amount, toppedUp: before.toppedUp + toppedUp };
  disk.balances.set(movement.account, after);
  return after;
}

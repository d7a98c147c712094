/** Owns what the pages about usage and calls stand on, beside the reader: names, zones, money. Each is asked for as it is now. */
import type { ProviderHealth } from '../../call/attempt/provider-health.ts';
import { type UsageReader, UsageRefusal } from '../../store/ports/usage.ts';
import { ConsoleFailure } from '../kernel/console-failure.ts';

export interface AskedIds {
  readonly key?: string | undefined;
  readonly member?: string | undefined;
}

export interface FilterLabel {
  readonly filter: keyof AskedIds;
  readonly value: string;
  readonly label: string;
}

/** Names for ids, of one account. */
export interface UsageLabels {
  keyName(keyId: string): string | null;
  /** Key → the member who made it; a key made by the command line is not in it. */
  readonly owners: ReadonlyMap<string, string>;
  /** Null: he is gone. */
  memberName(memberId: string): string | null;
  /**
   * What people call the key and the member that are asked for; with the id, where another one has the same name. Only of keys
   * in these workspaces, and of who made them; null: in any.
   */
  namesOfAsked(asked: AskedIds, workspaces: readonly string[] | null): FilterLabel[];
  /** All keys and who made them, by name, for suggestions. As `namesOfAsked`. */
  namesToChoose(workspaces: readonly string[] | null): FilterLabel[];
  /** Whether there is any key, in these workspaces; null: in any. */
  hasKeys(workspaces: readonly string[] | null): boolean;
}

/** The budget of the account itself. Nano-USD. */
export interface AccountBudget {
  readonly window: 'day' | 'week' | 'month' | 'total';
  readonly limit: bigint;
  readonly used: bigint;
  readonly held: bigint;
}

export interface UsageParts {
  readonly usage: UsageReader;
  readonly health: Pick<ProviderHealth, 'read'>;
  nowMs(): number;
  /** An IANA zone. */
  timeZoneOf(account: string): string;
  labelsOf(account: string): Promise<UsageLabels>;
  /** Null: there is none. */
  readBudget(account: string): Promise<AccountBudget | null>;
  /** What a prepaid account can still spend; null: postpaid. */
  readBalance(account: string): Promise<bigint | null>;
}

/** What a page may take to be read: far more than it does, for after a start nothing of 90 days may be in memory yet. */
export const PAGE_MS_MAX = 3_000;

/** Resolves as the reading does. @throws ConsoleFailure for a refusal of the reader; other faults as they are. */
export async function orRefuse<Answer>(reading: Promise<Answer>): Promise<Answer> {
  try {
    return await reading;
  } catch (fault) {
    if (!(fault instanceof UsageRefusal)) throw fault;
    if (fault.kind === 'too_wide') throw new ConsoleFailure('invalid', fault.message, { member: 'from', cause: fault });
    throw new ConsoleFailure('store_away', fault.message, { retryAfterSeconds: 5, cause: fault });
  }
}

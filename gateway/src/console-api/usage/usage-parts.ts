/**
 * Defines the dependencies of the usage and logs pages: the usage reader, names, time zones, budgets and balances. Each
 * is read at request time.
 */

import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { ReadHealth } from '../../routing/health/provider-health.ts';
import { type UsageReader, UsageRefusal } from '../../store/ports/usage.ts';

export interface IdQuery {
  readonly key?: string | undefined;
  readonly member?: string | undefined;
}

export interface FilterLabel {
  readonly filter: keyof IdQuery;
  readonly value: string;
  readonly label: string;
}

/** Display names for the ids of one account. */
export interface UsageLabels {
  keyName(keyId: string): string | null;
  /** Key → the member who created it; keys created by the command line are omitted. */
  readonly owners: ReadonlyMap<string, string>;
  /** Null: the member was deleted. */
  memberName(memberId: string): string | null;
  /**
   * The names of the requested key and member, with the id where the name is not unique. Only for keys in these
   * workspaces and their creators; null: in all.
   */
  namesOfIds(query: IdQuery, workspaces: readonly string[] | null): FilterLabel[];
  /** All keys and their creators, by name, for suggestions. Restricted as in `namesOfIds`. */
  namesToChoose(workspaces: readonly string[] | null): FilterLabel[];
  /** Key → its value of the tag; keys without it are omitted. Restricted as in `namesOfIds`. */
  tagged(tag: string, workspaces: readonly string[] | null): ReadonlyMap<string, string>;
  /** The names of all tags of keys, sorted. Restricted as in `namesOfIds`. */
  tagNames(workspaces: readonly string[] | null): readonly string[];
  /** Whether any key exists in these workspaces; null: in all. */
  hasKeys(workspaces: readonly string[] | null): boolean;
}

/** The account's own budget. Nano-USD. */
export interface AccountBudget {
  readonly window: 'day' | 'week' | 'month' | 'total';
  readonly limit: bigint;
  readonly used: bigint;
  readonly held: bigint;
}

export interface UsageParts {
  readonly usage: UsageReader;
  readonly readHealth: ReadHealth;
  nowMs(): number;
  /** An IANA zone. */
  timeZoneOf(account: string): string;
  labelsOf(account: string): Promise<UsageLabels>;
  /** Null: the account has no budget. */
  readBudget(account: string): Promise<AccountBudget | null>;
  /** The amount that a prepaid account can still spend; null: postpaid. */
  readBalance(account: string): Promise<bigint | null>;
}

/** The time limit for reading a page. Generous, because after a start none of the 90 days may be in memory yet. */
export const PAGE_MS_MAX = 3_000;

/** Resolves with the result of the read. @throws ConsoleFailure for a refusal by the reader; rethrows other errors */
export async function orRefuse<Answer>(reading: Promise<Answer>): Promise<Answer> {
  try {
    return await reading;
  } catch (fault) {
    if (!(fault instanceof UsageRefusal)) throw fault;
    if (fault.kind === 'too_wide') throw new ConsoleFailure('invalid', fault.message, { member: 'from', cause: fault });
    throw new ConsoleFailure('store_unavailable', fault.message, { retryAfterSeconds: 5, cause: fault });
  }
}

/**
 * Owns the interface through which calls are summed up and looked at afterwards: usage, its proof, lists of calls. Knows no
 * database. Nothing here is on the line of a call, and every answer has a time limit.
 */
import type { EntryKind } from './ledger.ts';
import type { CallRecord } from './records.ts';

/** Integer nano-USD. */
type NanoUsd = bigint;

/** `model` is the name that the caller asked for, which is what a record, a key's rights and a budget go by. */
export const USAGE_DIMENSIONS = [
  'model',
  'provider',
  'key',
  'member',
  'workspace',
  'end_user',
  'session',
  'protocol',
] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

/** A call that ended well, by a fault of its caller, of anybody else, or because its caller left. */
export type CallOutcome = 'ok' | 'client_error' | 'server_error' | 'cancelled';

/** Whose calls: part of every question. */
export interface UsageTenant {
  readonly account: string;
  /** Null: all of the account. */
  readonly workspaces: readonly string[] | null;
}

/** Of calls that have no such value: no id and no name is empty. */
export const NONE = '';

/** Null: any; NONE: calls that have none. */
export interface CallCondition {
  readonly model: string | null;
  readonly provider: string | null;
  readonly keys: readonly string[] | { readonly except: readonly string[] } | null;
  readonly workspace: string | null;
  readonly end_user: string | null;
  readonly session: string | null;
  readonly protocol: 'chat' | 'messages' | null;
}

/** What groups are ranked by. */
export type UsageRank = 'cost' | 'requests' | 'tokens' | 'errors' | 'cache_savings';

/** Sums over calls. Percentiles are of calls that ended well, at most 5 % off; null: there are none. */
export interface UsageSums {
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly cancelled: number;
  readonly unpriced: number;
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly reasoning: number;
  readonly cost: NanoUsd;
  readonly cacheSavings: NanoUsd;
  readonly latencyP50Ms: number | null;
  readonly latencyP95Ms: number | null;
  readonly ttfbP50Ms: number | null;
  readonly ttfbP95Ms: number | null;
}

export interface UsageQuestion {
  readonly tenant: UsageTenant;
  readonly condition: CallCondition;
  /** Unix ms of arrival; the end is no longer part of it. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Where each bucket begins, ascending; the first not after `fromMs`, the last before `toMs`. All at whole quarters but the first. */
  readonly buckets: readonly number[];
  /** The account's; its days are summed up for themselves. */
  readonly timeZone: string;
  readonly by: readonly UsageDimension[];
  /** Key → member, where it is asked by members. */
  readonly owners: Readonly<Record<string, string>> | null;
  /** Of what percentiles are asked for: nothing, groups and the total, or each of their buckets too. What is not asked for is null. */
  readonly latencies: 'none' | 'sums' | 'buckets';
  readonly rankedBy: UsageRank;
  /** How many of the first groups have buckets of their own. All calls as one group have them as totals. */
  readonly drawn: number;
  readonly timeMsMax: number;
}

/** For each bucket; null: no call. */
export type UsageBuckets = readonly (UsageSums | null)[];

export interface UsageGroup {
  /** A value for each dimension; null: the calls had none. */
  readonly values: readonly (string | null)[];
  readonly sums: UsageSums;
  /** Null: not one of the first that are asked for. */
  readonly buckets: UsageBuckets | null;
}

export interface UsageAnswer {
  /** Those with most of what they are ranked by first, at most a hundred. */
  readonly groups: readonly UsageGroup[];
  /** The groups beyond them together; null: there are none. */
  readonly rest: UsageSums | null;
  /** All groups without buckets of their own, together; null: there are none. */
  readonly others: UsageBuckets | null;
  readonly total: UsageSums;
  readonly totals: UsageBuckets;
}

/** Questions by any names; null: not asked. */
export type UsageQuestions = Readonly<Record<string, UsageQuestion | null>>;
export type UsageAnswers<Asked extends UsageQuestions> = {
  readonly [Name in keyof Asked]: Asked[Name] extends UsageQuestion ? UsageAnswer : UsageAnswer | null;
};

export interface ProofQuestion {
  readonly tenant: UsageTenant;
  readonly fromMs: number;
  readonly toMs: number;
  readonly timeZone: string;
  readonly timeMsMax: number;
}

/** The same money three times: as summed up, as recorded, as posted and absorbed in the ledger. */
export interface UsageProof {
  readonly usage: NanoUsd;
  readonly records: NanoUsd;
  readonly ledger: NanoUsd;
  /** Of the records: kept before there was a ledger, and in no entry. */
  readonly beforeLedger: NanoUsd;
  readonly calls: number;
  readonly entries: number;
  /** Whether the hashes of the entries follow from one another, and how many were looked at in the time there was. */
  readonly chain: { readonly holds: boolean; readonly checked: number; readonly of: number };
}

export interface LogQuestion {
  readonly tenant: UsageTenant;
  readonly condition: CallCondition;
  readonly outcome: CallOutcome | null;
  /** Null: unbounded. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** How a request id begins. */
  readonly idPrefix: string | null;
  /** Only what arrived before this request id. */
  readonly beforeId: string | null;
  readonly limit: number;
  readonly withHistogram: boolean;
  readonly timeMsMax: number;
}

export interface LogPage {
  /** The newest first. */
  readonly calls: readonly CallRecord[];
  /** Where to go on (`beforeId`), though the page be short or empty; null: there is no more. */
  readonly next: string | null;
  readonly histogram: LogHistogram | null;
}

export interface LogHistogram {
  readonly stepMs: number;
  readonly bars: readonly { readonly atMs: number; readonly requests: number; readonly errors: number }[];
}

/** What ended at `endedMs` or later. */
export interface TailQuestion extends Pick<LogQuestion, 'tenant' | 'condition' | 'outcome' | 'limit' | 'timeMsMax'> {
  readonly endedMs: number;
  readonly nowMs: number;
}

export interface CallEntry {
  readonly seq: number;
  readonly kind: EntryKind;
  readonly amount: NanoUsd;
  readonly released: NanoUsd;
  readonly atMs: number;
  /** 64 hexadecimal digits. */
  readonly hash: string;
}

export interface CallDetail {
  readonly call: CallRecord;
  /** In the order of the ledger. */
  readonly entries: readonly CallEntry[];
}

/** `too_long`: the time was up. `too_wide`: what is asked has to be counted from single calls, and its range is too long for that. */
export class UsageRefusal extends Error {
  readonly kind: 'too_long' | 'too_wide';

  constructor(kind: UsageRefusal['kind'], message: string) {
    super(message);
    this.name = 'UsageRefusal';
    this.kind = kind;
  }
}

/** Every promise rejects with a UsageRefusal for what is not answered, and otherwise where the store cannot be read. */
export interface UsageReader {
  /** All in one state of the store: their answers go together. */
  readUsage<Asked extends UsageQuestions>(asked: Asked): Promise<UsageAnswers<Asked>>;
  proveUsage(question: ProofQuestion): Promise<UsageProof>;
  readLogs(question: LogQuestion): Promise<LogPage>;
  readTail(question: TailQuestion): Promise<readonly CallRecord[]>;
  /** Null: the tenant has no such call. */
  readCall(tenant: UsageTenant, requestId: string): Promise<CallDetail | null>;
}

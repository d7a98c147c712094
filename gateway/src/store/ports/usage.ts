/**
 * Defines queries over past calls: usage sums, their reconciliation with the ledger, call lists and details. No call
 * waits for them, and every query has a time limit.
 */
import type { CallOrder } from '../../lib/query/call-order.ts';
import type { QueryTerm } from '../../lib/query/call-query.ts';
import type { RecordedProtocol } from '../../protocols/names.ts';
import type { EntryKind } from './ledger.ts';
import type { Billed, CallRecord } from './records.ts';

/** Integer nano-USD. */
type NanoUsd = bigint;

/**
 * `model` is the name that the client requested, as in records, key permissions and budgets. `member` and `tag` are
 * those of the key.
 */
export const USAGE_DIMENSIONS = [
  'model',
  'provider',
  'key',
  'member',
  'workspace',
  'end_user',
  'session',
  'protocol',
  'tag',
] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

/** Whether the values of a dimension follow from the key, so that records, series and filters know it by the key. */
export function followsKey(dimension: UsageDimension): dimension is 'key' | 'member' | 'tag' {
  return dimension === 'key' || dimension === 'member' || dimension === 'tag';
}

/** How a call ended: success, a client error, any other error, or a client disconnect. */
export type CallOutcome = 'ok' | 'client_error' | 'server_error' | 'cancelled';

/** The tenant whose calls a query covers; part of every query. */
export interface UsageTenant {
  readonly account: string;
  /** Null: all workspaces of the account. */
  readonly workspaces: readonly string[] | null;
}

/** Stands for calls without such a value; ids and names are never empty. */
export const NONE = '';

/** Null: any value; `NONE`: calls without a value. */
export interface CallCondition {
  readonly model: string | null;
  readonly provider: string | null;
  readonly keys: readonly string[] | { readonly except: readonly string[] } | null;
  readonly workspace: string | null;
  readonly end_user: string | null;
  readonly session: string | null;
  readonly protocol: RecordedProtocol | null;
}

/** The metric that ranks groups. */
export type UsageRank = 'cost' | 'requests' | 'tokens' | 'errors' | 'cache_savings';

/** Sums over calls. Percentiles cover successful calls and are at most 5% off; null: no such calls. */
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
  /**
   * Terms that a call must meet in addition; their members are resolved to keys. Matching calls are summed one by one:
   * refused as `too_wide` where too many match over a long range. Omitted: none.
   */
  readonly terms?: readonly QueryTerm[];
  /** Unix ms of arrival; `toMs` is exclusive. */
  readonly fromMs: number;
  readonly toMs: number;
  /**
   * Start of each bucket, ascending; the first is at or before `fromMs`, the last before `toMs`. All but the first are
   * at whole quarter hours.
   */
  readonly buckets: readonly number[];
  /** The account's time zone; days in it have sums of their own. */
  readonly timeZone: string;
  readonly by: readonly UsageDimension[];
  /** Key → member, for grouping by member. */
  readonly owners: Readonly<Record<string, string>> | null;
  /** For each dimension of `by` that is `tag`, at its place: key → value. Omitted: `by` has none. */
  readonly tagged?: readonly (Readonly<Record<string, string>> | null)[];
  /**
   * Which percentiles to compute: none, for groups and the total, or for each of their buckets too. Others are null.
   */
  readonly latencies: 'none' | 'sums' | 'buckets';
  readonly rankedBy: UsageRank;
  /** How many of the top groups get their own buckets. A single group of all calls has them in `totals`. */
  readonly drawn: number;
  readonly timeMsMax: number;
}

/** One per bucket; null: no calls. */
export type UsageBuckets = readonly (UsageSums | null)[];

export interface UsageGroup {
  /** One value per dimension; null: the calls have none. */
  readonly values: readonly (string | null)[];
  readonly sums: UsageSums;
  /** Null: not one of the top groups requested. */
  readonly buckets: UsageBuckets | null;
}

export interface UsageAnswer {
  /** By rank, highest first, at most 100. */
  readonly groups: readonly UsageGroup[];
  /** Sum of the remaining groups; null: no remaining groups. */
  readonly rest: UsageSums | null;
  /** Sum of all groups without their own buckets; null: no such groups. */
  readonly others: UsageBuckets | null;
  readonly total: UsageSums;
  readonly totals: UsageBuckets;
}

/** Queries by arbitrary names; null: not requested. */
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

/** The same amount from three sources: usage sums, call records, and ledger (posted plus written off). */
export interface UsageProof {
  readonly usage: NanoUsd;
  readonly records: NanoUsd;
  readonly ledger: NanoUsd;
  /** The part of `records` that predates the ledger and has no entry. */
  readonly beforeLedger: NanoUsd;
  readonly calls: number;
  readonly entries: number;
  /** Whether the hash chain holds, and how many blocks, and entries from before the journal, were checked in time. */
  readonly chain: { readonly holds: boolean; readonly checked: number; readonly of: number };
}

export interface LogQuestion {
  readonly tenant: UsageTenant;
  readonly condition: CallCondition;
  readonly outcome: CallOutcome | null;
  /** Null: no bound. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** Prefix of the request id. */
  readonly idPrefix: string | null;
  /** Only these calls; newest first. Omitted: all. */
  readonly ids?: readonly string[];
  /** Only calls of this trace. Omitted: all. */
  readonly traceId?: string;
  /** Only failed calls with this reason: a kind, or a `ReasonGroup.group`. Omitted: all. */
  readonly reason?: string;
  /** Terms that a call must meet in addition; their members are resolved to keys. Omitted: none. */
  readonly terms?: readonly QueryTerm[];
  /** Only calls that arrived before this request id. */
  readonly beforeId: string | null;
  /** Omitted: newest first. Then `beforeId` is null. */
  readonly order?: CallOrder;
  /** Only with an order: the place of the last call of the page before, from its `nextPlace`. */
  readonly afterPlace?: CallPlace;
  readonly limit: number;
  readonly withHistogram: boolean;
  readonly timeMsMax: number;
}

/** Which calls a question is about that does not list them one by one. */
export type CallsQuestion = Omit<LogQuestion, 'ids' | 'order' | 'afterPlace' | 'limit' | 'withHistogram'>;

/** The place of a call in an order: its value as text, and its id. */
export interface CallPlace {
  readonly value: string;
  readonly id: string;
}

export interface LogPage {
  /** Newest first, or in the order of the question. */
  readonly calls: readonly CallRecord[];
  /** Cursor for the next page (`beforeId`), even where this page is short or empty; null: no more calls. */
  readonly next: string | null;
  /** Like `next`, where the question has an order. */
  readonly nextPlace?: CallPlace | null;
  readonly histogram: LogHistogram | null;
}

export interface LogHistogram {
  readonly stepMs: number;
  readonly bars: readonly { readonly atMs: number; readonly requests: number; readonly errors: number }[];
}

/** Calls that ended at `endedMs` or later. */
export interface TailQuestion
  extends Pick<
    LogQuestion,
    'tenant' | 'condition' | 'outcome' | 'traceId' | 'reason' | 'terms' | 'limit' | 'timeMsMax'
  > {
  readonly endedMs: number;
  readonly nowMs: number;
}

/** Unix ms; `toMs` is exclusive. */
export interface ReasonsQuestion
  extends Pick<LogQuestion, 'tenant' | 'condition' | 'outcome' | 'reason' | 'terms' | 'timeMsMax'> {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Requests that failed for one cause: the same kind of reason, error, subject, rule and provider. */
export interface ReasonGroup {
  /** Names the group, as a filter. */
  readonly group: string;
  readonly requests: number;
  readonly newest: CallRecord;
  readonly oldestMs: number;
}

export interface ReasonsAnswer {
  /** The largest first, at most 100. */
  readonly groups: readonly ReasonGroup[];
  /** Number of requests in all groups, and number of the groups that are not listed. */
  readonly requests: number;
  readonly otherGroups: number;
  /** The time was over: only requests since then (unix ms) are counted. Null: all are. */
  readonly countedFromMs: number | null;
}

export interface CallEntry {
  /** The block of the journal with the call's end; of a call from before the journal the number of its entry. */
  readonly seq: number;
  readonly kind: EntryKind;
  readonly amount: NanoUsd;
  readonly released: NanoUsd;
  readonly atMs: number;
  /** That of the block or the entry, 64 hexadecimal digits. */
  readonly hash: string;
}

export interface CallDetail {
  readonly call: CallRecord;
  /** In ledger order. */
  readonly entries: readonly CallEntry[];
}

/**
 * `too_long`: the time limit was reached. `too_wide`: the query must count single calls, and its range is too long for
 * that.
 */
export class UsageRefusal extends Error {
  readonly kind: 'too_long' | 'too_wide';

  constructor(kind: UsageRefusal['kind'], message: string) {
    super(message);
    this.name = 'UsageRefusal';
    this.kind = kind;
  }
}

/** Unix ms; `toMs` is exclusive. */
export interface AttemptCostsQuestion {
  readonly fromMs: number;
  readonly toMs: number;
  readonly timeMsMax: number;
}

/** The attempts at one model of one provider that did not answer their calls, and that it billed or may have billed. */
export interface AttemptCosts {
  readonly provider: string;
  /** The model's name at the provider. */
  readonly model: string;
  readonly billed: Billed;
  readonly attempts: number;
  /** Those of them without a price; their cost is not in `cost`. */
  readonly unpriced: number;
  /** Tokens, with those of caches. */
  readonly input: number;
  readonly output: number;
  /** Nano-USD, without mark-ups. */
  readonly cost: bigint;
}

/**
 * Every promise rejects with a UsageRefusal for a refused query, and with another error where the store cannot be read.
 */
export interface UsageReader {
  /** Answers all queries from one consistent state of the store. */
  readUsage<Asked extends UsageQuestions>(asked: Asked): Promise<UsageAnswers<Asked>>;
  proveUsage(question: ProofQuestion): Promise<UsageProof>;
  readLogs(question: LogQuestion): Promise<LogPage>;
  readTail(question: TailQuestion): Promise<readonly CallRecord[]>;
  /** Of all accounts: for operators only. The most expensive first. */
  readAttemptCosts(question: AttemptCostsQuestion): Promise<readonly AttemptCosts[]>;
  readReasons(question: ReasonsQuestion): Promise<ReasonsAnswer>;
  /** Null: the tenant has no such call. */
  readCall(tenant: UsageTenant, requestId: string): Promise<CallDetail | null>;
}

/**
 * Defines the stored shapes of keys, workspaces and call records, and the interfaces that write and read call records
 * and the last use of keys.
 */
import type { Reason } from '../../errors/reason.ts';
import type { Usage, UsageFlag, UsageSource } from '../../generation/usage.ts';
import type { RecordedProtocol, UpstreamProtocolName } from '../../protocols/names.ts';

export type Scope = 'inference' | 'usage' | 'admin';
export type KeyStatus = 'active' | 'disabled' | 'revoked';

/** `adaptive`: a stream extends its hold in slices. `strict`: every call holds its maximum cost up front. */
export const HOLD_MODES = ['adaptive', 'strict'] as const;
export type HoldMode = (typeof HOLD_MODES)[number];

/** Which calls a workspace stores request and response bodies for. */
export const BODY_POLICIES = ['off', 'errors', 'all'] as const;
export type BodyPolicy = (typeof BODY_POLICIES)[number];

/** A key as stored: never the secret, only its keyed hash (hex) and the last four characters. Times: unix ms. */
export interface StoredKey {
  readonly id: string;
  readonly name: string;
  readonly accountId: string;
  readonly workspaceId: string;
  readonly hash: string;
  readonly last4: string;
  /** After a rotation with a grace period: the old secret's hash and expiry; else both null. */
  readonly previousHash: string | null;
  readonly previousExpiresAtMs: number | null;
  /** The old secret's last four characters; null with a hash: rotated before these were stored. */
  readonly previousLast4: string | null;
  /** Model names, where `*` matches any run of characters; null: every model of the workspace. */
  readonly models: readonly string[] | null;
  /** CIDR ranges or addresses of clients; null: any. */
  readonly ips: readonly string[] | null;
  readonly scopes: readonly Scope[];
  /** Refuses calls whose translation between formats would drop something. */
  readonly strict: boolean;
  /** Null: the account's setting. */
  readonly holds: HoldMode | null;
  readonly status: KeyStatus;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  /** The creator, whose rights limit the key's; null: the command line, which has all rights. */
  readonly createdBy: string | null;
  /** The audit actor who disabled the key, while it is disabled; null also where that is unknown. */
  readonly disabledBy: string | null;
  /** True: the gateway's operator disabled the key, and no member of its account can enable it. Omitted: false. */
  readonly disabledByOperator?: true;
  /** Data tags that every target of its calls must carry, such as `eu`, besides its workspace's. Omitted: none. */
  readonly requiredTags?: readonly string[];
  /** By name, such as `team`: what the account sorts its keys by. They decide nothing about calls. Omitted: none. */
  readonly tags?: KeyTags;
}

/** Name → value. */
export type KeyTags = Readonly<Record<string, string>>;

/** Which requests of a workspace may be answered from its cache: those whose header asks for it, or all. */
export const CACHE_MODES = ['request', 'all'] as const;
export type CacheMode = (typeof CACHE_MODES)[number];

/** How a workspace caches answers. Nothing is cached where it does not store the bodies of all calls. */
export interface CachePolicy {
  readonly mode: CacheMode;
  /** How long an answer is used, in seconds. */
  readonly seconds: number;
  /** Unix ms of the latest change: earlier answers are not used. */
  readonly sinceMs: number;
}

export interface StoredWorkspace {
  readonly id: string;
  readonly accountId: string;
  /** As `StoredKey.models`; null: every model. */
  readonly models: readonly string[] | null;
  /** Which calls' bodies are stored, and for how many days. Null: `defaults` of the configuration. */
  readonly bodies: BodyPolicy | null;
  readonly bodiesDays: number | null;
  readonly createdAtMs: number;
  /** As `StoredKey.requiredTags`, for all of its keys. */
  readonly requiredTags?: readonly string[];
  /** Omitted: answers are not cached. */
  readonly cache?: CachePolicy;
}

/** How far an attempt got: no connection yet, the request was sent, the head arrived, content arrived. */
export const ATTEMPT_PHASES = ['connect', 'sent', 'head', 'content'] as const;
export type AttemptPhase = (typeof ATTEMPT_PHASES)[number];

/** `yes`: the provider reported the usage of an attempt that did not answer the call. `maybe`: unknown. */
export const BILLED = ['maybe', 'yes'] as const;
export type Billed = (typeof BILLED)[number];

/**
 * The cost of an attempt whose answer the client did not get: the operator pays it, and the call's own usage and cost
 * do not include it. All members are absent for an attempt that cost nothing, or whose cost is the call's.
 */
export interface AttemptCost {
  readonly billed?: Billed;
  /** As reported for `yes`; an estimate for `maybe`. Present with `billed`. */
  readonly usage?: Usage;
  /** The price without the account's mark-up. Present with `billed`, unless the target has no price. */
  readonly price_version?: string;
  /** Decimal text, as in a record; present with `billed`. Null: the target has no price. */
  readonly cost_nano_usd?: string | null;
}

/**
 * One attempt at one upstream. Whole milliseconds. Records from before 2026-11-22 lack `start_ms` to `ttft_ms`, and the
 * `duration_ms` of their streams ends where the response began. Members from `n` on are left out where they have the
 * value that their comment names; records from before 2026-11-23 have none of them.
 */
export interface AttemptRecord extends AttemptCost {
  readonly provider: string;
  readonly model: string;
  readonly status: number | null;
  readonly error: string | null;
  /** From the call's arrival to the attempt's start. */
  readonly start_ms?: number;
  /**
   * This and the following members count from the attempt's start. Until the request was sent; null: no connection was
   * made.
   */
  readonly connect_ms?: number | null;
  /** Until the response headers arrived; null: they did not. */
  readonly ttfb_ms?: number | null;
  /** Until the first token of a stream arrived; null: none arrived, or the response came in one piece. */
  readonly ttft_ms?: number | null;
  /** Until the last byte arrived, or the attempt was abandoned. */
  readonly duration_ms: number;
  /** The attempt's number, from 1. Absent: its place in the list. */
  readonly n?: number;
  /** The target's name in its route. Absent: `provider/model`. */
  readonly target?: string;
  /** The credential's name. Absent: `default`. */
  readonly credential?: string;
  /** The target's format. Absent: the client's, or unknown. */
  readonly format?: UpstreamProtocolName;
  /** Why this target was chosen. Absent: it is the first in order. */
  readonly why?: string;
  /** The class of the failure. Absent: none, or unknown. */
  readonly class?: string;
  /** What the provider said, without content of the request: at most 300 characters. Absent: nothing, or no failure. */
  readonly message?: string;
  /** Absent: content, or unknown. */
  readonly phase?: AttemptPhase;
  /** Time spent waiting before the attempt. Absent: 0. */
  readonly wait_ms?: number;
  /** HTTP exchanges that the attempt took. Absent: 1. */
  readonly exchanges?: number;
  /** The provider's id of the request. Absent: none was reported. */
  readonly upstream_request_id?: string;
  /** The service of the provider that got the last exchange (`mantle`, `runtime`). Absent: it has one only. */
  readonly door?: string;
  /** Where the provider got the request: a region of AWS, a location of Google. Absent: unknown. */
  readonly region?: string;
}

/**
 * One call's record, in the terms and units of contract.md section 9. `cost_nano_usd` is a decimal string; null:
 * unpriced.
 */
export interface CallRecord {
  readonly request_id: string;
  /** Unix ms of arrival; printed as ISO 8601. */
  readonly at_ms: number;
  readonly account: string;
  readonly workspace: string;
  readonly key_id: string;
  readonly key_name: string;
  readonly end_user: string | null;
  readonly session: string | null;
  /** The W3C trace that the call is part of, 32 hex digits; null: none, or its record is from before 2026-11-23. */
  readonly trace_id: string | null;
  readonly protocol: RecordedProtocol;
  readonly model: string | null;
  readonly served_model: string | null;
  readonly provider: string | null;
  readonly stream: boolean;
  readonly status: number;
  readonly error: string | null;
  /** Why the call was refused, failed or was interrupted; null: it completed, or its record predates reasons. */
  readonly reason: Reason | null;
  readonly finish_reason: string | null;
  readonly usage: Usage;
  readonly usage_source: UsageSource;
  /** The request whose answer was given from the cache. Omitted: the call was not answered from it. */
  readonly cached_from?: string;
  /** How often each guardrail masked something, by its rule's id. Omitted: nothing was masked. */
  readonly masked?: Readonly<Record<string, number>>;
  /** Anomalies in the usage reported upstream; null: none. */
  readonly usage_flags: readonly UsageFlag[] | null;
  readonly price_version: string | null;
  readonly cost_nano_usd: string | null;
  readonly ttfb_ms: number | null;
  readonly duration_ms: number;
  readonly attempts: readonly AttemptRecord[];
}

/**
 * Stores records. The promise resolves only once the record is durable on disk; it rejects where it could not be
 * stored.
 */
export interface CallRecorder {
  append(record: CallRecord): Promise<void>;
  /** False once writes fail; the service then answers 503 and is not ready. */
  writable(): boolean;
}

export interface CallFilter {
  readonly limit: number;
  readonly sinceMs: number | null;
  readonly requestId: string | null;
  readonly keyId: string | null;
  /** Omitted: any, or none. */
  readonly traceId?: string;
}

/** Reads records that are already on disk. */
export interface CallReader {
  /** The matching records, newest arrival first, at most `limit`. */
  readCalls(filter: CallFilter): Promise<readonly CallRecord[]>;
}

/** The last use of one secret; `hash` is the secret's hash, as in `StoredKey`. Times: unix ms. */
export interface StoredKeyUse {
  readonly hash: string;
  readonly atMs: number;
  readonly client: string | null;
}

export interface KeyUseStore {
  /** Replaces the entries of these secrets; resolves once they are durable. */
  save(uses: readonly StoredKeyUse[]): Promise<void>;
  read(): Promise<readonly StoredKeyUse[]>;
  /** The arrival (unix ms) of each key's newest recorded call since `fromMs`, by key id. */
  readNewestCalls(fromMs: number): Promise<ReadonlyMap<string, number>>;
}

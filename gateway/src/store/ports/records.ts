/** Owns the interfaces through which the domain keeps things, and the shapes it keeps. Knows no database. */
import type { Reason } from '../../errors/reason.ts';
import type { Usage, UsageFlag, UsageSource } from '../../generation/usage.ts';

export type Scope = 'inference' | 'usage' | 'admin';
export type KeyStatus = 'active' | 'disabled' | 'revoked';

/** `adaptive`: a stream holds slice by slice. `strict`: every call holds its worst case. */
export const HOLD_MODES = ['adaptive', 'strict'] as const;
export type HoldMode = (typeof HOLD_MODES)[number];

/** Of which calls a workspace keeps what was said. */
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
  /** After a rotation with grace, the old secret's hash and when it stops to work; else both null. */
  readonly previousHash: string | null;
  readonly previousExpiresAtMs: number | null;
  /** The old secret's last four characters; null beside a hash: it was rotated before they were kept. */
  readonly previousLast4: string | null;
  /** Model names, `*` stands for any run of characters; null: every model of the workspace. */
  readonly models: readonly string[] | null;
  /** CIDR ranges or addresses of callers; null: any. */
  readonly ips: readonly string[] | null;
  readonly scopes: readonly Scope[];
  /** Whether a call is refused for what a translation between the formats would drop. */
  readonly strict: boolean;
  /** Null: as its account. */
  readonly holds: HoldMode | null;
  readonly status: KeyStatus;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  /** The person who made it, whose rights bound the key's; null: the command line, which has all rights. */
  readonly createdBy: string | null;
  /** The actor of the audit trail who disabled it, while it is disabled; null also where that is not known. */
  readonly disabledBy: string | null;
  /** True: the operator of the gateway disabled it, and nobody of its account enables it. Left out: false. */
  readonly disabledByOperator?: true;
}

export interface StoredWorkspace {
  readonly id: string;
  readonly accountId: string;
  /** As StoredKey.models; null: every model. */
  readonly models: readonly string[] | null;
  /** Of which calls the bodies are kept, and for how many days. Null: as `defaults` of the configuration says. */
  readonly bodies: BodyPolicy | null;
  readonly bodiesDays: number | null;
  readonly createdAtMs: number;
}

/**
 * One try at one upstream. Whole milliseconds. Records from before 2026-11-22 lack the marks (`start_ms` to `ttft_ms`), and the
 * `duration_ms` of their streams ends where the answer began.
 */
export interface AttemptRecord {
  readonly provider: string;
  readonly model: string;
  readonly status: number | null;
  readonly error: string | null;
  /** From the arrival of the call until the attempt began. */
  readonly start_ms?: number;
  /** From here on: since the attempt began. Until the request was sent; null: no connection was made. */
  readonly connect_ms?: number | null;
  /** Until the head of the answer came; null: it did not. */
  readonly ttfb_ms?: number | null;
  /** Until the first token of a stream came; null: none did, or the answer came in one piece. */
  readonly ttft_ms?: number | null;
  /** Until the last byte came, or the attempt was given up. */
  readonly duration_ms: number;
}

/** One call's record, in the words and units of contract.md section 9. `cost_nano_usd` is a decimal string; null: unpriced. */
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
  readonly protocol: 'chat' | 'messages';
  readonly model: string | null;
  readonly served_model: string | null;
  readonly provider: string | null;
  readonly stream: boolean;
  readonly status: number;
  readonly error: string | null;
  /** Why it was refused, failed or was cut; null: it was answered whole, or its record is from before reasons were kept. */
  readonly reason: Reason | null;
  readonly finish_reason: string | null;
  readonly usage: Usage;
  readonly usage_source: UsageSource;
  /** What is odd about upstream's numbers; null: nothing. */
  readonly usage_flags: readonly UsageFlag[] | null;
  readonly price_version: string | null;
  readonly cost_nano_usd: string | null;
  readonly ttfb_ms: number | null;
  readonly duration_ms: number;
  readonly attempts: readonly AttemptRecord[];
}

/** Keeps records. The promise resolves only once the record is durable on disk; it rejects when it could not be kept. */
export interface CallRecorder {
  append(record: CallRecord): Promise<void>;
  /** False once writes fail: the service then answers 503 and is not ready. */
  writable(): boolean;
}

export interface CallFilter {
  readonly limit: number;
  readonly sinceMs: number | null;
  readonly requestId: string | null;
  readonly keyId: string | null;
}

/** Looks up records that are already on disk. */
export interface CallReader {
  /** The records that pass the filter, newest arrival first, at most `limit`. */
  readCalls(filter: CallFilter): Promise<readonly CallRecord[]>;
}

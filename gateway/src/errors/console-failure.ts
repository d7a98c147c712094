/**
 * Defines the error responses of the console API: a code, a message for people, the invalid member, and the page that
 * fixes the error.
 */

export const CONSOLE_FAILURES = {
  invalid: 400,
  signed_out: 401,
  wrong_credential: 401,
  forbidden: 403,
  cross_site: 403,
  not_found: 404,
  body_timeout: 408,
  conflict: 409,
  gone: 410,
  too_large: 413,
  not_json: 415,
  too_many: 429,
  gateway_fault: 500,
  store_unavailable: 503,
  over_capacity: 503,
} as const;
export type ConsoleFailureKind = keyof typeof CONSOLE_FAILURES;

export interface MemberFault {
  readonly member: string;
  readonly message: string;
}

export interface FailureDetails {
  /** The path of the invalid member in the body or query: `caps.rpm`. */
  readonly member?: string;
  /** Every invalid member where there are several, starting with `member`. */
  readonly faults?: readonly MemberFault[];
  /** The console page that fixes the error. */
  readonly page?: string;
  /** Whole seconds to wait before retrying. */
  readonly retryAfterSeconds?: number;
  /** The rest of the body is not read. */
  readonly closeConnection?: boolean;
  readonly cause?: unknown;
}

export class ConsoleFailure extends Error {
  readonly kind: ConsoleFailureKind;
  readonly details: FailureDetails;

  constructor(kind: ConsoleFailureKind, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ConsoleFailure';
    this.kind = kind;
    this.details = details;
  }
}

/**
 * `{"error":{"code","message","member","page"}}` with the kind's status, plus `faults` where several members are
 * invalid.
 */
export function failureResponse({ kind, message, details }: ConsoleFailure): Response {
  const { member = null, page = null, faults, retryAfterSeconds, closeConnection } = details;
  const headers: Record<string, string> = {};
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds);
  if (closeConnection === true) headers.connection = 'close';
  return Response.json(
    { error: { code: kind, message, member, page, ...(faults === undefined ? {} : { faults }) } },
    { status: CONSOLE_FAILURES[kind], headers },
  );
}

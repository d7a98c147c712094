/** Owns how the console API says no: a kind, words for people, the member that is wrong, and the page that mends it. */

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
  store_away: 503,
  over_capacity: 503,
} as const;
export type ConsoleFailureKind = keyof typeof CONSOLE_FAILURES;

export interface MemberFault {
  readonly member: string;
  readonly message: string;
}

export interface FailureDetails {
  /** The member of the body or query that is wrong, by its path: `caps.rpm`. */
  readonly member?: string;
  /** Each member that is wrong, `member` first, where there are several. */
  readonly faults?: readonly MemberFault[];
  /** The page of the console that mends it. */
  readonly page?: string;
  /** Whole seconds after which to ask again. */
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

/** `{"error":{"code","message","member","page"}}`, and `faults` where several members are wrong, with the kind's status. */
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

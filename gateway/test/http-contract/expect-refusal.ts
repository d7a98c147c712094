/** Checks the form of every refusal by contract 5: status, error body in the side's format, request id, headers. */
import { expect } from 'bun:test';
import type { Side } from './calls.ts';

/** The expected refusal. `type` and `code` are the contract's terms; only chat has `code` and `param`. */
export interface Refusal {
  readonly status: number;
  readonly type: string;
  readonly code?: string;
  readonly param?: string | null;
  /** Text that the message must contain. */
  readonly says?: string | RegExp;
  /** `x-should-retry`; null: absent. */
  readonly shouldRetry?: 'false' | null;
}

const INVALID = 'invalid_request_error';

/** Returns the refusal of an invalid request: 400 unless another status is given. */
export function invalid(side: Side, says?: string | RegExp, param?: string | null, status = 400): Refusal {
  return {
    status,
    type: side === 'messages' && status === 413 ? 'request_too_large' : INVALID,
    code: INVALID,
    ...(says === undefined ? {} : { says }),
    ...(param === undefined ? {} : { param }),
  };
}

/** Checks the refusal and returns its request id. */
export async function expectRefusal(response: Response, side: Side, refusal: Refusal): Promise<string> {
  const text = await response.text();
  expect({ status: response.status, text }).toEqual({ status: refusal.status, text: expect.any(String) });
  return expectRefusalBody(response.headers, text, side, refusal);
}

/** Like `expectRefusal`, for a body that was already read. */
export function expectRefusalBody(headers: Headers, text: string, side: Side, refusal: Refusal): string {
  expect(headers.get('content-type')).toBe('application/json');
  const requestId = headers.get('x-request-id') ?? '';
  expect(requestId).toMatch(/^req_[0-9a-f]{32}$/);
  expect(headers.get('request-id')).toBe(requestId);
  if (refusal.shouldRetry !== undefined) expect(headers.get('x-should-retry')).toBe(refusal.shouldRetry);
  const body = withoutHint(JSON.parse(text));
  const message = expect.any(String);
  if (side === 'chat') {
    const param = refusal.param === undefined ? expect.anything() : refusal.param;
    const error = { message, type: refusal.type, code: refusal.code };
    expect(body).toEqual({ error: refusal.param === undefined ? expect.objectContaining(error) : { ...error, param } });
    expect(Object.keys((body as { error: object }).error).sort()).toEqual(['code', 'message', 'param', 'type']);
  } else {
    expect(body).toEqual({ type: 'error', error: { type: refusal.type, message }, request_id: requestId });
  }
  const errorMessage = (body as { error: { message: string } }).error.message;
  if (refusal.says !== undefined) expect(errorMessage).toMatch(asPattern(refusal.says));
  if (refusal.status >= 500) expect(errorMessage).toContain(requestId);
  return requestId;
}

/** The body without the hint that some refusals have: checks its form. */
function withoutHint(body: { readonly error: { readonly hint?: object } }): object {
  const { hint, ...error } = body.error;
  if (hint !== undefined) {
    const { resets_at = '2026-01-01T00:00:00.000Z', ...told } = hint as { readonly resets_at?: string };
    expect(told).toEqual({ kind: expect.stringMatching(/^[a-z_]+$/), sentence: expect.stringMatching(/^\S.*\.$/) });
    expect(new Date(resets_at).toISOString()).toBe(resets_at);
  }
  return { ...body, error };
}

function asPattern(says: string | RegExp): RegExp {
  return typeof says === 'string' ? new RegExp(says.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')) : says;
}

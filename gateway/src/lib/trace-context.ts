/**
 * Reads and renders the W3C trace context of a request (https://www.w3.org/TR/trace-context/, level 1, read 2026-11-22).
 * Everything in it comes from a client and is checked; baggage is never read or sent.
 */

/** A call's place in a trace. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** The client's span; null: the trace begins here. */
  readonly parentId: string | null;
  /** The call's own span, 16 hex digits. */
  readonly spanId: string;
  readonly sampled: boolean;
  /** Sent on unchanged; empty: none. */
  readonly state: string;
  /** The span of each attempt that was noted, in the order of the record's attempts. */
  readonly attemptIds: string[];
}

/** The parent that a client names; null: none, or it is not valid and counts as absent. */
export interface ParentContext {
  readonly traceId: string;
  readonly parentId: string;
  readonly sampled: boolean;
}

/** `00-<32 hex>-<16 hex>-<2 hex>`; later versions may append a dash and more. */
const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const PARENT_CHARS_MAX = 256;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);
const SAMPLED = 1;

export function parseTraceparent(text: string): ParentContext | null {
  if (text.length > PARENT_CHARS_MAX) return null;
  const [, version = 'ff', traceId = NO_TRACE, parentId = NO_SPAN, flags = '00', rest] = PARENT.exec(text) ?? [];
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (traceId === NO_TRACE || parentId === NO_SPAN) return null;
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

const STATE_CHARS_MAX = 512;
const STATE_MEMBERS_MAX = 32;
const STATE_KEY = /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})$/;
/** Printable ASCII without comma and equals sign; its last character is not a space. */
const STATE_VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** The list as it may be sent on; empty if any of it is invalid: a list is taken as a whole. */
export function checkTracestate(text: string): string {
  if (text.length > STATE_CHARS_MAX) return '';
  const members = text
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  const keys = new Set<string>();
  for (const member of members) {
    const at = member.indexOf('=');
    const key = member.slice(0, Math.max(0, at));
    if (!STATE_KEY.test(key) || !STATE_VALUE.test(member.slice(at + 1)) || keys.has(key)) return '';
    keys.add(key);
  }
  return members.length > STATE_MEMBERS_MAX ? '' : members.join(',');
}

/** Decides for a call without a sampled or unsampled parent, and may overrule one. */
export type Sample = (traceId: string, parent: ParentContext | null) => boolean;

/**
 * The context of a call. `sample` null: nothing is traced here, so a context exists only where the client sent one, and
 * is passed on.
 */
export function openTrace(headers: Headers, sample: Sample | null): TraceContext | null {
  const given = headers.get('traceparent');
  const parent = given === null ? null : parseTraceparent(given);
  if (parent === null && sample === null) return null;
  const traceId = parent?.traceId ?? randomHex(16);
  const state = parent === null ? null : headers.get('tracestate');
  return {
    traceId,
    parentId: parent?.parentId ?? null,
    spanId: randomHex(8),
    sampled: sample === null ? parent?.sampled === true : sample(traceId, parent),
    state: state === null ? '' : checkTracestate(state),
    attemptIds: [],
  };
}

/** The header lines of one attempt, whose span is `spanId`. */
export function traceHeaders({ traceId, sampled, state }: TraceContext, spanId: string): [string, string][] {
  const parent: [string, string] = ['traceparent', `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`];
  return state === '' ? [parent] : [parent, ['tracestate', state]];
}

export function newSpanId(): string {
  return randomHex(8);
}

/** Never all zeros, which the format forbids. */
function randomHex(bytes: number): string {
  const drawn = crypto.getRandomValues(new Uint8Array(bytes));
  if (drawn.every((byte) => byte === 0)) drawn[0] = 1;
  return drawn.toHex();
}

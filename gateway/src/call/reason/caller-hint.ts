/**
 * Reduces a reason to what the holder of the key may know: numbers and names of the key itself. No balance, other
 * subject's name, operator's limit, or provider's name, state or words. Contract, 10.6.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import type { Reason, ReasonHint, ReasonKind } from '../../errors/reason.ts';
import { ZERO_USAGE } from '../../generation/usage.ts';
import type { Arrived } from '../call.ts';
import { stopWords } from '../deliver/agent-stops.ts';
import { type ExplainedRecord, explainReason } from './explain-reason.ts';

/** The error's own message says all of these. */
const WITHOUT_HINT: ReadonlySet<ReasonKind> = new Set<ReasonKind>([
  'invalid_request',
  'client_closed',
  'guardrail',
  'ours',
]);

/** What the caller of the key may know. */
function callerReason(reason: Reason): Reason {
  const { kind, subject, rule, resets_at, param, message, at_step } = reason;
  const isOfKey = subject?.type === 'key';
  const { used, limit, needed, allowed } = reason;
  return {
    kind,
    ...(subject === undefined ? {} : { subject: isOfKey ? subject : { type: subject.type, id: '', name: '' } }),
    ...(rule === undefined ? {} : { rule: { ...rule, id: isOfKey ? rule.id : '' } }),
    ...(isOfKey && used !== undefined && { used }),
    ...(isOfKey && limit !== undefined && { limit }),
    ...(isOfKey && needed !== undefined && { needed }),
    ...(isOfKey && allowed !== undefined && { allowed }),
    ...(resets_at !== undefined && { resets_at }),
    ...(param !== undefined && { param }),
    ...(message !== undefined && { message }),
    at_step,
  };
}

/** What anyone may know who has the id of a request: no name and no number. */
export function publicReason(reason: Reason): Reason {
  const { kind, subject, rule, resets_at, at_step } = callerReason(reason);
  return {
    kind,
    ...(subject === undefined ? {} : { subject: { type: subject.type, id: '', name: '' } }),
    ...(rule === undefined ? {} : { rule: { ...rule, id: '' } }),
    ...(resets_at !== undefined && { resets_at }),
    at_step,
  };
}

/** The failure with the hint of its error body; itself where it has none. `reason` null: the call has no record. */
export function withHint(call: Arrived, failure: CallFailure, reason: Reason | null): CallFailure {
  const { requestId, atMs, startMs, facts } = call;
  if (reason === null || WITHOUT_HINT.has(reason.kind)) return failure;
  // Some agents read any digits of an error body as its status.
  if (stopWords(call.request.headers.get('user-agent'), call.protocol.name, failure) !== null) return failure;
  const record: ExplainedRecord = {
    request_id: requestId,
    at_ms: atMs,
    model: facts?.model ?? null,
    error: failure.kind,
    usage: ZERO_USAGE,
    duration_ms: performance.now() - startMs,
    attempts: [],
  };
  const own = callerReason(reason);
  const { sentence } = explainReason(own, record, 'UTC');
  const hint: ReasonHint = {
    kind: own.kind,
    sentence,
    ...(own.resets_at === undefined ? {} : { resets_at: own.resets_at }),
  };
  return new CallFailure(failure.kind, failure.message, { ...failure.details, hint });
}

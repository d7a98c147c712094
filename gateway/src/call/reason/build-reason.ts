/**
 * Builds the `reason` of a failed call's record from its failure and from the step that the call had reached. Runs for
 * failures only.
 */
import type { CallFailure, TokenCounts } from '../../errors/call-failure.ts';
import { FAILURE_KINDS, type FailureKind } from '../../errors/failure-kinds.ts';
import type {
  Reason,
  ReasonDraft,
  ReasonKind,
  ReasonSubject,
  ReasonTarget,
  ReasonUpstream,
} from '../../errors/reason.ts';
import { maskKeys } from '../../lib/secret.ts';
import { type Arrived, isRouted } from '../call.ts';
import { withoutEcho } from './without-echo.ts';

/** The reason for each failure kind if the failure carries no details. */
const KINDS: { readonly [kind in FailureKind]: ReasonKind } = {
  invalid_request: 'invalid_request',
  unauthorized: 'key_restricted',
  model_unknown: 'model_not_allowed',
  model_forbidden: 'model_not_allowed',
  model_wrong_protocol: 'invalid_request',
  address_forbidden: 'key_restricted',
  scope_forbidden: 'key_restricted',
  not_found: 'invalid_request',
  method_not_allowed: 'invalid_request',
  body_timeout: 'invalid_request',
  body_too_large: 'invalid_request',
  url_too_long: 'invalid_request',
  encoding_unsupported: 'invalid_request',
  headers_too_large: 'invalid_request',
  idempotency_reused: 'invalid_request',
  idempotency_running: 'invalid_request',
  idempotency_lost: 'ours',
  not_supported: 'invalid_request',
  client_left: 'client_closed',
  upstream_rejected: 'invalid_request',
  context_overflow: 'invalid_request',
  output_over_context: 'invalid_request',
  upstream_rate_limited: 'provider_error',
  upstream_overloaded: 'provider_error',
  targets_full: 'provider_error',
  upstream_timeout: 'provider_error',
  upstream_failed: 'provider_error',
  upstream_credential: 'provider_credential',
  upstream_misconfigured: 'provider_error',
  upstream_malformed: 'provider_error',
  upstream_truncated: 'provider_error',
  rate_limited: 'rate_limited',
  rate_out_of_reach: 'rate_limited',
  unpriced: 'unpriced',
  quota_exceeded: 'money_ran_out',
  guardrail_blocked: 'guardrail',
  guardrail_unavailable: 'guardrail',
  reader_too_slow: 'client_closed',
  gateway_fault: 'ours',
  draining: 'ours',
  over_capacity: 'ours',
  store_unavailable: 'ours',
};

const TEXT_CHARS_MAX = 300;

/** `hasBegun`: the client got part of an answer. If `call.failure` has this kind, its details are used. */
export function buildReason(call: Arrived, kind: FailureKind, hasBegun: boolean): Reason {
  const failure = call.failure?.kind === kind ? call.failure : null;
  const draft = failure?.details.reason ?? { kind: KINDS[kind] };
  const {
    upstream,
    message = textOf(draft.message ?? null),
    param,
    ...tokens
  } = describeFailure(call, draft.kind, kind, failure);
  const { subject, rule, message: _, ...rest } = draft;
  const target = targetOf(call);
  const targets = hasBegun || !ABOUT_PROVIDERS.has(draft.kind) ? [] : call.unavailable;
  if (target === null && targets.length > 0) return noTarget(call, targets);
  const isCut = hasBegun && draft.kind === 'provider_error';
  return {
    ...rest,
    ...tokens,
    kind: isCut ? 'cut' : draft.kind,
    ...(subject === undefined ? {} : { subject: nameSubject(call, subject) }),
    ...(rule === undefined ? {} : { rule: { ...rule, id: cut(rule.id) } }),
    ...(param === undefined ? {} : { param }),
    ...(message === undefined || message === null ? {} : { message }),
    ...(target === null ? {} : { target }),
    ...(targets.length === 0 ? {} : { targets }),
    ...(upstream === undefined ? {} : { upstream }),
    at_step: stepOf(call, hasBegun),
  };
}

const ABOUT_PROVIDERS: ReadonlySet<ReasonKind> = new Set<ReasonKind>(['provider_error', 'provider_credential']);

function noTarget(call: Arrived, targets: readonly ReasonTarget[]): Reason {
  const { model = '' } = call.route ?? {};
  const ends = targets.flatMap(({ until }) => until ?? []).sort();
  return {
    kind: 'no_target',
    subject: { type: 'model', id: model, name: model },
    targets,
    ...(ends[0] === undefined ? {} : { resets_at: ends[0] }),
    at_step: stepOf(call, false),
  };
}

/** What the provider of a failed attempt said, for the attempt's row; null: nothing. */
export function attemptMessage(call: Arrived, { kind, message, details }: CallFailure): string | null {
  if (details.upstream !== undefined) return upstreamText(call, details.upstream.message);
  return FAILURE_KINDS[kind].origin === 'upstream' ? upstreamText(call, message) : null;
}

/** The reason of a detached call, whose request is not at hand any more. */
export function reasonOfJob(
  reason: Reason,
  { provider, model }: { readonly provider: string; readonly model: string },
): Reason {
  const { upstream, ...rest } = reason;
  const target = { provider, model: maskKeys(model) };
  if (upstream === undefined) return { target, ...rest };
  const message = upstream.message === null ? null : textOf(withoutEcho(upstream.message, null));
  return { target, ...rest, upstream: { ...upstream, message } };
}

type Described = Pick<ReasonDraft, 'message' | 'param' | 'limit' | 'needed'> & { readonly upstream?: ReasonUpstream };

function describeFailure(
  call: Arrived,
  kind: ReasonKind,
  failureKind: FailureKind,
  failure: CallFailure | null,
): Described {
  if (failure === null) return {};
  const { upstream, param, tokens } = failure.details;
  const counts = tokens === undefined ? {} : countsOf(tokens);
  if (upstream !== undefined) {
    const { status, type, message } = upstream;
    return { ...counts, upstream: { status, type: upstreamText(call, type), message: upstreamText(call, message) } };
  }
  if (FAILURE_KINDS[failureKind].origin === 'upstream') {
    return { upstream: { status: null, type: null, message: upstreamText(call, failure.message) } };
  }
  // A path quotes odd keys, which may be text.
  const named = param === undefined ? {} : { param: cut(withoutEcho(param, null)) };
  // A gateway fault is identified only by its id: its message is for the log.
  if (failureKind === 'gateway_fault') return {};
  if (kind === 'model_not_allowed') return param === 'model' ? {} : named;
  if (kind !== 'invalid_request' && kind !== 'ours') return {};
  return { ...counts, message: textOf(withoutTexts(failure.message)) ?? '', ...named };
}

function countsOf({ prompt, output, max }: TokenCounts): Pick<ReasonDraft, 'limit' | 'needed'> {
  return {
    ...(max === null ? {} : { limit: max }),
    ...(prompt === null ? {} : { needed: prompt + (output ?? 0) }),
  };
}

/** A provider's words, without those that the request brought. */
function upstreamText(call: Arrived, text: string | null): string | null {
  if (text === null) return null;
  const names = [call.facts?.model, call.target?.upstream.model, call.target?.upstream.provider];
  const body = isRouted(call) ? call.outline.bytes : null;
  return textOf(
    withoutEcho(
      text,
      body,
      names.flatMap((name) => name ?? []),
    ),
  );
}

/** Messages quote what was found: a number or a keyword may be kept, a text of the request may be part of a prompt. */
function withoutTexts(message: string): string {
  return withoutEcho(message.replaceAll(/found "(?:[^"\\]|\\.)*"/g, 'found a string'), null);
}

function textOf(text: string | null): string | null {
  return text === null || text === '' ? null : cut(text);
}

function cut(text: string): string {
  return maskKeys(text).toWellFormed().slice(0, TEXT_CHARS_MAX).toWellFormed();
}

function nameSubject({ principal }: Arrived, { type, id }: Pick<ReasonSubject, 'type' | 'id'>): ReasonSubject {
  if (type === 'key') return { type, id, name: principal?.keyName ?? id };
  if (type === 'account') return { type, id, name: principal?.account.name ?? id };
  // The id of an end user is the account, a slash, and the end user as the request named it.
  const shown = cut(id);
  return { type, id: shown, name: type === 'end_user' ? shown.slice(shown.indexOf('/') + 1) : shown };
}

function targetOf({ attempted, target }: Arrived): NonNullable<Reason['target']> | null {
  if (!attempted || target === null) return null;
  const { provider, model } = target.upstream;
  return { provider, model: maskKeys(model) };
}

function stepOf({ facts, route, attempted }: Arrived, hasBegun: boolean): Reason['at_step'] {
  if (facts === null) return 'read';
  if (route === null) return 'route';
  if (!attempted) return 'limits';
  return hasBegun ? 'answer' : 'provider';
}

/** Renders the reason of a failed request as one sentence and one remedy. No other module puts reasons into words. */
import { formatNanoUsd } from '../../billing/money.ts';
import type { Reason, ReasonAmount, ReasonSubject, ReasonTarget, ReasonUpstream } from '../../errors/reason.ts';
import type { AttemptRecord, CallRecord } from '../../store/ports/records.ts';

type ExplainedAttempt = Pick<AttemptRecord, 'provider' | 'model' | 'status' | 'error' | 'class' | 'message'>;

export type ExplainedRecord = Pick<CallRecord, 'request_id' | 'at_ms' | 'model' | 'error' | 'usage' | 'duration_ms'> & {
  readonly attempts: readonly ExplainedAttempt[];
};

/** `page`: a path in the console. */
export interface Remedy {
  readonly label: string;
  readonly page: string;
}

export interface Explanation {
  readonly sentence: string;
  /** Null: nothing to change in the console. */
  readonly remedy: Remedy | null;
}

/** `zone`: an IANA name, for times. */
export function explainReason(reason: Reason, record: ExplainedRecord, zone: string): Explanation {
  return { sentence: renderSentence(reason, record, zone), remedy: chooseRemedy(reason) };
}

/**
 * Says which attempts of a completed request failed before another one answered it; null: none did. "Answered by bedrock
 * after anthropic answered 529: “Overloaded”."
 */
export function explainFallback({ attempts }: { readonly attempts: readonly ExplainedAttempt[] }): string | null {
  const last = attempts.at(-1);
  // A hedged attempt that was slower did not fail, and a request that was only sent in another form failed nowhere.
  const failed = attempts.slice(0, -1).filter((one) => one.class !== undefined && one.class !== 'beaten');
  if (last === undefined || last.error !== null || failed.length === 0) return null;
  const told = failed.slice(0, FAILED_MAX).map(failedWords);
  const more =
    failed.length > told.length
      ? [`${failed.length - told.length} more ${failed.length - told.length === 1 ? 'attempt' : 'attempts'} failed`]
      : [];
  return `Answered by ${last.provider} after ${listOf([...told, ...more])}.`;
}

const FAILED_MAX = 3;

function failedWords({ provider, status, class: found, message }: ExplainedAttempt): string {
  const without = found === 'timeout' ? 'timed out' : 'failed';
  const words = message === undefined || message === '' ? '' : `: “${message}”`;
  return `${provider} ${status === null || status === 200 ? without : `answered ${status}`}${words}`;
}

function listOf(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
}

function renderSentence(reason: Reason, record: ExplainedRecord, zone: string): string {
  switch (reason.kind) {
    case 'budget_spent':
      return budgetSentence(reason, zone);
    case 'balance_empty':
      return balanceSentence(reason);
    case 'rate_limited':
      return rateSentence(reason, record);
    case 'concurrency':
      return reason.limit === undefined
        ? `${nameOf(reason.subject)} has reached its limit of concurrent requests.`
        : `${reason.used} of ${reason.limit} concurrent requests of ${nameOf(reason.subject, false)} are in use.`;
    case 'model_not_allowed':
      return modelSentence(reason, record);
    case 'key_restricted':
      return reason.rule?.cap === 'addresses'
        ? `${nameOf(reason.subject)} isn’t allowed from the address of this request.`
        : `${nameOf(reason.subject)} isn’t allowed to make requests: it lacks the scope inference.`;
    case 'unpriced':
      return `The model ${reason.subject?.name || record.model || ''} has no price, and a balance or a budget pays for this request.`;
    case 'invalid_request':
      return invalidSentence(reason, record);
    case 'provider_error':
      return `${providerOf(reason)} ${saidBy(reason.upstream, 'failed')}${onAttempts(reason, record)}${targetStates(reason, zone)}.`;
    case 'no_target':
      return noTargetSentence(reason, record, zone);
    case 'provider_credential':
      return `${providerOf(reason)} refused our credential or account${statusOf(reason.upstream)}${elsewhere(reason, record)}${targetStates(reason, zone)}.`;
    case 'cut':
      return record.usage.output === 0
        ? `${providerOf(reason)} failed before the answer was complete${quoted(reason.upstream)}.`
        : `${providerOf(reason)} ended the answer after ${tokens(record)}${quoted(reason.upstream)}.`;
    case 'client_closed':
      return record.error === 'reader_too_slow'
        ? `The client stopped reading; the connection was closed after ${seconds(record.duration_ms)}.`
        : `The client disconnected after ${seconds(record.duration_ms)}.`;
    case 'money_ran_out':
      return record.usage.output === 0
        ? `${begin(moneySource(reason))} ${reason.at_step === 'answer' ? 'is used up' : 'doesn’t cover this request'}.`
        : `Stopped after ${tokens(record)}: ${moneySource(reason)} is used up.`;
    case 'guardrail':
      return sentenceOf(reason.message ?? 'a guardrail stopped this request');
    case 'ours':
      return ownSentence(reason, record);
  }
}

const WINDOWS = { day: 'Daily budget', week: 'Weekly budget', month: 'Monthly budget', total: 'Budget' } as const;

function budgetSentence({ subject, rule, used, limit, needed, resets_at }: Reason, zone: string): string {
  if (subject === undefined) return 'The budget or the balance doesn’t cover this request.';
  const budget = `${WINDOWS[rule?.window ?? 'total']} of ${nameOf(subject, false)}`;
  const resets = resets_at === undefined ? '' : ` Resets ${timeIn(resets_at, zone)}.`;
  if (used === undefined || limit === undefined) return `${budget} doesn’t cover this request.${resets}`;
  if (BigInt(used) >= BigInt(limit)) return `${budget} is used up: ${usd(used)} of ${usd(limit)}.${resets}`;
  const need = needed === undefined ? '' : `; this request could cost ${usd(needed)}`;
  return `${budget} doesn’t cover this request: ${usd(used)} of ${usd(limit)} is used or reserved${need}.${resets}`;
}

function balanceSentence({ subject, limit, needed }: Reason): string {
  const need = needed === undefined ? '' : `; this request could cost ${usd(needed)}`;
  return limit === undefined
    ? `The balance of ${nameOf(subject, false)} doesn’t cover this request.`
    : `${nameOf(subject)} has ${usd(limit)} left${need}.`;
}

function rateSentence({ subject, rule, used, limit, needed, resets_at }: Reason, { at_ms }: ExplainedRecord): string {
  const what = rule?.cap === 'tokens_per_minute' ? 'tokens' : 'requests';
  const name = nameOf(subject);
  if (limit === undefined) return `${name} has reached its limit of ${what} per minute.`;
  if (resets_at === undefined) {
    const needs = needed === undefined ? 'too many' : count(needed);
    const unit = needed === 1 ? what.slice(0, -1) : what;
    return `${name}: this request needs ${needs} ${unit}, and the limit is ${count(limit)} per minute.`;
  }
  const need = what === 'tokens' && needed !== undefined ? `, and this request needs ${count(needed)}` : '';
  const wait = seconds(Math.max(1_000, Date.parse(resets_at) - at_ms));
  return `${name}: ${count(used)} of ${count(limit)} ${what} per minute are used${need}. Free again after ${wait}.`;
}

function noTargetSentence(
  { subject, targets = [], resets_at }: Reason,
  { model }: ExplainedRecord,
  zone: string,
): string {
  const name = subject?.name || model || 'the model';
  if (targets.length > 0)
    return `All targets of ${name} are unavailable: ${targets.map((one) => stateWords(one, zone)).join('; ')}.`;
  return `All targets of ${name} are unavailable${resets_at === undefined ? '' : ` until ${clockIn(resets_at, zone)}`}.`;
}

/** The targets that were not tried, after what is said of those that were. */
function targetStates({ targets = [] }: Reason, zone: string): string {
  return targets.map((one) => `; ${stateWords(one, zone)}`).join('');
}

const STATE_WORDS = {
  open: 'was open',
  cooling: 'was rate-limited',
  benched: 'was out of use, because it refuses our credential or the model,',
  full: 'had no capacity left',
} as const;

function stateWords({ provider, state, until }: ReasonTarget, zone: string): string {
  const words = STATE_WORDS[state];
  return `${provider} ${until === undefined ? words.replace(/,$/, '') : `${words} until ${clockIn(until, zone)}`}`;
}

function modelSentence({ subject, rule, param, allowed }: Reason, { model }: ExplainedRecord): string {
  const name = model ?? 'The model';
  if (rule?.cap === 'tags') {
    return `No target of ${name} has the required data tags${allowed === undefined ? '' : `: ${allowed.join(', ')}`}.`;
  }
  if (subject === undefined && param !== undefined && param !== 'model') {
    return `The request names a model that isn’t available to it in ${param}.`;
  }
  if (subject === undefined) return `No model named ${name} is available here.`;
  if (allowed === undefined || allowed.length === 0) return `${nameOf(subject)} doesn’t allow ${name}.`;
  return `${nameOf(subject)} allows ${allowed.join(', ')}; ${name} isn’t included.`;
}

function contextSentence(
  { model, error }: ExplainedRecord,
  { limit, needed }: { readonly limit: ReasonAmount | undefined; readonly needed: ReasonAmount | undefined },
): string {
  const what = error === 'context_overflow' ? 'The prompt' : 'The prompt and the requested output';
  const has = needed === undefined ? `${what} don’t fit`.replace('prompt don’t', 'prompt doesn’t') : null;
  const size = limit === undefined ? '' : ` of ${count(limit)} tokens`;
  const name = model ?? 'the model';
  if (has !== null) return `${has} into the context${size} of ${name}.`;
  const verb = error === 'context_overflow' ? 'has' : 'have';
  return `${what} ${verb} ${count(needed)} tokens; the context of ${name}${limit === undefined ? ' is smaller' : ` takes ${count(limit)}`}.`;
}

function invalidSentence(reason: Reason, record: ExplainedRecord): string {
  const { upstream, message, param, limit, needed } = reason;
  if (record.error === 'context_overflow' || record.error === 'output_over_context') {
    return contextSentence(record, { limit, needed });
  }
  if (upstream !== undefined)
    return `${providerOf(reason)} rejected the request${statusOf(upstream)}${quoted(upstream)}.`;
  if (message !== undefined && message !== '') return sentenceOf(message);
  return param === undefined ? 'The request isn’t valid.' : `${param} isn’t valid.`;
}

function ownSentence({ message }: Reason, { request_id, error }: ExplainedRecord): string {
  if (error === 'gateway_crashed') return `The gateway stopped while this request was running (ref ${request_id}).`;
  if (message === undefined || message === '') return `We failed (ref ${request_id}).`;
  return `${sentenceOf(message).slice(0, -1)} (ref ${request_id}).`;
}

function moneySource({ subject, rule, used, limit }: Reason): string {
  if (subject === undefined) return 'the budget or balance';
  if (rule?.cap === 'balance') return `the balance of ${nameOf(subject, false)}`;
  const budget = WINDOWS[rule?.window ?? 'total'].toLowerCase();
  const amounts = used === undefined || limit === undefined ? '' : ` (${usd(used)} of ${usd(limit)} used or reserved)`;
  return `the ${budget} of ${nameOf(subject, false)}${amounts}`;
}

/** The provider's status, or `without` if there was none, and its message. */
function saidBy(upstream: ReasonUpstream | undefined, without: string): string {
  const status = upstream?.status ?? null;
  return `${status === null ? without : `answered ${status}`}${quoted(upstream)}`;
}

function quoted(upstream: ReasonUpstream | undefined): string {
  const words = upstream?.message ?? '';
  return words === '' ? '' : `: “${words}”`;
}

function statusOf(upstream: ReasonUpstream | undefined): string {
  return upstream?.status == null ? '' : ` (${upstream.status})`;
}

function onAttempts(reason: Reason, record: ExplainedRecord): string {
  const { target } = reason;
  const own = record.attempts.filter(({ provider }) => target === undefined || provider === target.provider).length;
  const isAll = own === record.attempts.length;
  const times = own < 2 ? '' : own === 2 ? ' on both attempts' : ` on all ${own} attempts`;
  return `${isAll ? times : times.replace('all ', '')}${elsewhere(reason, record)}`;
}

/** What other providers answered before. */
function elsewhere({ target }: Reason, { attempts }: ExplainedRecord): string {
  if (target === undefined) return '';
  const others = new Map(
    attempts
      .filter(({ provider, error }) => provider !== target.provider && error !== null)
      .map((one) => [one.provider, one]),
  );
  return [...others.values()]
    .slice(0, FAILED_MAX)
    .map((one) => `; ${failedWords(one)}`)
    .join('');
}

const SUBJECT_WORDS = {
  key: 'key',
  end_user: 'end user',
  workspace: 'workspace',
  account: 'account',
  model: 'model',
} as const;

/** A subject without a name belongs to the key, whose caller may not see it. */
const OWN_SUBJECTS = {
  key: 'this key',
  end_user: 'this end user',
  workspace: 'the workspace of this key',
  account: 'the account of this key',
  model: 'this model',
} as const;

function nameOf(subject: ReasonSubject | undefined, begins = true): string {
  const { type, name } = subject ?? { type: 'key', name: '' };
  const text = name === '' ? OWN_SUBJECTS[type] : `${SUBJECT_WORDS[type]} ${name}`;
  return begins ? begin(text) : text;
}

function begin(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}`;
}

function providerOf({ target }: Reason): string {
  return target?.provider ?? 'The provider';
}

function tokens({ usage }: ExplainedRecord): string {
  return usage.output === 1 ? '1 token' : `${count(usage.output)} tokens`;
}

/** Failure messages start in lower case and have no final period. */
function sentenceOf(message: string): string {
  return `${begin(message.replace(/\.$/, ''))}.`;
}

function count(amount: ReasonAmount | undefined): string {
  return Number(amount ?? 0).toLocaleString('en-US');
}

/** At least two decimals, and all further non-zero ones. */
function usd(nanoUsd: ReasonAmount): string {
  const text = formatNanoUsd(BigInt(nanoUsd));
  const [whole = '0', digits = ''] = text.replace('-', '').split('.');
  return `${text.startsWith('-') ? '-' : ''}$${whole}.${digits.padEnd(2, '0')}`;
}

function seconds(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 10_000 ? `${(ms / 1_000).toFixed(1).replace('.0', '')} s` : `${Math.round(ms / 1_000)} s`;
}

/** `11:02 UTC`. */
function clockIn(iso: string, timeZone: string): string {
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone } as const;
  return `${new Intl.DateTimeFormat('en-US', clock).format(new Date(iso))} ${timeZone}`;
}

function timeIn(iso: string, timeZone: string): string {
  const day = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  return `${new Intl.DateTimeFormat('en-US', { ...day, timeZone }).format(new Date(iso))} ${timeZone}`;
}

/** `page`: of the console. */
export function chooseRemedy({
  kind,
  subject,
  rule,
  target,
}: Pick<Reason, 'kind' | 'subject' | 'rule' | 'target'>): Remedy | null {
  switch (kind) {
    case 'budget_spent':
    case 'money_ran_out':
      return rule?.cap === 'balance'
        ? { label: 'Top up', page: '/app/billing' }
        : { label: 'Raise budget', page: limitPage(subject) };
    case 'balance_empty':
      return { label: 'Top up', page: '/app/billing' };
    case 'rate_limited':
    case 'concurrency':
      return { label: 'Edit limits', page: limitPage(subject) };
    case 'model_not_allowed':
      if (subject === undefined || rule?.cap === 'tags') return { label: 'Show models', page: modelPage(subject) };
      return {
        label: 'Edit allowed models',
        page: subject.type === 'key' ? keyPage(subject) : `/app/workspaces?open=${encodeURIComponent(subject.id)}`,
      };
    case 'key_restricted':
      return subject === undefined ? null : { label: 'Edit key', page: keyPage(subject) };
    case 'unpriced':
      return { label: 'Set price', page: modelPage(subject) };
    case 'no_target':
      return { label: 'Show targets', page: modelPage(subject) };
    case 'provider_error':
    case 'cut':
      return { label: 'Show providers', page: providerPage(target) };
    case 'provider_credential':
      return { label: 'Replace credential', page: providerPage(target) };
    case 'guardrail':
      return rule === undefined ? null : { label: 'Show rule', page: rulePage(rule.id) };
    case 'invalid_request':
    case 'client_closed':
    case 'ours':
      return null;
  }
}

function limitPage(subject: ReasonSubject | undefined): string {
  if (subject === undefined) return '/app/limits';
  return subject.type === 'key'
    ? keyPage(subject)
    : `/app/limits?open=${encodeURIComponent(`${subject.type} ${subject.id}`)}`;
}

function modelPage(subject: ReasonSubject | undefined): string {
  return subject?.type === 'model' ? `/app/models?model=${encodeURIComponent(subject.name)}` : '/app/models';
}

function providerPage(target: Reason['target']): string {
  return target === undefined ? '/app/providers' : `/app/providers?provider=${encodeURIComponent(target.provider)}`;
}

/** `id`: `guardrail:` and the rule's own. */
function rulePage(id: string): string {
  return `/app/guardrails?rule=${encodeURIComponent(id.slice(id.indexOf(':') + 1))}`;
}

function keyPage({ id }: ReasonSubject): string {
  return `/app/keys/${encodeURIComponent(id)}`;
}

/** Words why a rule stops a request or an answer. Nothing of the text is in them. */
import { CallFailure } from '../errors/call-failure.ts';
import type { ReasonDraft } from '../errors/reason.ts';
import type { GuardrailRule } from '../store/ports/books/guardrails.ts';
import { DETECTORS } from './detectors.ts';
import { MATCH_LENGTH_MAX } from './matcher.ts';
import type { Finding } from './text-rules.ts';

export type Side = 'request' | 'answer';

const TITLES: ReadonlyMap<string, string> = new Map(DETECTORS.map(({ name, title }) => [name, title]));

/** A rule found what it blocks, or could not see the end of it. Which term it was is not told. */
export function failureOfFinding({ rule, name, isTooLong }: Finding, side: Side): CallFailure {
  if (isTooLong) return cannotCheck(rule, side, `what it found may be longer than ${MATCH_LENGTH_MAX} characters`);
  return blocked(rule, side, TITLES.get(name) ?? 'a term of its list');
}

/** `why`: the hook's, or what was found. */
export function blocked(rule: GuardrailRule, side: Side, why: string): CallFailure {
  const message = `the guardrail ${quote(rule.name)} blocks this ${side}: ${why}`;
  return new CallFailure('guardrail_blocked', message, { reason: reasonOf(rule, message) });
}

/** The rule cannot be applied to what the caller sent, and never will be. */
export function cannotCheck(rule: GuardrailRule, side: Side, why: string): CallFailure {
  const message = `the guardrail ${quote(rule.name)} cannot check this ${side}: ${why}`;
  return new CallFailure('guardrail_blocked', message, { reason: reasonOf(rule, message) });
}

/** The rule does not work now: a fault that is not the caller's. */
export function unavailable(rule: GuardrailRule, side: Side, why: string): CallFailure {
  const message = `the guardrail ${quote(rule.name)} could not check this ${side}: ${why}; try again shortly`;
  return new CallFailure('guardrail_unavailable', message, { reason: reasonOf(rule, message), retryAfterSeconds: 2 });
}

function reasonOf({ id, account, workspace }: GuardrailRule, message: string): ReasonDraft {
  return {
    kind: 'guardrail',
    subject: workspace === null ? { type: 'account', id: account } : { type: 'workspace', id: workspace },
    rule: { id: `guardrail:${id}`, cap: 'guardrail' },
    message,
  };
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, 80));
}

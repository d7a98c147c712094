/** Words and inputs of guardrails: what a rule checks and does, and what its form sends. */
import type { Body, Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { changesOf, type Faults, readOf } from '../../policy/read.ts';

export type GuardrailsReply = Reply<'GET /accounts/{account}/guardrails'>;
export type Rule = GuardrailsReply['rules'][number];
export type Detector = GuardrailsReply['detectors'][number];
export type Trial = Reply<'POST /accounts/{account}/guardrails/{guardrail}/test'>;
export type Check = Rule['check'];
type Side = Rule['side'];
type Action = NonNullable<Rule['action']>;

interface CheckWords {
  readonly name: string;
  readonly hint: string;
}

export const CHECKS: Readonly<Record<Check, CheckWords>> = {
  secrets: { name: 'Secrets', hint: 'API keys, tokens, passwords and private keys, by their form.' },
  personal_data: {
    name: 'Personal data',
    hint: 'Numbers and addresses of people, by their form. Names are not found.',
  },
  terms: { name: 'Terms', hint: 'Words and phrases of your own, in any case, as whole words.' },
  hook: { name: 'Hook', hint: 'Your own service gets the text and allows, replaces or blocks it.' },
};

export const SIDES: readonly (readonly [side: Side, word: string])[] = [
  ['request', 'Requests'],
  ['answer', 'Answers'],
  ['both', 'Both'],
];
export const ACTIONS: readonly (readonly [action: Action, word: string])[] = [
  ['mask', 'Mask'],
  ['block', 'Block'],
];

export const TERMS_MAX = 500;
const TERM_LENGTH_MAX = 200;

export function sideText(side: Side): string {
  return side === 'both' ? 'Requests and answers' : (SIDES.find(([one]) => one === side)?.[1] ?? side);
}

/** `Secrets`, `Personal data: 2 of 6`, `Terms: 12`, `Hook, guard.example.com`. */
export function checkText({ check, items, receiver }: Rule, detectors: readonly Detector[]): string {
  const { name } = CHECKS[check];
  if (check === 'hook') return `${name}, ${receiver.replace(/^https?:\/\//, '')}`;
  if (check === 'terms') return `${name}: ${items.length}`;
  const all = detectors.filter((one) => one.check === check).length;
  return items.length === 0 ? name : `${name}: ${items.length} of ${all}`;
}

export function actionText({ action }: Pick<Rule, 'action'>): string {
  return ACTIONS.find(([one]) => one === action)?.[1] ?? 'As it decides';
}

export interface GuardrailDraft {
  readonly check: Check;
  /** Empty: named after what it does. */
  readonly name: string;
  /** Empty: all workspaces. */
  readonly workspace: string;
  /** Checked detectors of the check. */
  readonly detectors: readonly string[];
  /** One per line. */
  readonly terms: string;
  readonly side: Side;
  readonly action: Action;
  readonly failsOpen: boolean;
  /** Empty when a rule is changed: its address stays. */
  readonly url: string;
  /** Milliseconds, as typed. */
  readonly timeout: string;
}

/** The values of a new rule of a check. `workspace`: empty, or the one that the user has. */
export function newDraft(check: Check, detectors: readonly Detector[], workspace: string): GuardrailDraft {
  return {
    ...{ check, workspace, name: '', terms: '', side: 'request', failsOpen: false, url: '', timeout: '2000' },
    detectors: namesOf(check, detectors),
    action: check === 'terms' ? 'block' : 'mask',
  };
}

export function draftOf(rule: Rule, detectors: readonly Detector[]): GuardrailDraft {
  const { check, name, workspace, items, side, action, fails_open, timeout_ms } = rule;
  return {
    ...{ check, name, side, failsOpen: fails_open, url: '' },
    workspace: workspace ?? '',
    detectors: items.length === 0 ? namesOf(check, detectors) : items,
    terms: check === 'terms' ? items.join('\n') : '',
    action: action ?? 'block',
    timeout: String(timeout_ms ?? 2_000),
  };
}

function namesOf(check: Check, detectors: readonly Detector[]): readonly string[] {
  return detectors.filter((one) => one.check === check).map(({ name }) => name);
}

export function defaultName({ check, action }: Pick<GuardrailDraft, 'check' | 'action'>): string {
  if (check === 'hook') return 'Hook';
  return `${action === 'mask' ? 'Mask' : 'Block'} ${CHECKS[check].name.toLowerCase()}`;
}

/** `rule`: the one that is changed; null: a new one. */
export function faultsOf(draft: GuardrailDraft, rule: Rule | null): Faults {
  const { check } = draft;
  if (check === 'hook') {
    const timeout = Number(draft.timeout);
    const isGood = /^\d{3,5}$/.test(draft.timeout.trim()) && timeout >= 100 && timeout <= 10_000;
    return {
      ...(rule === null && draft.url.trim() === '' ? { url: 'Enter the https address of your service.' } : {}),
      ...(isGood ? {} : { timeout_ms: 'Enter a whole number from 100 to 10000.' }),
    };
  }
  const fault = check === 'terms' ? termsFault(linesOf(draft.terms)) : null;
  if (fault !== null) return { items: fault };
  return check !== 'terms' && draft.detectors.length === 0 ? { items: 'Choose at least one.' } : {};
}

function termsFault(terms: readonly string[]): string | null {
  if (terms.length === 0) return 'Enter at least one word or phrase.';
  if (terms.length > TERMS_MAX) return `Enter at most ${TERMS_MAX} terms; there are ${terms.length}.`;
  const long = terms.find((term) => term.length > TERM_LENGTH_MAX);
  return long === undefined ? null : `At most ${TERM_LENGTH_MAX} characters per term: ${long.slice(0, 40)}…`;
}

function linesOf(text: string): readonly string[] {
  return text
    .split(/[\r\n\u2028\u2029]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

type ChangeBody = Omit<Body<'POST /accounts/{account}/guardrails'>, 'check'>;
type Changes = Body<'PATCH /accounts/{account}/guardrails/{guardrail}'>;

/** The body of a draft without faults. All detectors of a check are sent as none, so that later ones are in it too. */
export function bodyOf(draft: GuardrailDraft, detectors: readonly Detector[]): ChangeBody {
  const { check, side, failsOpen, action } = draft;
  const url = draft.url.trim();
  const isAll = namesOf(check, detectors).every((name) => draft.detectors.includes(name));
  const items = check === 'terms' ? linesOf(draft.terms) : isAll ? [] : draft.detectors;
  return {
    name: draft.name.trim() || defaultName(draft),
    workspace: draft.workspace === '' ? null : draft.workspace,
    ...{ side, fails_open: failsOpen },
    ...(check === 'hook'
      ? { timeout_ms: Number(draft.timeout), ...(url === '' ? {} : { url }) }
      : { items: [...items], action }),
  };
}

/** What a draft changes of a rule: others may have changed the other members since the form was opened. */
export function changesTo(rule: Rule, draft: GuardrailDraft, detectors: readonly Detector[]): Changes {
  const changes = changesOf<ChangeBody>(bodyOf(draftOf(rule, detectors), detectors), bodyOf(draft, detectors));
  return { ...changes, ...readOf(rule, changes, ['items']) };
}

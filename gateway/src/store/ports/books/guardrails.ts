/** Defines the store of guardrail rules: what is checked in requests and answers, and what happens where it is found. */
import type { NewAuditEntry } from '../audit.ts';

/**
 * `secrets`, `personal_data`: the detectors named by the rule. `terms`: words and phrases of the rule's own. `hook`: an
 * HTTP service decides.
 */
export const GUARDRAIL_CHECKS = ['secrets', 'personal_data', 'terms', 'hook'] as const;
export type GuardrailCheck = (typeof GUARDRAIL_CHECKS)[number];

export const GUARDRAIL_SIDES = ['request', 'answer', 'both'] as const;
export type GuardrailSide = (typeof GUARDRAIL_SIDES)[number];

/** `mask`: replaces what was found. `block`: refuses the request, or ends the answer. A hook chooses itself. */
export const GUARDRAIL_ACTIONS = ['mask', 'block'] as const;
export type GuardrailAction = (typeof GUARDRAIL_ACTIONS)[number];

export interface GuardrailRule {
  readonly id: string;
  readonly account: string;
  /** Null: all workspaces of the account. */
  readonly workspace: string | null;
  readonly name: string;
  readonly check: GuardrailCheck;
  /** Names of detectors (`secrets`, `personal_data`) or terms (`terms`); empty: all detectors; for a hook: empty. */
  readonly items: readonly string[];
  readonly side: GuardrailSide;
  readonly action: GuardrailAction;
  /** Lets text pass that the rule could not check; else it is refused. */
  readonly failsOpen: boolean;
  /** Of a hook: the origin of its address. Else empty. */
  readonly receiver: string;
  /** Of a hook: its address and signing secret, sealed for this rule and origin; base64. Else null. */
  readonly sealed: string | null;
  /** How long a hook may take; 0: no hook. */
  readonly timeoutMs: number;
  readonly enabled: boolean;
  readonly createdAtMs: number;
}

/** What one rule makes of a text, without a request. */
export interface GuardrailTrial {
  /** `unchecked`: the rule could not run; a request would pass or be refused, as the rule says. */
  readonly outcome: 'passed' | 'masked' | 'blocked' | 'unchecked';
  /** As a provider would get it; as given unless it was masked. */
  readonly text: string;
  /** Detectors or terms, by how often they were found. Empty for a hook. */
  readonly findings: readonly { readonly name: string; readonly count: number }[];
  /** The reason that a hook gave, or why the rule could not run. */
  readonly message: string | null;
}

export interface GuardrailStore {
  /** The rules of all accounts, oldest first: the order in which they are applied. */
  readRules(): Promise<readonly GuardrailRule[]>;
  /** Durable when it resolves. Rejects as a conflict where the id exists. */
  createRule(rule: GuardrailRule, entries: readonly NewAuditEntry[]): Promise<void>;
  /** Replaces all but its account and time of creation. Rejects as a conflict where it does not exist. */
  changeRule(rule: GuardrailRule, entries: readonly NewAuditEntry[]): Promise<void>;
  /** Rejects as a conflict where it does not exist. */
  deleteRule(id: string, entries: readonly NewAuditEntry[]): Promise<void>;
}

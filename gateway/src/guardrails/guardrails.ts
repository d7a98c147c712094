/**
 * Keeps the rules of all workspaces in memory, ready to apply, and follows their changes. A workspace without a rule
 * costs a look-up.
 */
import { createHash, hkdfSync } from 'node:crypto';
import type { Secret } from '../lib/secret.ts';
import type { GuardrailRule, GuardrailSide, GuardrailStore, GuardrailTrial } from '../store/ports/books/guardrails.ts';
import type { ChangeFollower } from '../store/ports/change-feed.ts';
import { DETECTORS, type DetectorName } from './detectors.ts';
import { failureOfFinding, type Side } from './guard-failures.ts';
import type { HookParts, HookSubject } from './hook.ts';
import type { Matcher } from './matcher.ts';
import { personalDataMatchers } from './personal-data.ts';
import { SecretMatcher } from './secret-formats.ts';
import { applyEdits, SideGuard } from './side-guard.ts';
import { TermMatcher } from './terms.ts';
import type { TextRule } from './text-rules.ts';

/** The rules of a workspace; a side without one is null. */
export interface Guard {
  readonly request: SideGuard | null;
  readonly answer: SideGuard | null;
  /** Changes with the rules: answers that are stored under another one are not given any more. */
  readonly fingerprint: string;
}

interface Place {
  readonly account: { readonly id: string };
  readonly workspaceId: string;
}

export interface Guardrails extends ChangeFollower {
  /** Null: the workspace has no rule. */
  guardOf(place: Place): Guard | null;
  /** What a rule makes of a text, enabled or not. Never rejects for a hook that fails. */
  tryRule(rule: GuardrailRule, text: string, side: Side): Promise<GuardrailTrial>;
}

export async function loadGuardrails(
  store: Pick<GuardrailStore, 'readRules'>,
  masterKey: Secret,
  hook: HookParts,
): Promise<Guardrails> {
  let ofAccounts = new Map<string, readonly GuardrailRule[]>();
  /** By account and workspace, made when first asked for. */
  let guards = new Map<string, Map<string, Guard | null>>();
  const keyOf = maskKeys(masterKey);
  const reload = async () => {
    const rules = await store.readRules();
    ofAccounts = Map.groupBy(
      rules.filter(({ enabled }) => enabled),
      ({ account }) => account,
    );
    guards = new Map();
  };
  await reload();
  return {
    reload,
    follow: (changes) => (changes.some((change) => change.of === 'guardrail') ? reload() : undefined),
    guardOf({ account, workspaceId }) {
      const rules = ofAccounts.get(account.id);
      if (rules === undefined) return null;
      let ofWorkspaces = guards.get(account.id);
      if (ofWorkspaces === undefined) {
        ofWorkspaces = new Map();
        guards.set(account.id, ofWorkspaces);
      }
      let guard = ofWorkspaces.get(workspaceId);
      if (guard === undefined) {
        const own = rules.filter(({ workspace }) => workspace === null || workspace === workspaceId);
        guard = own.length === 0 ? null : makeGuard(own, keyOf(account.id), hook);
        ofWorkspaces.set(workspaceId, guard);
      }
      return guard;
    },
    tryRule: (rule, text, side) => tryRule(makeSide([rule], side, keyOf(rule.account), hook), rule, text),
  };
}

/** The key of an account's masks, so that no other account can tell what a mask stands for. */
function maskKeys(masterKey: Secret): (account: string) => Buffer {
  const master = Buffer.from(masterKey.reveal(), 'hex');
  return (account) => Buffer.from(hkdfSync('sha256', master, account, 'tollgate guardrail mask v1', 32));
}

function makeGuard(rules: readonly GuardrailRule[], maskKey: Buffer, hook: HookParts): Guard {
  const sideOf = (side: Side) => {
    const own = rules.filter((rule) => isOf(rule.side, side));
    return own.length === 0 ? null : makeSide(own, side, maskKey, hook);
  };
  const fingerprint = createHash('sha256').update(JSON.stringify(rules)).digest('base64url');
  return { request: sideOf('request'), answer: sideOf('answer'), fingerprint };
}

function isOf(side: GuardrailSide, wanted: Side): boolean {
  return side === 'both' || side === wanted;
}

function makeSide(rules: readonly GuardrailRule[], side: Side, maskKey: Buffer, hook: HookParts): SideGuard {
  const textRules = rules.flatMap((rule): TextRule[] => {
    const matchers = matchersOf(rule);
    return matchers.length === 0 ? [] : [{ rule, matchers }];
  });
  const unknown = rules.find((rule) => !rule.failsOpen && !isKnown(rule)) ?? null;
  return new SideGuard({ side, rules, textRules, unknown, maskKey, hook });
}

function isKnown({ check, items }: GuardrailRule): boolean {
  if (check === 'terms' || check === 'hook') return true;
  return items.every((item) => DETECTORS.some((one) => one.check === check && one.name === item));
}

function matchersOf({ check, items }: GuardrailRule): readonly Matcher[] {
  if (check === 'hook') return [];
  if (check === 'terms') return [new TermMatcher(items)];
  const names = DETECTORS.filter((one) => one.check === check && (items.length === 0 || items.includes(one.name)));
  const detectors = new Set<DetectorName>(names.map(({ name }) => name));
  if (detectors.size === 0) return [];
  return check === 'secrets' ? [new SecretMatcher(detectors)] : personalDataMatchers(detectors);
}

async function tryRule(side: SideGuard, rule: GuardrailRule, text: string): Promise<GuardrailTrial> {
  const found = side.masking.find(text, 0);
  const counts = Map.groupBy(found, ({ name }) => name);
  const findings = [...counts].map(([name, { length: count }]) => ({ name, count }));
  const blocking = found.find(({ action }) => action === 'block');
  if (blocking !== undefined) {
    const { message } = failureOfFinding(blocking, side.side);
    return { outcome: blocking.isTooLong ? 'unchecked' : 'blocked', text, findings, message };
  }
  const subject: HookSubject = { account: rule.account, workspace: rule.workspace ?? '', key: '', model: null };
  if (rule.check === 'hook') {
    const answer = await side.tryHook(rule, subject, text);
    if (answer.action === 'block') return { outcome: 'blocked', text, findings, message: answer.reason };
    if (answer.action === 'failed' || answer.action === 'too_large')
      return { outcome: 'unchecked', text, findings, message: answer.why };
    const shown = answer.action === 'replace' ? (answer.texts[0] ?? text) : text;
    return { outcome: shown === text ? 'passed' : 'masked', text: shown, findings, message: null };
  }
  const edits = found.map(({ start, end, label }) => {
    return { start, end, to: side.masking.maskOf(label, text.slice(start, end)) };
  });
  const shown = applyEdits(text, edits);
  return { outcome: found.length === 0 ? 'passed' : 'masked', text: shown, findings, message: null };
}

/**
 * Explains how a hypothetical call would be handled: each step in order, as text, up to the first one that fails. Uses
 * the same functions as a real call; takes nothing from any limit and sends nothing.
 */

import { previewCall } from '../admission/admission.ts';
import { refusalOf } from '../admission/limit-messages.ts';
import { formatNanoUsd } from '../billing/money.ts';
import { priceWords } from '../billing/price-book.ts';
import { CallFailure } from '../errors/call-failure.ts';
import type { KeyEntry } from '../identity/principal.ts';
import { authorize, keyAllowsModel, openEntry, type Principal, workspaceAllowsModel } from '../identity/principal.ts';
import { steadyNowMs } from '../lib/deadlines.ts';
import { type ClientProtocolName, DEFAULT_PROTOCOL, PROTOCOLS } from '../protocols/names.ts';
import type { Route } from '../routing/route.ts';
import type { BindingCaps, LimitStore } from '../store/ports/limits.ts';
import type { StoredKey } from '../store/ports/records.ts';
import type { CallDeps } from './deps.ts';
import { type PreparedClaim, prepareClaim, prepareOtherwise } from './money/hold-call.ts';
import { chooseRoute } from './request/identify.ts';

/** The call to explain. Tokens are whole numbers. */
export interface CallQuery {
  readonly key: StoredKey;
  readonly model: string;
  /** Null: a protocol that the model is served over. */
  readonly protocol: ClientProtocolName | null;
  readonly endUser: string | null;
  readonly inputTokens: number;
  /** Null: the model's own maximum. */
  readonly outputTokensMax: number | null;
  readonly stream: boolean;
}

export interface ExplainedStep {
  readonly passes: boolean;
  readonly text: string;
}

export interface ExplainedCall {
  readonly admitted: boolean;
  /** Nano-USD that the call would hold; 0 if an earlier step refuses it. */
  readonly hold: bigint;
  readonly steps: readonly ExplainedStep[];
}

/** Ends the explanation with the refusal that the call would get. */
class Refused extends Error {}

const STATES = {
  expired: 'The key has expired. Set a later expiry.',
  disabled: 'The key is disabled. Enable it.',
  ownerless: 'The key’s owner can no longer create keys in this workspace. Create another key.',
  revoked: 'The key is revoked permanently. Create another one.',
} as const;

/** How the call would be handled now. Rejects if the store cannot be read. */
export async function explainCall(
  deps: Pick<CallDeps, 'directory' | 'settings' | 'billing'>,
  query: CallQuery,
  nowMs: number,
): Promise<ExplainedCall> {
  const steps: ExplainedStep[] = [];
  const pass = (text: string) => void steps.push({ passes: true, text });
  let hold = 0n;
  try {
    const principal = passCaller(deps.directory.byHash.get(query.key.hash), query.key, nowMs, pass);
    const route = passModel(deps, principal, query, pass);
    const prepared = passPrice(deps, { principal, route, query, nowMs }, pass);
    const taken = await passLimits(deps, prepared, pass);
    hold = taken.claim.amount;
    return { admitted: true, hold, steps };
  } catch (fault) {
    if (!(fault instanceof Refused || fault instanceof CallFailure)) throw fault;
    return { admitted: false, hold, steps: [...steps, { passes: false, text: begin(fault.message) }] };
  }
}

function passCaller(
  entry: KeyEntry | undefined,
  key: StoredKey,
  nowMs: number,
  pass: (text: string) => void,
): Principal {
  if (entry === undefined) throw new Refused('The key isn’t valid. Create another one.');
  const opened = openEntry(entry, nowMs);
  if (typeof opened === 'string') throw new Refused(STATES[opened]);
  const until = key.expiresAtMs === null ? '' : ` until ${utcTime(key.expiresAtMs)}`;
  pass(`The key is active${until}`);
  if (authorize({ ...opened, ranges: null }, { scope: 'inference', address: null, modelNames: null }) !== 'allowed') {
    throw new Refused('The key can’t call models: it lacks the permission “Call models”.');
  }
  pass('The key has the permission “Call models”');
  const from = key.ips === null ? 'any IP address' : `${key.ips.join(', ')} only (not checked in this preview)`;
  pass(`The key can be used from ${from}`);
  return opened;
}

function passModel(
  { settings }: Pick<CallDeps, 'settings'>,
  principal: Principal,
  { model, protocol }: CallQuery,
  pass: (text: string) => void,
): Route {
  const found = settings.routes.get(model);
  if (found !== undefined) {
    pass(
      found.model === model ? `The model ${model} is available` : `${model} is an alias of the model ${found.model}`,
    );
    if (!workspaceAllowsModel(principal, found.names)) {
      throw new Refused(`The workspace ${principal.workspaceId} doesn’t allow ${model}. Edit its allowed models.`);
    }
    pass(`The workspace ${principal.workspaceId} allows it`);
    if (!keyAllowsModel(principal, found.names)) {
      throw new Refused(`The key doesn’t allow ${model}. Edit its allowed models.`);
    }
    pass('The key allows it');
  }
  // The same check as for a real call, whatever the steps above said.
  const route = chooseRoute(settings, principal, model, protocol ?? found?.protocols[0] ?? DEFAULT_PROTOCOL);
  passTags(route, principal, pass);
  const over = route.protocols.map((one) => PROTOCOLS[one].title.toLowerCase()).join(' and ');
  pass(`Served by ${route.targets[0].upstream.provider} over ${over}`);
  return route;
}

function passTags({ targets }: Route, { requiredTags }: Principal, pass: (text: string) => void): void {
  if (requiredTags.length === 0) return;
  const tags = requiredTags.join(', ');
  if (!targets.some((target) => requiredTags.every((tag) => target.tags.includes(tag)))) {
    throw new Refused(`The key or its workspace requires the data tags ${tags}, and no target of the model has them.`);
  }
  pass(`Only targets with the data tags ${tags} are used`);
}

function passPrice(
  deps: Pick<CallDeps, 'billing' | 'settings'>,
  call: { readonly principal: Principal; readonly route: Route; readonly query: CallQuery; readonly nowMs: number },
  pass: (text: string) => void,
): PreparedClaim {
  const { principal, route, query, nowMs } = call;
  const [target] = route.targets;
  const { endUser, stream, inputTokens } = query;
  const outputTokensMax = query.outputTokensMax ?? target.traits.outputTokensMax;
  const described = {
    callId: '',
    principal,
    route,
    target,
    endUser,
    atMs: nowMs,
    stream,
    inputTokens,
    outputTokensMax,
  };
  // A typical call: text only, no reasoning requested.
  const hidesReasoning = target.hiddenReasoning === 'always';
  const plain = { extras: undefined, priced: null, hidesReasoning, limit: null, canFold: true, goesOn: false };
  const prepared = prepareClaim(deps.settings.config.defaults, deps.billing, { ...described, ...plain });
  if (prepared.price === null) pass('The model has no price, and none is needed');
  else pass(`The model costs ${priceWords(prepared.price)}`);
  return prepared;
}

/** The claim that the call would finally take. */
async function passLimits(
  { billing }: Pick<CallDeps, 'billing'>,
  prepared: PreparedClaim,
  pass: (text: string) => void,
): Promise<PreparedClaim> {
  let taken = prepared;
  let decision = await previewCall(billing.limits, taken.claim, steadyNowMs());
  const other = decision.kind === 'refused' ? prepareOtherwise(prepared, decision.refusal) : null;
  if (other !== null) {
    taken = other;
    decision = await previewCall(billing.limits, taken.claim, steadyNowMs());
  }
  if (decision.kind === 'refused') {
    const { kind, id } = decision.refusal.subject;
    throw new Refused(`${begin(refusalOf(decision.refusal).message)} (${SUBJECTS[kind]} ${id})`);
  }
  const { claim } = taken;
  if (taken.price !== null) pass(`The request would reserve $${formatNanoUsd(claim.amount)}`);
  if (claim.binding.length === 0) pass('No limits apply');
  for (const binding of claim.binding) {
    for (const text of await explainCaps(billing.limits.store, binding)) pass(text);
  }
  if (claim.prepaidAccount !== null) pass(`The balance of the account ${claim.prepaidAccount} covers this amount`);
  return taken;
}

const SUBJECTS = {
  key: 'API key',
  end_user: 'end user',
  workspace: 'workspace',
  account: 'account',
  model: 'model',
} as const;

function begin(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}`;
}

/** `2026-12-01 00:00 UTC`. */
function utcTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** One line per cap. */
async function explainCaps(
  store: Pick<LimitStore, 'readUse' | 'readBudget'>,
  binding: BindingCaps,
): Promise<readonly string[]> {
  const { subject, caps, windowEndMs } = binding;
  const { requestsPerMinute, tokensPerMinute, concurrency, budget } = caps;
  const name = begin(`${SUBJECTS[subject.kind]} ${subject.id}`);
  const use = await store.readUse(binding, steadyNowMs());
  const lines: string[] = [];
  if (use.requests !== null)
    lines.push(`${name}: ${use.requests.used} of ${requestsPerMinute} requests per minute used`);
  if (use.tokens !== null) lines.push(`${name}: ${use.tokens.used} of ${tokensPerMinute} tokens per minute used`);
  if (use.running !== null) lines.push(`${name}: ${use.running} of ${concurrency} concurrent requests running`);
  const state = budget === null ? null : await store.readBudget(binding);
  if (budget !== null && state !== null) {
    const until = windowEndMs === null ? 'in total' : `until ${utcTime(windowEndMs)}`;
    const spent = `$${formatNanoUsd(state.settled)} spent and $${formatNanoUsd(state.held)} reserved`;
    lines.push(`${name}: ${spent} of $${formatNanoUsd(budget.amount)} ${until}`);
  }
  return lines;
}

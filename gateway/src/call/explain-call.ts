/**
 * Explains how a hypothetical call would be handled: each step in order, as text, up to the first one that fails. Uses
 * the same functions as a real call; takes nothing from any limit and sends nothing.
 */

import { previewCall } from '../admission/admission.ts';
import { refusalOf } from '../admission/limit-messages.ts';
import { formatNanoUsd } from '../billing/money.ts';
import { priceWords } from '../billing/price-book.ts';
import { CallFailure } from '../errors/call-failure.ts';
import { authorize, keyAllowsModel, openEntry, workspaceAllowsModel } from '../identity/authorize.ts';
import type { KeyEntry } from '../identity/key-directory.ts';
import type { Principal } from '../identity/principal.ts';
import { steadyNowMs } from '../lib/steady-clock.ts';
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
  expired: 'the key has expired; give it a later expiry',
  disabled: 'the key is disabled; enable it',
  ownerless: 'whoever made the key may not make keys there any more; make another one',
  revoked: 'the key is revoked, which is for good; make another one',
} as const;

/** How the call would be handled now. Rejects if the store cannot be read. */
export async function explainCall(
  deps: Pick<CallDeps, 'directory' | 'settings' | 'billing'>,
  asked: CallQuery,
  nowMs: number,
): Promise<ExplainedCall> {
  const steps: ExplainedStep[] = [];
  const pass = (text: string) => void steps.push({ passes: true, text });
  let hold = 0n;
  try {
    const principal = passCaller(deps.directory.byHash.get(asked.key.hash), asked.key, nowMs, pass);
    const route = passModel(deps, principal, asked, pass);
    const prepared = passPrice(deps, { principal, route, asked, nowMs }, pass);
    const taken = await passLimits(deps, prepared, pass);
    hold = taken.claim.amount;
    return { admitted: true, hold, steps };
  } catch (fault) {
    if (!(fault instanceof Refused || fault instanceof CallFailure)) throw fault;
    return { admitted: false, hold, steps: [...steps, { passes: false, text: fault.message }] };
  }
}

function passCaller(
  entry: KeyEntry | undefined,
  key: StoredKey,
  nowMs: number,
  pass: (text: string) => void,
): Principal {
  if (entry === undefined) throw new Refused('the key opens nothing; make another one');
  const opened = openEntry(entry, nowMs);
  if (typeof opened === 'string') throw new Refused(STATES[opened]);
  const until = key.expiresAtMs === null ? '' : ` until ${new Date(key.expiresAtMs).toISOString()}`;
  pass(`the key is active${until}`);
  if (authorize({ ...opened, ranges: null }, { scope: 'inference', address: null, modelNames: null }) !== 'allowed') {
    throw new Refused('the key may not call models: it lacks the scope inference');
  }
  pass('the key has the scope inference');
  const from =
    key.ips === null ? 'any address' : `${key.ips.join(', ')} only; the caller’s address is not checked here`;
  pass(`the key may be used from ${from}`);
  return opened;
}

function passModel(
  { settings }: Pick<CallDeps, 'settings'>,
  principal: Principal,
  { model, protocol }: CallQuery,
  pass: (text: string) => void,
): Route {
  const found = settings.routes.get(model);
  const name = JSON.stringify(model);
  if (found !== undefined) {
    pass(found.model === model ? `the model ${name} is served` : `${name} is a name of the model ${found.model}`);
    if (!workspaceAllowsModel(principal, found.names)) {
      throw new Refused(`the workspace ${principal.workspaceId} does not allow the model ${name}; change its models`);
    }
    pass(`the workspace ${principal.workspaceId} allows it`);
    if (!keyAllowsModel(principal, found.names)) {
      throw new Refused(`the key does not allow the model ${name}; change its models`);
    }
    pass('the key allows it');
  }
  // The same check as for a real call, whatever the steps above said.
  const route = chooseRoute(settings, principal, model, protocol ?? found?.protocols[0] ?? DEFAULT_PROTOCOL);
  const over = route.protocols.map((one) => PROTOCOLS[one].title.toLowerCase()).join(' and ');
  pass(`it is served over ${over} by ${route.upstream.provider}`);
  return route;
}

function passPrice(
  deps: Pick<CallDeps, 'billing' | 'settings'>,
  call: { readonly principal: Principal; readonly route: Route; readonly asked: CallQuery; readonly nowMs: number },
  pass: (text: string) => void,
): PreparedClaim {
  const { principal, route, asked, nowMs } = call;
  const { endUser, stream, inputTokens } = asked;
  const outputTokensMax = asked.outputTokensMax ?? route.traits.outputTokensMax;
  const described = { callId: '', principal, route, endUser, atMs: nowMs, stream, inputTokens, outputTokensMax };
  // A typical call: text only, no reasoning requested.
  const plain = { extras: undefined, priced: null, hidesReasoning: route.hiddenReasoning === 'always', limit: null };
  const prepared = prepareClaim(deps.settings.config.defaults, deps.billing, { ...described, ...plain });
  if (prepared.price === null) pass('the model has no price, and none is needed');
  else pass(`the model costs ${priceWords(prepared.price)}`);
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
    throw new Refused(`${refusalOf(decision.refusal).message} (${kind.replace('_', ' ')} ${id})`);
  }
  const { claim } = taken;
  if (taken.price !== null) pass(`the call would hold ${formatNanoUsd(claim.amount)} USD`);
  if (claim.binding.length === 0) pass('no limit binds it');
  for (const binding of claim.binding) {
    for (const text of await explainCaps(billing.limits.store, binding)) pass(text);
  }
  if (claim.prepaidAccount !== null) pass(`the balance of the account ${claim.prepaidAccount} covers the hold`);
  return taken;
}

/** One line per cap. */
async function explainCaps(
  store: Pick<LimitStore, 'readUse' | 'readBudget'>,
  binding: BindingCaps,
): Promise<readonly string[]> {
  const { subject, caps, windowEndMs } = binding;
  const { requestsPerMinute, tokensPerMinute, concurrency, budget } = caps;
  const whose = `${subject.kind.replace('_', ' ')} ${subject.id}`;
  const use = await store.readUse(binding, steadyNowMs());
  const lines: string[] = [];
  if (use.requests !== null)
    lines.push(`${whose}: ${use.requests.used} of ${requestsPerMinute} requests per minute are used`);
  if (use.tokens !== null) lines.push(`${whose}: ${use.tokens.used} of ${tokensPerMinute} tokens per minute are used`);
  if (use.running !== null) lines.push(`${whose}: ${use.running} of ${concurrency} calls at once are running`);
  const state = budget === null ? null : await store.readBudget(binding);
  if (budget !== null && state !== null) {
    const until = windowEndMs === null ? 'for all time' : `until ${new Date(windowEndMs).toISOString()}`;
    const spent = `${formatNanoUsd(state.settled)} USD are spent and ${formatNanoUsd(state.held)} held`;
    lines.push(`${whose}: ${spent} of ${formatNanoUsd(budget.amount)} ${until}`);
  }
  return lines;
}

/**
 * Checks the requests of a batch as if each were sent alone, and adds up what they may cost. All go to one provider with
 * one credential, and their bytes go as they are: a model has the provider's own name for it.
 */
import type { NanoUsd } from '../../billing/money.ts';
import { priceAt } from '../../billing/price-book.ts';
import { chooseHold, type HoldSlice } from '../../billing/reserve.ts';
import type { Limits } from '../../config/limits.ts';
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { chargedTier } from '../../generation/usage.ts';
import { mayUseModel } from '../../identity/principal.ts';
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import { speaks } from '../../protocols/names.ts';
import type { CheckContext, PricedMembers, RequestFacts } from '../../protocols/request/request-facts.ts';
import type { Route, Target } from '../../routing/route.ts';
import type { Identified } from '../call.ts';
import { isMoneyBound } from '../money/hold-call.ts';
import { mostOutputTokens, sentLimit } from '../money/limit-proofs.ts';
import { redactKeys } from '../money/settle.ts';
import { estimateInput } from '../money/usage-checks.ts';
import { readRequiredTags } from '../request/choose-targets.ts';
import { readCall } from '../request/read-body.ts';
import { tokensOfStored } from '../stored/lead-to-stored.ts';
import { findTier, type KeptPrice, listBatchPrices, type TierPrice } from './batch-prices.ts';

/** Where all requests of a batch go. */
export interface BatchPlace {
  readonly provider: string;
  /** The name of the credential. */
  readonly credential: string;
}

/** A model that requests of the batch name, with what the batch needs of it. */
interface BatchModel {
  readonly route: Route;
  readonly target: Target;
  readonly prices: readonly TierPrice[];
  /** A balance or a budget pays for it. */
  readonly isBound: boolean;
}

export class BatchCheck {
  readonly #call: Identified;
  readonly #protocol: ClientProtocol;
  readonly #place: BatchPlace;
  readonly #context: CheckContext;
  readonly #tags: readonly string[];
  readonly #models = new Map<string, BatchModel>();
  #first: RequestFacts | null = null;
  #endUser: string | null = null;
  #requests = 0;
  #inputTokens = 0;
  #outputTokens = 0;
  #amount: NanoUsd = 0n;

  /** `protocol`: the format of its requests. Throws CallFailure for invalid tags in the headers. */
  constructor(call: Identified, protocol: ClientProtocol, place: BatchPlace) {
    this.#call = call;
    this.#protocol = protocol;
    this.#place = place;
    this.#context = { limits: call.settings.config.limits, version: call.version, countOnly: false };
    this.#tags = readRequiredTags(call.request.headers, call.principal.requiredTags);
  }

  get limits(): Limits {
    return this.#context.limits;
  }

  /** The facts of the first request. Throws before there is one. */
  get first(): RequestFacts {
    if (this.#first === null) throw new Error('the batch has no requests yet');
    return this.#first;
  }

  /** The end user that every request names, as the record has it; null: none, or not all the same. */
  get endUser(): string | null {
    return this.#endUser;
  }

  get requests(): number {
    return this.#requests;
  }

  /** The estimate of all their input. */
  get inputTokens(): number {
    return this.#inputTokens;
  }

  /** The most output that is held. */
  get outputTokens(): number {
    return this.#outputTokens;
  }

  /** The sum of the maximum costs. */
  get amount(): NanoUsd {
    return this.#amount;
  }

  /** By the provider's names, in the order of the requests. */
  get models(): ReadonlyMap<string, BatchModel> {
    return this.#models;
  }

  /** The prices of everything that the answers may state. */
  keptPrices(): readonly KeptPrice[] {
    return [...this.#models].flatMap(([model, { prices }]) =>
      prices.map(({ tier, price }) => ({ model, tier, version: this.#withMarkUp(price).version })),
    );
  }

  /** Adds a request. Throws CallFailure as a call of its own would. */
  async add(body: Uint8Array): Promise<void> {
    const reading = readCall(body, this.#protocol, this.#context);
    const { facts } = reading instanceof Promise ? await reading : reading;
    if (facts.stream) throw invalidRequest('stream: a batch has no streams; leave it out', 'stream');
    if (facts.background === true)
      throw invalidRequest('background: a batch does not take it; leave it out', 'background');
    if (facts.priced !== undefined) refuseUnpriceable(facts.priced);
    const model = this.#modelOf(facts.model);
    const stored = facts.stored === undefined ? 0 : await this.#readStored(facts, model);
    const inputTokens = estimateInput(facts) + stored;
    const endUser = redactKeys(facts.endUser);
    if (this.#first === null) this.#endUser = endUser;
    else if (this.#endUser !== endUser) this.#endUser = null;
    this.#first ??= facts;
    this.#requests += 1;
    this.#inputTokens += inputTokens;
    const { amount, outputTokens } = this.#maximumCost(facts, model, inputTokens);
    this.#amount += amount;
    this.#outputTokens += outputTokens;
  }

  #maximumCost(facts: RequestFacts, model: BatchModel, inputTokens: number): HoldSlice {
    const { prices } = model;
    const asked = findTier(prices, facts.priced?.tier);
    if (asked === undefined)
      throw invalidRequest('the price of the tier that it asks for is not known here; leave it out');
    const outputTokensMax = this.#mostOutput(facts, model);
    const price = this.#withMarkUp(asked.price);
    const form = { mode: 'strict', stream: false } as const;
    return chooseHold({ ...form, inputTokens, outputTokensMax, price, extras: facts.extras });
  }

  /** The model's own maximum where money binds and the target is not known to honor limits: nothing can stop a batch. */
  #mostOutput(facts: RequestFacts, { route, target, isBound }: BatchModel): number | null {
    const endUser = redactKeys(facts.endUser);
    const pays = isBound || (endUser !== null && this.#isBound(route, endUser));
    const limit = pays ? sentLimit(facts, this.#protocol.name, target) : null;
    const isTrusted = limit === null || this.#call.deps.billing.limitProofs.trustOf(target.upstream, limit) === 'limit';
    return isTrusted ? mostOutputTokens(facts, target) : limit.mostWithoutIt;
  }

  #isBound({ names }: Route, endUser: string | null): boolean {
    const { principal, deps, atMs } = this.#call;
    const { account, keyId, workspaceId } = principal;
    const subjects = { keyId, workspaceId, accountId: account.id, endUser, models: names };
    return isMoneyBound(principal, deps.billing.rules.bindingCapsOf(subjects, deps.billing.budgetZoneOf, atMs));
  }

  #withMarkUp(price: TierPrice['price']) {
    const { deps, principal } = this.#call;
    return deps.billing.priced(price, principal.account.markUpPpm);
  }

  /** Tokens of what a request continues. Throws for what is not the workspace's, or is kept elsewhere. */
  async #readStored({ stored = [] }: RequestFacts, { route, target }: BatchModel): Promise<number> {
    return tokensOfStored(this.#call, stored, { ...route, targets: [target] }, this.#place.credential);
  }

  #modelOf(name: string): BatchModel {
    const known = this.#models.get(name);
    if (known !== undefined) return known;
    const { principal, atMs } = this.#call;
    const found = this.#targetsOf(name);
    if (found.length === 0) {
      throw new CallFailure(
        'model_unknown',
        `the model ${JSON.stringify(name)} is not served here for batches of this provider; use the provider's own name of a model`,
      );
    }
    const allowed = found.filter(({ route }) => mayUseModel(principal, route.names));
    const [first] = allowed.filter(({ target }) => this.#tags.every((tag) => target.tags.includes(tag)));
    if (first === undefined) {
      const why = allowed.length === 0 ? 'this API key may not use it' : 'it does not have the required data tags';
      throw new CallFailure('model_forbidden', `the model ${JSON.stringify(name)} cannot be used: ${why}`);
    }
    const list = priceAt(first.target.prices, atMs);
    if (list === null) {
      throw new CallFailure('unpriced', `the model ${JSON.stringify(name)} has no price; a batch needs one`);
    }
    const prices = listBatchPrices(first.target, list);
    const model = { ...first, prices, isBound: this.#isBound(first.route, null) };
    this.#models.set(name, model);
    return model;
  }

  /** The targets of that name at the place of the batch, for its format. */
  #targetsOf(name: string): { readonly route: Route; readonly target: Target }[] {
    const { routes } = this.#call.settings;
    const { name: format } = this.#protocol;
    return [...new Set(routes.values())].flatMap((route) =>
      route.targets
        .filter(
          ({ upstream }) =>
            upstream.model === name &&
            upstream.provider === this.#place.provider &&
            upstream.credentials.some((one) => one.name === this.#place.credential) &&
            speaks(upstream.protocols, format) &&
            route.protocols.includes(format),
        )
        .map((target) => ({ route, target })),
    );
  }
}

/** What can be priced in a call of its own, where one answer states which model and tier it used. */
function refuseUnpriceable({ models, anyModel, unpriced, retryToken, tier }: PricedMembers): void {
  const isTier = chargedTier(tier)?.service_tier;
  const member =
    models[0]?.path ??
    anyModel ??
    unpriced[0] ??
    (retryToken === null ? undefined : 'fallback_credit_token') ??
    (isTier === undefined || isTier === 'batch' ? undefined : 'service_tier');
  if (member !== undefined) throw invalidRequest(`${member}: a batch does not take it; leave it out`, member);
}

/** The failure of a request as that of its batch: names its place and its own id. */
export function failureOfRequest(cause: unknown, place: string, customId: string | null): unknown {
  if (!(cause instanceof CallFailure) || !NAMED.has(cause.kind)) return cause;
  const id = customId === null ? '' : ` (custom_id ${JSON.stringify(customId.slice(0, 80))})`;
  const kind = cause.kind === 'unpriced' ? 'unpriced' : 'invalid_request';
  return new CallFailure(kind, `${place}${id}: ${cause.message}`, {
    ...(cause.details.param !== undefined && { param: cause.details.param }),
    ...(cause.details.reason !== undefined && { reason: cause.details.reason }),
  });
}

const NAMED: ReadonlySet<string> = new Set([
  'invalid_request',
  'model_unknown',
  'model_forbidden',
  'model_wrong_protocol',
  'not_found',
  'unpriced',
]);

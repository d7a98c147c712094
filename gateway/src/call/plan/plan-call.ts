/**
 * Plans how a call goes to its upstream. To one of the client's own format go the client's bytes and headers, with only
 * what must change changed (contract, 7); to any other a translation, with reasoning sent back only to its issuer. A
 * format that is not translated has forms of its requests for hosts that differ.
 */
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import type { GenerationRequest } from '../../generation/request.ts';
import type { Principal } from '../../identity/principal.ts';
import type { ClientProtocol, GenerationClient } from '../../protocols/client-protocol.ts';
import { isOwnMark } from '../../protocols/own-marks.ts';
import type { OutputLimitMember, RequestFacts } from '../../protocols/request/request-facts.ts';
import { startTranslationNotes, type TranslationNotes } from '../../protocols/request/translation-notes.ts';
import type {
  DirectExchange,
  DirectUpstream,
  PassThrough,
  StreamObserver,
  UpstreamProtocol,
} from '../../protocols/upstream-protocol.ts';
import type { Upstream } from '../../providers/provider.ts';
import { issuerOf } from '../../routing/choose/issuer.ts';
import { estimatePromptTokens } from '../../tokens/estimate-tokens.ts';
import { familyOf } from '../../tokens/token-families.ts';
import { type JsonOutline, OutlineFull } from '../../wire/json-node.ts';
import { type JsonEdit, spliceJson } from '../../wire/json-splice.ts';
import type { CollectedAnswer } from '../attempt/collect-answer.ts';
import type { Routed } from '../call.ts';
import { keepReasoningOf, type ReasoningOwner } from './kept-reasoning.ts';
import type { PricedRequest } from './named-models.ts';
import { judgeReasoning, openSummary, ownerOfSummary } from './own-reasoning.ts';
import type { ReasoningSeal, SealOwner } from './reasoning-seal.ts';
import { translate } from './translate.ts';
import {
  type Folding,
  type NextAttempt,
  refusesUsageOption,
  type UpstreamCall,
  USAGE_OPTION,
  unknownOption,
} from './upstream-call.ts';

/**
 * Plans the upstream request. `folds`: upstream streams the answer while the client gets one piece. Throws CallFailure
 * `invalid_request` for features that upstream's format cannot express, `model_wrong_protocol` where it has no format for
 * the client's.
 */
export function planCall(call: Routed, folds = false): UpstreamCall {
  const { deps, protocol, target, outline, facts } = call;
  const { upstream } = target;
  const format = upstream.protocolFor[protocol.name];
  if (format === null) throw formatNotSpoken(call);
  if (!format.translates && format.renderRequest !== null) {
    return new DirectCall(format, format.renderRequest({ outline, facts, traits: target.traits }));
  }
  const own = format.name === protocol.name ? format.passThrough : null;
  if (own === null) return planTranslation(call, format, folds);
  return new PassThroughCall({
    client: protocol,
    upstream: format,
    own,
    outline,
    facts,
    model: upstream.model,
    limitMember: format.outputLimitMember(target.traits),
    asksForUsage:
      !target.refuses?.includes('stream_options') &&
      asksForUsage(format, folds ? { ...facts, stream: true } : facts, upstream),
    strips: isOfAnotherIssuer(call) ? 'all' : 'marked',
    seal: deps.reasoningSeal,
    principal: call.principal,
    requestId: call.requestId,
    drops: call.priced === null ? NOTHING_DROPPED : dropRetryToken(call, call.priced),
    folds,
    summarize: facts.below === undefined ? null : () => planTranslation(call, format, false),
  });
}

const NOTHING_DROPPED: readonly string[] = [];

function formatNotSpoken({ facts, protocol }: Routed): CallFailure {
  return new CallFailure(
    'model_wrong_protocol',
    `no target of the model ${JSON.stringify(facts.model)} speaks ${protocol.name}`,
    { param: 'model' },
  );
}

/**
 * Whether another party answered the conversation last and signed the reasoning in its history. False where that is not
 * known: then the target tells.
 */
function isOfAnotherIssuer({ routed, deps, target, credential }: Routed): boolean {
  if (routed === null || routed.conversation === null) return false;
  const last = deps.choice.affinity.find(routed.conversation);
  return last !== undefined && last.issuer !== issuerOf(target.upstream, credential) && routed.marks.signed;
}

/** A token that this provider did not issue to the workspace is another party's secret: it is not sent. */
function dropRetryToken({ principal, deps, target }: Routed, { members }: PricedRequest): readonly string[] {
  if (members.retryToken === null) return NOTHING_DROPPED;
  const owner = { workspace: principal.workspaceId, provider: target.upstream.provider };
  if (deps.billing.retryTokens.isFrom(members.retryToken, owner, Date.now())) return NOTHING_DROPPED;
  if (principal.strict) {
    throw invalidRequest(
      'fallback_credit_token: found a token that the provider of this model did not issue to this workspace in the last five minutes; leave it out, or name a model of the provider that issued it',
      'fallback_credit_token',
    );
  }
  return ['fallback_credit_token'];
}

function planTranslation(call: Routed, upstream: UpstreamProtocol, folds: boolean): UpstreamCall {
  const { deps, protocol, target, principal, facts, outline } = call;
  if (!protocol.translates || !upstream.translates) throw new Error(`${protocol.name} is not translated`);
  const notes = startTranslationNotes(principal.strict);
  const parsed = parseRequest(protocol, outline, notes);
  const owner: ReasoningOwner = {
    workspace: principal.workspaceId,
    issuer: upstream.issuer ?? issuerOf(target.upstream, call.credential),
    model: upstream.signsReasoning ? null : target.upstream.model,
  };
  const sealOwner = sealOwnerOf(call, owner);
  const { betaHeader } = protocol;
  const judged = judgeReasoning(
    parsed,
    {
      owner: sealOwner,
      signs: upstream.signsReasoning,
      isForeign: upstream.signsReasoning && isOfAnotherIssuer(call),
      mark: deps.reasoningMark,
      seal: deps.reasoningSeal,
      member: protocol.reasoningMember,
    },
    notes,
  );
  const request = deps.keptReasoning.restore(owner, judged.request, Date.now());
  const estimatedInputTokens = estimateInput(call, protocol, request);
  checkContext(estimatedInputTokens, target.traits.inputTokensMax);
  return translate({
    client: protocol,
    upstream,
    traits: target.traits,
    strict: principal.strict,
    request: folds ? { ...request, stream: true } : request,
    folds,
    refuses: target.refuses ?? NOTHING_DROPPED,
    dropped: [
      ...notes.dropped,
      ...(judged.isStripped ? [protocol.reasoningMember] : []),
      ...(betaHeader !== undefined && call.request.headers.has(betaHeader) ? [betaHeader] : []),
    ],
    context: {
      id: call.requestId.slice('req_'.length),
      createdSeconds: Math.floor(call.atMs / 1000),
      model: target.upstream.model,
      wantsUsage: facts.wantsUsage,
      estimatedInputTokens,
      callForms: request.callForms,
      sign: (text) => deps.reasoningMark.sign(owner.issuer, text),
      seal: (content) =>
        deps.reasoningSeal.seal(content.kind === 'summary' ? ownerOfSummary(sealOwner) : sealOwner, content),
    },
    startListening: () => keepReasoningOf(deps.keptReasoning, owner, Date.now),
  });
}

function sealOwnerOf({ principal, target }: Routed, { issuer }: ReasoningOwner): SealOwner {
  const { account, workspaceId: workspace } = principal;
  return { account: account.id, workspace, issuer, model: target.upstream.model };
}

/** Counting takes time: done only if the client sees the estimate or the prompt may be too long. */
function estimateInput({ facts, target }: Routed, protocol: GenerationClient, request: GenerationRequest): number {
  const { inputTokensMax } = target.traits;
  const mayBeTooLong = inputTokensMax !== null && facts.inputBytes > inputTokensMax;
  if (!protocol.startsWithInputTokens && !mayBeTooLong) return 0;
  return estimatePromptTokens(request, familyOf(target.upstream.model));
}

/** The estimate may be off by this factor; a prompt above the limit by more cannot fit. */
const ESTIMATE_MARGIN = 1.25;

/**
 * Refuses a prompt that is far too long, with the error on which clients shorten it. Upstream judges prompts near the
 * limit.
 */
function checkContext(prompt: number, max: number | null): void {
  if (max === null || prompt <= max * ESTIMATE_MARGIN) return;
  throw new CallFailure('context_overflow', 'the prompt is longer than the context of the model', {
    param: 'messages',
    tokens: { prompt, output: null, max },
  });
}

/** Parses the body into the canonical format. Throws CallFailure `invalid_request`. */
export function parseRequest(
  protocol: GenerationClient,
  outline: JsonOutline,
  notes: TranslationNotes,
): GenerationRequest {
  try {
    return protocol.parseRequest(outline, notes);
  } catch (error) {
    if (!(error instanceof OutlineFull)) throw error;
    throw new CallFailure('invalid_request', `the body cannot be translated: ${error.message}`);
  }
}

interface PassThroughPlan {
  readonly client: ClientProtocol;
  readonly upstream: UpstreamProtocol;
  readonly own: PassThrough;
  readonly outline: JsonOutline;
  readonly facts: RequestFacts;
  /** The model's name at the upstream. */
  readonly model: string;
  /** The name under which upstream knows the output limit. */
  readonly limitMember: OutputLimitMember | null;
  /** The gateway requests the usage chunk, so it withholds it from the client. */
  readonly asksForUsage: boolean;
  /** Reasoning to remove from the history: only reasoning with our mark, or all of it. */
  readonly strips: 'marked' | 'all';
  /** Opens summaries of the caller's conversations. */
  readonly seal: ReasoningSeal;
  readonly principal: Principal;
  readonly requestId: string;
  /** Members that are not sent upstream; reported to the caller. */
  readonly drops: readonly string[];
  /** Upstream streams an answer that the client gets in one piece. */
  readonly folds: boolean;
  /** Plans a request for a summary, for hosts without the endpoint for compaction; null: another endpoint. */
  readonly summarize: (() => UpstreamCall) | null;
}

/** Reported if a request has two different limits: the older one is not the one that applies. */
const OLDER_LIMIT: readonly string[] = ['max_tokens'];

/** A call whose client and upstream speak the same format. */
class PassThroughCall implements UpstreamCall {
  readonly protocol: UpstreamProtocol;
  readonly body: Uint8Array;
  readonly below: string | undefined;
  readonly translation = null;
  readonly renderAnswer = null;
  readonly dropped: readonly string[];
  readonly startFolding: (() => Folding) | null;
  readonly #plan: PassThroughPlan;

  constructor(plan: PassThroughPlan) {
    const { facts, drops } = plan;
    const { stripReasoning } = plan.own;
    const whole = renderUpstreamBody(plan);
    const isMarked = stripReasoning !== null && holdsMark(whole);
    const body = isMarked ? withSummaries(plan, whole) : whole;
    this.#plan = plan;
    this.protocol = plan.upstream;
    this.below = facts.below;
    this.body = stripReasoning === null ? body : withoutReasoning(body, stripReasoning, plan.strips, isMarked);
    const hasOlderLimit = facts.otherLimit !== null && facts.otherLimit !== facts.outputTokensMax;
    const dropped = hasOlderLimit ? [...OLDER_LIMIT, ...drops] : drops;
    this.dropped = this.body === body || !plan.client.translates ? dropped : [...dropped, plan.client.reasoningMember];
    this.startFolding = plan.folds ? () => foldOwn(plan) : null;
  }

  startObserver(): StreamObserver {
    return observe(this.#plan, this.#plan.asksForUsage);
  }

  nextAttemptAfter(answer: CollectedAnswer): NextAttempt | null {
    return nextAttemptAfter(this.#plan, answer);
  }
}

/** A request in a host's form of a format that is not translated; its answer comes in one piece. */
class DirectCall implements UpstreamCall {
  readonly protocol: DirectUpstream;
  readonly body: Uint8Array;
  readonly translation = null;
  readonly renderAnswer: DirectExchange['renderAnswer'];
  readonly dropped: readonly string[];
  readonly startFolding = null;

  constructor(protocol: DirectUpstream, { body, dropped, renderAnswer }: DirectExchange) {
    this.protocol = protocol;
    this.body = body;
    this.dropped = dropped;
    this.renderAnswer = renderAnswer;
  }

  startObserver(): never {
    throw new Error(`${this.protocol.name} has no streams`);
  }

  nextAttemptAfter(): null {
    return null;
  }
}

function observe({ own, upstream, requestId }: PassThroughPlan, withholdUsage: boolean): StreamObserver {
  if (own.startObserver === null) throw new Error(`${upstream.name} has no streams`);
  return own.startObserver({ withholdUsage, fallbackId: fallbackIdOf(requestId) });
}

/** The id of chunks that have none. */
function fallbackIdOf(requestId: string): string {
  return `chatcmpl-${requestId.slice(4)}`;
}

/** Keeps all members that upstream sends, known or not. */
function foldOwn(plan: PassThroughPlan): Folding {
  const { client, own } = plan;
  const observer = observe(plan, false);
  if (own.startFold === null) throw new Error(`${plan.upstream.name} does not fold streams`);
  const fold = own.startFold(fallbackIdOf(plan.requestId));
  return {
    observer,
    take: (record) => fold.push(record),
    finish(cut) {
      const { finish_reason } = observer.facts();
      return {
        json: fold.finish(cut),
        finish_reason: cut === null ? finish_reason : (finish_reason ?? client.cutReason),
        dropped: [],
      };
    },
  };
}

/** A text that begins as the gateway's own marks do. */
const OWN_MARKS = '"gw';

/** Whether the body may contain a mark or a seal of ours. */
function holdsMark({ buffer, byteOffset, length }: Uint8Array): boolean {
  return Buffer.from(buffer, byteOffset, length).includes(OWN_MARKS);
}

/** Throws CallFailure `invalid_request` for a summary that was not made for this workspace. */
function withSummaries({ own, seal, principal }: PassThroughPlan, body: Uint8Array): Uint8Array {
  const owner = { account: principal.account.id, workspace: principal.workspaceId };
  return own.expandSummaries?.(body, (sealed, path) => openSummary(seal, owner, sealed, path)) ?? body;
}

/** Reasoning with our mark or seal was never signed by upstream's issuer and would be refused. */
function withoutReasoning(
  body: Uint8Array,
  stripReasoning: NonNullable<PassThrough['stripReasoning']>,
  strips: 'marked' | 'all',
  isMarked: boolean,
): Uint8Array {
  if (strips === 'all') return stripReasoning(body, () => true);
  return isMarked ? stripReasoning(body, isOwnMark) : body;
}

/** Statuses of hosts that lack an endpoint. */
const NO_ENDPOINT: ReadonlySet<number> = new Set([404, 405, 501]);

function nextAttemptAfter(plan: PassThroughPlan, answer: CollectedAnswer): NextAttempt | null {
  const { status } = answer.head;
  if (plan.summarize !== null && NO_ENDPOINT.has(status)) {
    return { call: plan.summarize(), why: `has no endpoint for compaction (HTTP ${status}): asked for a summary` };
  }
  if (plan.asksForUsage && refusesUsageOption(answer)) {
    const why = 'refuses stream_options.include_usage: sent again without';
    const drops = [...plan.drops, USAGE_OPTION];
    return {
      call: new PassThroughCall({ ...plan, asksForUsage: false, drops }),
      why,
      unknownMember: unknownOption(plan.upstream, answer),
    };
  }
  if (plan.own.stripReasoning === null || plan.strips === 'all' || answer.head.status !== 400) return null;
  if (plan.upstream.readError(answer.body, answer.head.headers).condition !== 'signature') return null;
  return {
    call: new PassThroughCall({ ...plan, strips: 'all' }),
    why: 'refuses a signature in the history: sent again without reasoning',
  };
}

/** Whether the gateway requests the usage chunk, and so withholds it from the client. */
function asksForUsage({ reportsUsageOnRequest }: UpstreamProtocol, facts: RequestFacts, upstream: Upstream): boolean {
  return reportsUsageOnRequest && facts.stream && !facts.wantsUsage && upstream.takesUsageOption;
}

/** The body for upstream: the same bytes if nothing changes. */
function renderUpstreamBody(plan: PassThroughPlan): Uint8Array {
  const { outline, facts, model } = plan;
  const edits: JsonEdit[] = [];
  if (facts.model !== model) edits.push({ set: ['model'], json: JSON.stringify(model) });
  if (plan.folds) edits.push({ set: ['stream'], json: 'true' });
  if (plan.asksForUsage) edits.push({ set: ['stream_options', 'include_usage'], json: 'true' });
  for (const name of plan.drops) edits.push({ remove: [name] });
  if (facts.otherLimit !== null && plan.limitMember !== null) edits.push(...oneLimit(facts, plan.limitMember));
  return edits.length === 0 ? outline.bytes : spliceJson(outline, edits);
}

/**
 * Hosts differ in which of the two limits they read, so each gets the one it knows, with the value that applies.
 * Contract, 10.9.
 */
function oneLimit({ outputTokensMax }: RequestFacts, known: OutputLimitMember): JsonEdit[] {
  const other = known === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  return [{ set: [known], json: String(outputTokensMax) }, { remove: [other] }];
}

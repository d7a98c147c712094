/**
 * Plans how a call goes to its upstream: as it is to one of the client's own format (`pass-through-call.ts`), translated to
 * any other, with reasoning sent back only to its issuer.
 */
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import type { GenerationRequest } from '../../generation/request.ts';
import type { GenerationClient, ResponseKeeping } from '../../protocols/client-protocol.ts';
import type { JsonObject } from '../../protocols/json.ts';
import type { RequestFacts } from '../../protocols/request/request-facts.ts';
import { startTranslationNotes, type TranslationNotes } from '../../protocols/request/translation-notes.ts';
import type { UpstreamProtocol } from '../../protocols/upstream-protocol.ts';
import type { Upstream } from '../../providers/provider.ts';
import { issuerOf } from '../../routing/choose/issuer.ts';
import { estimatePromptTokens } from '../../tokens/estimate-tokens.ts';
import { familyOf } from '../../tokens/token-families.ts';
import type { RequestForm } from '../../upstream/request-form.ts';
import { type JsonOutline, OutlineFull } from '../../wire/json-node.ts';
import type { Routed } from '../call.ts';
import { isToBeKept } from '../stored/stored-by.ts';
import { sendForm } from '../upload/sent-form.ts';
import { keepReasoningOf, type ReasoningOwner } from './kept-reasoning.ts';
import type { PricedRequest } from './named-models.ts';
import { judgeReasoning, ownerOfSummary } from './own-reasoning.ts';
import { DirectCall, PassThroughCall } from './pass-through-call.ts';
import type { SealOwner } from './reasoning-seal.ts';
import { translate } from './translate.ts';
import type { UpstreamCall } from './upstream-call.ts';

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
    const notes = startTranslationNotes(call.principal.strict);
    const exchange = format.renderRequest({ outline, facts, traits: target.traits, notes });
    return new DirectCall(format, exchange, notes.dropped);
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
    form: formOf(call),
    folds,
    summarize: facts.below === undefined || !protocol.translates ? null : () => planTranslation(call, format, false),
  });
}

/** What differs from a request and an answer in JSON; null: nothing. */
function formOf({ facts, form, target }: Routed): RequestForm | null {
  const acceptsAny = facts.binary !== undefined || facts.plainText === true;
  if (form === null && !acceptsAny) return null;
  return { upload: form === null ? null : sendForm(form, target.upstream.model), acceptsAny };
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
  const parsed = parseRequest(protocol, outline, notes, facts);
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
      hidesReasoning: request.hidesReasoning,
      returnsReasoning: request.tools.length > 0 || (request.reasoning !== null && request.reasoning.mode !== 'off'),
      callForms: request.callForms,
      keeping: keepingOf(call),
      sign: (text) => deps.reasoningMark.sign(owner.issuer, text),
      seal: (content) =>
        deps.reasoningSeal.seal(content.kind === 'summary' ? ownerOfSummary(sealOwner) : sealOwner, content),
    },
    startListening: () => keepReasoningOf(deps.keptReasoning, owner, protocol.carriesSeals, Date.now),
  });
}

/** The last answer counts: an earlier attempt of the call got none. */
function keepingOf(call: Routed): ResponseKeeping | undefined {
  if (!isToBeKept(call)) return undefined;
  const end = (object: JsonObject) => {
    call.ended = { object, isKept: false };
  };
  return { previous: call.continues, end };
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
  facts: RequestFacts,
): GenerationRequest {
  try {
    return protocol.parseRequest(outline, notes, facts);
  } catch (error) {
    if (!(error instanceof OutlineFull)) throw error;
    throw new CallFailure('invalid_request', `the body cannot be translated: ${error.message}`);
  }
}

/** Whether the gateway requests the usage chunk, and so withholds it from the client. */
function asksForUsage({ reportsUsageOnRequest }: UpstreamProtocol, facts: RequestFacts, upstream: Upstream): boolean {
  return reportsUsageOnRequest && facts.stream && !facts.wantsUsage && upstream.takesUsageOption;
}

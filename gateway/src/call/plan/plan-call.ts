/** Plans how a call goes to its upstream: passed through if both sides use the same format, otherwise translated. */
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import type { GenerationRequest } from '../../generation/request.ts';
import { chooseUpstreamProtocol } from '../../protocols/registry.ts';
import { startTranslationNotes, type TranslationNotes } from '../../protocols/request/translation-notes.ts';
import type { UpstreamProtocol } from '../../protocols/upstream-protocol.ts';
import { estimatePromptTokens } from '../../tokens/estimate-tokens.ts';
import { familyOf } from '../../tokens/token-families.ts';
import { OutlineFull } from '../../wire/json-node.ts';
import type { Routed } from '../call.ts';
import { keepReasoningOf, type ReasoningOwner } from './kept-reasoning.ts';
import type { PricedRequest } from './named-models.ts';
import { asksForUsage, passThrough } from './pass-through.ts';
import { translate } from './translate.ts';
import type { UpstreamCall } from './upstream-call.ts';

/** Plans a call whose answer upstream streams while its client gets one piece. Throws like `planCall`. */
export function planFold(call: Routed): UpstreamCall {
  return planCall(call, true);
}

/**
 * Plans the upstream request. Throws CallFailure `invalid_request` for features that upstream's format cannot express.
 */
export function planCall(call: Routed, folds = false): UpstreamCall {
  const { protocol, route, outline, facts } = call;
  const { upstream } = route;
  const format = chooseUpstreamProtocol(protocol.name, upstream.protocols);
  const own = format.name === protocol.name ? format.passThrough : null;
  if (own === null) return planTranslation(call, format, folds);
  return passThrough({
    client: protocol,
    upstream: format,
    own,
    outline,
    facts,
    model: upstream.model,
    limitMember: format.outputLimitMember(route.traits),
    asksForUsage:
      !route.refuses?.includes('stream_options') &&
      asksForUsage(format, folds ? { ...facts, stream: true } : facts, upstream),
    strips: 'marked',
    requestId: call.requestId,
    drops: call.priced === null ? NOTHING_DROPPED : dropRetryToken(call, call.priced),
    folds,
  });
}

const NOTHING_DROPPED: readonly string[] = [];

/** A token that this provider did not issue to the workspace is another party's secret: it is not sent. */
function dropRetryToken({ principal, deps, route }: Routed, { members }: PricedRequest): readonly string[] {
  if (members.retryToken === null) return NOTHING_DROPPED;
  const owner = { workspace: principal.workspaceId, provider: route.upstream.provider };
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
  const { deps, protocol, route, principal, facts } = call;
  const notes = startTranslationNotes(principal.strict);
  const parsed = parseRequest(call, notes);
  const owner: ReasoningOwner = {
    workspace: principal.workspaceId,
    provider: route.upstream.provider,
    model: upstream.signsReasoning ? null : route.upstream.model,
  };
  const request = settleReasoning(call, parsed, owner, upstream);
  const estimatedInputTokens = estimateInput(call, request);
  checkContext(estimatedInputTokens, route.traits.inputTokensMax);
  return translate({
    client: protocol,
    upstream,
    traits: route.traits,
    strict: principal.strict,
    request: folds ? { ...request, stream: true } : request,
    folds,
    refuses: route.refuses ?? NOTHING_DROPPED,
    dropped: notes.dropped,
    context: {
      id: call.requestId.slice('req_'.length),
      createdSeconds: Math.floor(call.atMs / 1000),
      model: route.upstream.model,
      wantsUsage: facts.wantsUsage,
      estimatedInputTokens,
      sign: (text) => deps.reasoningMark.sign(owner.provider, text),
    },
    startListening: () => keepReasoningOf(deps.keptReasoning, owner, Date.now),
  });
}

/** Counting takes time: done only if the client sees the estimate or the prompt may be too long. */
function estimateInput({ facts, protocol, route }: Routed, request: GenerationRequest): number {
  const { inputTokensMax } = route.traits;
  const mayBeTooLong = inputTokensMax !== null && facts.inputBytes > inputTokensMax;
  if (!protocol.startsWithInputTokens && !mayBeTooLong) return 0;
  return estimatePromptTokens(request, familyOf(route.upstream.model));
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
export function parseRequest({ protocol, outline }: Routed, notes: TranslationNotes): GenerationRequest {
  try {
    return protocol.parseRequest(outline, notes);
  } catch (error) {
    if (!(error instanceof OutlineFull)) throw error;
    throw new CallFailure('invalid_request', `the body cannot be translated: ${error.message}`);
  }
}

/**
 * Sends reasoning back only to its issuer. Restores stored data that the issuer signed or attached to its tool calls.
 * For an issuer that signs nothing, keeps reasoning with our mark for it and removes the rest. Source: wire reference
 * C.5.
 */
function settleReasoning(
  { deps }: Routed,
  request: GenerationRequest,
  owner: ReasoningOwner,
  upstream: UpstreamProtocol,
): GenerationRequest {
  if (upstream.signsReasoning) return deps.keptReasoning.restore(owner, request, Date.now());
  const turns = request.turns.map((turn) => {
    const parts = turn.parts.filter(
      (part) =>
        part.kind !== 'reasoning' ||
        part.signature === null ||
        deps.reasoningMark.isFrom(owner.provider, part.signature, part.text),
    );
    return parts.length === turn.parts.length ? turn : { ...turn, parts };
  });
  return deps.keptReasoning.restore(owner, { ...request, turns }, Date.now());
}

/**
 * Says why a target cannot carry a request, and words the error where no target can. A target is refused only for what
 * it is known to lack.
 */
import { priceAt } from '../../billing/price-book.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import type { RequestNeeds } from '../../protocols/request/request-needs.ts';
import type { Route, Target } from '../route.ts';
import type { FilterReason } from './candidate.ts';
import type { RoutedRequest } from './routed-request.ts';

/** Null: the target can carry the request. `isElsewhere`: it is of another issuer than the conversation so far. */
export function filterReason(target: Target, request: RoutedRequest, isElsewhere: boolean): FilterReason | null {
  const { tags, mustBePriced, atMs } = request;
  const lack = mayLack(target, request.protocol, isElsewhere) ? lackOf(target, request, isElsewhere) : null;
  if (lack !== null) return lack;
  if (tags.length > 0 && tags.some((tag) => !target.tags.includes(tag))) return 'tag';
  return mustBePriced && priceAt(target.prices, atMs) === null ? 'price' : null;
}

/** Whether anything is known that the target lacks for some request. */
function mayLack({ upstream, traits }: Target, protocol: RoutedRequest['protocol'], isElsewhere: boolean): boolean {
  const { tools, image, audio, pdf } = traits.takes;
  const name = upstream.protocolFor[protocol]?.name;
  const isKnown = tools === false || image === false || audio === false || pdf === false;
  return isKnown || isElsewhere || name !== protocol || (name === 'messages' && !traits.messages.firstParty);
}

function lackOf(
  { upstream, traits }: Target,
  { needs, protocol }: RoutedRequest,
  isElsewhere: boolean,
): FilterReason | null {
  const format = upstream.protocolFor[protocol]?.name;
  if (format === undefined) return 'format';
  if (needs === null) return null;
  const { takes } = traits;
  if (needs.ownFormat !== null && format !== protocol) return 'format';
  if (needs.logprobs && (format === 'messages' || format === 'converse' || format === 'responses')) return 'format';
  const servesNone = format === 'converse' || (format === 'messages' && !traits.messages.firstParty);
  if (needs.serverTool !== null && servesNone) return 'server_tools';
  if (needs.tools && takes.tools === false) return 'tools';
  if (needs.image && takes.image === false) return 'images';
  if (needs.audio && takes.audio === false) return 'audio';
  if (needs.pdf && takes.pdf === false) return 'files';
  return needs.storedItem !== null && (isElsewhere || format !== protocol) ? 'issuer' : null;
}

/** Whether the estimate is so far above the target's context that the prompt cannot fit. */
export function isTooLong({ traits }: Target, { inputTokens }: RoutedRequest): boolean {
  // The estimate may be off by a quarter.
  return traits.inputTokensMax !== null && inputTokens > traits.inputTokensMax * 1.25;
}

/** How many of the wanted qualities the target is known to lack: those that order targets but exclude none. */
export function countMisfits({ traits }: Target, request: RoutedRequest): number {
  const { takes, inputTokensMax } = traits;
  return (
    Number(takes.reasoning === false && request.needs?.reasoning === true) +
    Number(takes.structured_output === false && request.needs?.schema === true) +
    Number(inputTokensMax !== null && request.inputTokens > inputTokensMax)
  );
}

/** What a target lacks, after "no target of the model …" and in `route explain`. */
export const FILTER_WORDS: { readonly [reason in FilterReason]: string } = {
  tools: 'takes tools',
  images: 'takes images',
  audio: 'takes audio',
  files: 'takes files',
  server_tools: 'runs server tools',
  issuer: 'keeps the files that the request names',
  format: 'speaks the format of the request, which has a member that no other format can carry',
  tag: 'has the required tags',
  price: 'has a price',
  request: 'can express the request',
};

/** The members that `FILTER_WORDS` are about; the needs name the others. */
const MEMBERS: { readonly [reason in FilterReason]?: string } = {
  tools: 'tools',
  images: 'messages',
  audio: 'messages',
  files: 'messages',
};

/**
 * The failure of a request that no target can carry, by the target that came furthest: 400 that names the feature, 403
 * for a missing tag, 500 for a missing price.
 */
export function noTarget(route: Route, { needs, tags }: RoutedRequest, reasons: readonly FilterReason[]): CallFailure {
  const model = JSON.stringify(route.model);
  if (reasons.includes('price')) {
    return new CallFailure(
      'unpriced',
      `no target of the model ${model} that can take this request has a price, and this call is paid from a balance or a budget; the operator must give it one`,
      { reason: { kind: 'unpriced', subject: { type: 'model', id: route.model } } },
    );
  }
  if (reasons.includes('tag')) {
    return new CallFailure(
      'model_forbidden',
      `no target of the model ${model} has the required data tags (${tags.join(', ')}); choose another model, or require less`,
      {
        param: 'model',
        reason: {
          kind: 'model_not_allowed',
          subject: { type: 'model', id: route.model },
          rule: { id: `model:${route.model}`, cap: 'tags' },
          allowed: tags.slice(0, 20),
        },
      },
    );
  }
  const [reason = 'format'] = reasons;
  const param = paramOf(reason, needs);
  return new CallFailure(
    'invalid_request',
    `${param === null ? '' : `${param}: `}no target of the model ${model} ${FILTER_WORDS[reason]}; leave it out, or choose another model`,
    param === null ? {} : { param },
  );
}

function paramOf(reason: FilterReason, needs: RequestNeeds | null): string | null {
  if (reason === 'format') return needs?.ownFormat ?? (needs?.logprobs === true ? 'logprobs' : null);
  if (reason === 'server_tools') return needs?.serverTool ?? null;
  if (reason === 'issuer') return needs?.storedItem ?? null;
  return MEMBERS[reason] ?? null;
}

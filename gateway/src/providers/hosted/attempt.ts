/**
 * Makes the exchanges of one attempt where a cloud hosts the model: once more with a new token where the provider refuses
 * the kept one, and once more without the betas that the host does not know. Errors of Claude's hosts get Anthropic's
 * shape. A strict key gets the refusal of its betas.
 */

import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import { type Ending, type OpenExchange, openResending, type Refusal } from '../exchanges/chained-exchange.ts';
import type { UpstreamRequest } from '../provider.ts';
import { asAnthropic } from './anthropic-error.ts';
import { dropMembers, memberOf, readBetas, withBetas } from './betas-header.ts';
import { CACHE_SCOPE, isScopeBeta, refusesScope, withoutCacheScopes } from './cache-scope.ts';
import { CACHE_MARK, placeRootMark } from './root-cache-mark.ts';

export interface HostedAttempt {
  readonly request: UpstreamRequest;
  /** The target in what is learned about it. */
  readonly key: string;
  open(request: UpstreamRequest): OpenExchange;
  /** Discards a token or keys that the provider refuses; false: it does not, or others cannot help. */
  renew(refusal: Refusal): boolean;
  readonly memory: BetaMemory;
  /** The host takes cache marks on the blocks of a messages request, not at its root. */
  readonly marksBlocksOnly?: boolean;
}

/** Discards the token of an attempt's last request, which `note` gets a way to do, after a 401. */
export function startRenewal() {
  let discard = () => false;
  return {
    note(next: () => boolean) {
      discard = next;
    },
    renew: ({ head }: Refusal) => head.status === 401 && discard(),
  };
}

const REMEMBERED_MS = 3_600_000;
/** Betas are the client's: a target that refused more than this forgets them. */
const BETAS_MAX = 100;

/** Remembers for an hour which betas a target refused. */
export class BetaMemory {
  readonly #refused = new Map<string, Map<string, number>>();

  isRefused(key: string, beta: string, nowMs: number): boolean {
    return (this.#refused.get(key)?.get(beta) ?? 0) > nowMs;
  }

  note(key: string, betas: readonly string[], nowMs: number): void {
    const known = this.#refused.get(key) ?? new Map<string, number>();
    if (known.size + betas.length > BETAS_MAX) known.clear();
    for (const beta of betas) known.set(beta, nowMs + REMEMBERED_MS);
    this.#refused.set(key, known);
  }
}

/** Throws `invalid_request` if the caller's key is strict and a beta would be dropped. */
export function openHostedAttempt(attempt: HostedAttempt, listener: ExchangeListener): UpstreamTap {
  const { key, memory } = attempt;
  const isClaude = attempt.request.protocol === 'messages';
  const placed = isClaude && attempt.marksBlocksOnly === true ? placeRootMark(attempt.request.body) : null;
  const request = placed === null ? attempt.request : { ...attempt.request, body: placed.body };
  const lost = placed?.isDropped === true ? [CACHE_MARK] : [];
  const asked = isClaude ? readBetas(request.headers) : [];
  let sent = asked.filter((beta) => !memory.isRefused(key, beta, performance.now()));
  let isRenewed = false;
  let isTrimmed = false;
  let tap: { dropped: readonly string[] } | null = null;
  let body = bodyFor(request, asked, sent);
  let dropped = droppedOf(request, body, asked, sent, lost);

  function open(): OpenExchange {
    if (sent.length === asked.length) return attempt.open(request);
    return attempt.open({ ...request, headers: withBetas(request.headers, sent), body });
  }

  function after(ending: Ending): OpenExchange | Ending {
    if (!('head' in ending)) return ending;
    if (!isRenewed && attempt.renew(ending)) {
      isRenewed = true;
      return open();
    }
    if (!isClaude) return ending;
    const mayTrim = !isTrimmed && request.strict !== true && ending.head.status === 400;
    const refused = mayTrim ? findRefusedBetas(ending.body, sent) : [];
    if (refused.length === 0) return asAnthropic(ending);
    isTrimmed = true;
    memory.note(key, refused, performance.now());
    sent = sent.filter((beta) => !refused.includes(beta));
    body = bodyFor(request, asked, sent);
    dropped = droppedOf(request, body, asked, sent, lost);
    if (tap !== null) tap.dropped = dropped;
    return open();
  }

  const chain = openResending(open(), after, listener);
  chain.dropped = dropped;
  tap = chain;
  return chain;
}

/** The body for a host that gets only the betas `sent`. */
function bodyFor({ body }: UpstreamRequest, asked: readonly string[], sent: readonly string[]): Uint8Array {
  return asked.some((beta) => isScopeBeta(beta) && !sent.includes(beta)) ? withoutCacheScopes(body) : body;
}

function droppedOf(
  request: UpstreamRequest,
  body: Uint8Array,
  asked: readonly string[],
  sent: readonly string[],
  lost: readonly string[],
): readonly string[] {
  const betas = asked.filter((beta) => !sent.includes(beta)).map(memberOf);
  const scopes = body === request.body ? [] : [CACHE_SCOPE];
  return dropMembers([...betas, ...scopes, ...lost], request.strict);
}

/** Vertex names the betas that it does not know: anthropics/claude-code#12429 (2025-11-26). */
const UNKNOWN_BETAS = /unexpected value\(s\) (.{1,2000}?) for the `anthropic-beta` header/i;

function findRefusedBetas(body: Buffer, sent: readonly string[]): readonly string[] {
  if (refusesScope(body)) return sent.filter(isScopeBeta);
  const [, named = ''] = UNKNOWN_BETAS.exec(body.toString('utf8')) ?? [];
  return sent.filter((beta) => named.includes(`\`${beta}\``));
}

/**
 * Decides whether a call may be answered from the cache, and its answer be cached: by its workspace, its header and what
 * it asks for. Where an answer may depend on anything but the request, the cache is not used.
 */
import type { Defaults } from '../../config/config.ts';
import { invalidRequest } from '../../errors/call-failure.ts';
import type { WorkspaceCache } from '../../identity/principal.ts';
import type { BodyPolicy } from '../../store/ports/records.ts';
import { member } from '../../wire/json-node.ts';
import type { Routed } from '../call.ts';
import { isToBeKept } from '../stored/stored-by.ts';

/** `refresh`: the answer is cached, but not taken from the cache. */
const CHOICES = ['on', 'off', 'refresh'] as const;
type CacheChoice = (typeof CHOICES)[number];

export const CACHE_HEADER = 'x-tollgate-cache';

/** Why a call of a workspace with a cache does without it, as its answer's header says. */
export type BypassReason =
  /** The header says so. */
  | 'off'
  /** The workspace does not store the bodies of all calls. */
  | 'bodies'
  /** The endpoint's answers are not cached: forms, audio, images. */
  | 'endpoint'
  /** It continues what is stored at a provider, or its answer is stored there. */
  | 'stored'
  | 'background'
  /** The provider runs tools for it. */
  | 'server_tools'
  | 'media_output';

/** Null: the call does not take part. */
export type CacheUse =
  | null
  | { readonly kind: 'bypass'; readonly reason: BypassReason }
  | { readonly kind: 'use'; readonly looksUp: boolean };

/** Throws CallFailure `invalid_request` for a header with an unknown value. */
export function chooseCacheUse(call: Routed, { mode }: WorkspaceCache): CacheUse {
  const choice = readChoice(call.request.headers);
  if (choice === null && mode === 'request') return null;
  if (choice === 'off') return bypass('off');
  const reason = whyNot(call);
  return reason === null ? { kind: 'use', looksUp: choice !== 'refresh' } : bypass(reason);
}

const bypass = (reason: BypassReason) => ({ kind: 'bypass', reason }) as const;

function readChoice(headers: Headers): CacheChoice | null {
  const text = headers.get(CACHE_HEADER);
  if (text === null) return null;
  const choice = CHOICES.find((one) => one === text.trim().toLowerCase());
  if (choice !== undefined) return choice;
  throw invalidRequest(
    `${CACHE_HEADER}: found ${JSON.stringify(text.slice(0, 40))}, expected ${CHOICES.join(', ')}`,
    CACHE_HEADER,
  );
}

function whyNot(call: Routed): BypassReason | null {
  const { facts, protocol, principal, settings } = call;
  if (!keepsBodies(principal.bodies ?? settings.config.defaults.logBodies)) return 'bodies';
  if (protocol.isReplayable === false || call.form !== null || facts.binary !== undefined) return 'endpoint';
  if (facts.background !== undefined) return 'background';
  if (facts.stored !== undefined || isStored(call)) return 'stored';
  if (facts.extras?.mediaOutput === true) return 'media_output';
  return runsServerTools(call) ? 'server_tools' : null;
}

/** Whether a workspace keeps what its cache would: every answer. */
export function keepsBodies(bodies: BodyPolicy): boolean {
  return bodies === 'all';
}

/** Whether the answer may be named by a later request. Responses are stored unless their request says otherwise. */
function isStored(call: Routed): boolean {
  const { protocol, outline, target } = call;
  const store = member(outline.root, 'store')?.kind;
  if (store === 'true') return true;
  if (protocol.name !== 'responses' || store === 'false') return false;
  return target.upstream.state.isKept || isToBeKept(call);
}

function runsServerTools({ protocol, outline, facts }: Routed): boolean {
  if ((facts.extras?.toolRequests.size ?? 0) > 0) return true;
  return protocol.translates && protocol.readNeeds(outline, facts.mediaParts).serverTool !== null;
}

const DAY_MS = 86_400_000;

/** Unix ms of the earliest arrival whose answer may still be given: by the policy, and while content is kept. */
export function oldestUsableMs(
  { seconds, sinceMs, bodiesDays }: WorkspaceCache,
  { retentionDays }: Pick<Defaults, 'retentionDays'>,
  nowMs: number,
): number {
  return Math.max(sinceMs, nowMs - Math.min(seconds * 1_000, (bodiesDays ?? retentionDays) * DAY_MS));
}

/** Orders the credentials of one target for a call: the conversation's own, then by what their rate limits leave. */
import type { Target } from '../../route.ts';
import type { TargetHealthView } from '../candidate.ts';
import type { Dice } from '../random.ts';
import { type Headroom, limitOwner, type PooledCredential } from './headroom.ts';

/** The credentials of one target, as a call finds them. */
export interface CredentialChoice {
  /** The usable ones, the one to use first. */
  readonly usable: readonly number[];
  /** Not before this time: the conversation's own credential cools until then. 0: at once. */
  readonly notBeforeMs: number;
  /** Those that may be used only if no other target can. */
  readonly open: readonly number[];
  /** Where none is usable: what is known of the one that comes back first. */
  readonly blocked: Blocked | null;
  /** A call with the first one shows whether the target is back. */
  readonly probes: boolean;
}

interface Blocked {
  readonly verdict: 'open' | 'cooling' | 'benched';
  /** Infinity: unknown. */
  readonly untilMs: number;
}

interface Conditions {
  readonly headroom: Headroom;
  readonly nowMs: number;
  readonly dice: Dice;
}

/** A call waits so long for the credential of its conversation. */
const PIN_WAIT_MS = 2_000;

const FIRST: readonly number[] = [0];
const NONE: readonly number[] = [];
const ONLY: CredentialChoice = { usable: FIRST, notBeforeMs: 0, open: NONE, blocked: null, probes: false };

/**
 * The credentials of a target for a call of about `inputTokens`. `pinned`: the `key` of the credential that the
 * conversation is pinned to; null: none of this target.
 */
export function chooseCredentials(
  { upstream }: Target,
  health: TargetHealthView,
  inputTokens: number,
  pinned: string | null,
  conditions: Conditions,
): CredentialChoice {
  const { nowMs } = conditions;
  const { credentials } = upstream;
  if (credentials.length === 1 && health.verdict(0, nowMs) === 'usable') return ONLY;
  const usable: number[] = [];
  const open: number[] = [];
  /** Organisations whose limits one of their credentials has just met. */
  let limited: Set<string> | null = null;
  let blocked: Blocked | null = null;
  for (const [index, { key, organisation }] of credentials.entries()) {
    const verdict = health.verdict(index, nowMs);
    if (verdict === 'usable' || verdict === 'probe') {
      usable.push(index);
      continue;
    }
    const untilMs = health.untilMs(index);
    if (verdict === 'cooling' && key === pinned && untilMs <= nowMs + PIN_WAIT_MS) {
      return { usable: [index], notBeforeMs: untilMs, open: NONE, blocked: null, probes: false };
    }
    if (verdict === 'open') open.push(index);
    if (verdict === 'cooling' && organisation !== null) {
      limited ??= new Set();
      limited.add(organisation);
    }
    if (blocked === null || untilMs < blocked.untilMs) blocked = { verdict, untilMs };
  }
  const order = (indexes: number[]) =>
    orderCredentials(upstream, indexes, { inputTokens, pinned, limited }, conditions);
  const ordered = order(usable);
  const [first] = ordered;
  return {
    usable: ordered,
    notBeforeMs: 0,
    open: order(open),
    blocked: first === undefined ? blocked : null,
    probes: first !== undefined && health.verdict(first, nowMs) === 'probe',
  };
}

/** The places of credentials in the order of use. */
const PINNED = 0;
/** Keys of one organisation share the cache: one replaces the other before any other key does. */
const AKIN = 1;
const NEW_SESSIONS = 2;
/** A weight of 0 takes no new session. */
const OLD = 3;
/** Known to have less left than the call needs, or of an organisation whose limits were just met. */
const LAST = 4;

interface Scored {
  readonly index: number;
  readonly weight: number;
  readonly place: number;
  readonly isPinned: boolean;
  readonly share: number;
}

/** What decides among the credentials. */
interface Wanted {
  readonly inputTokens: number;
  readonly pinned: string | null;
  readonly limited: ReadonlySet<string> | null;
}

function orderCredentials(
  upstream: Target['upstream'],
  indexes: number[],
  { inputTokens, pinned: pinnedKey, limited }: Wanted,
  { headroom, nowMs, dice }: Conditions,
): readonly number[] {
  if (indexes.length < 2) return indexes;
  const pinned = upstream.credentials.find(({ key }) => key === pinnedKey);
  const scored: Scored[] = [];
  for (const index of indexes) {
    const credential = upstream.credentials[index];
    if (credential === undefined) continue;
    const isShort = headroom.isShort(upstream, index, inputTokens, nowMs);
    const isLimited = credential.organisation !== null && limited?.has(credential.organisation) === true;
    const place = isShort || isLimited ? LAST : placeOf(credential, pinned);
    const share = headroom.shareOf(upstream, index, nowMs);
    scored.push({ index, weight: credential.weight, place, isPinned: credential === pinned, share });
  }
  scored.sort(
    (one, other) => one.place - other.place || Number(other.isPinned) - Number(one.isPinned) || other.share - one.share,
  );
  const isNew = scored[0]?.place === NEW_SESSIONS;
  const best = isNew
    ? pickOfTwo(
        scored.filter(({ place }) => place === NEW_SESSIONS),
        dice,
      )
    : scored[0];
  const rest = scored.flatMap((one) => (one === best ? [] : [one.index]));
  return best === undefined ? rest : [best.index, ...rest];
}

function placeOf(credential: PooledCredential, pinned: PooledCredential | undefined): number {
  if (credential === pinned) return PINNED;
  if (pinned !== undefined && limitOwner(credential) === limitOwner(pinned)) return AKIN;
  return credential.weight > 0 ? NEW_SESSIONS : OLD;
}

/** The one with more headroom of two at random by weight: calls at the same moment do not all take one. */
function pickOfTwo(scored: readonly Scored[], dice: Dice): Scored | undefined {
  const weights = scored.map(({ weight }) => weight);
  const one = dice.pick(weights);
  weights[one] = 0;
  const other = dice.pick(weights);
  const [first, second] = [scored[one], scored[other]];
  if (first === undefined || second === undefined) return first ?? second;
  return second.share > first.share ? second : first;
}

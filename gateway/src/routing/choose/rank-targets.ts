/** Orders the usable targets of a route by priority, fitness and strategy. */
import type { RoutingConfig } from '../../config/config.ts';
import type { ExpectedCost } from './expected-cost.ts';
import type { Dice } from './random.ts';
import { rendezvousRank } from './random.ts';

/** A target as the order sees it. */
export interface Ranked {
  readonly name: string;
  /** In the order of the file. */
  readonly index: number;
  readonly priority: number;
  readonly weight: number;
  /** It is known not to have room for the prompt. */
  readonly isTooLong: boolean;
  /** It closed a moment ago, and this call is not in the share that it takes. */
  readonly isSlowed: boolean;
  /** The wanted qualities that it is known to lack, and the issuer of the conversation. */
  readonly misfits: number;
  readonly cost: ExpectedCost | null;
  readonly faultShare: number;
  /** The expected time to first content; null: unknown. */
  readonly expectedMs: number | null;
  /** Attempts under way. */
  readonly open: number;
}

/**
 * The targets in the order in which they are tried. `key`: the conversation, else a number of the call. Equal arguments
 * give the same order.
 */
export function rankTargets<One extends Ranked>(
  strategy: RoutingConfig['strategy'],
  targets: readonly One[],
  key: number,
  dice: Dice,
): readonly One[] {
  if (targets.length < 2) return targets;
  if (strategy === 'order') {
    return [...targets].sort((one, other) => compareGroups(one, other) || one.index - other.index);
  }
  const ranks = RANKS[strategy](targets, key);
  const sorted = [...targets].sort(
    (one, other) =>
      compareGroups(one, other) || (ranks.get(other) ?? 0) - (ranks.get(one) ?? 0) || one.index - other.index,
  );
  if (strategy !== 'latency') return sorted;
  const [first] = sorted;
  const group = sorted.filter((one) => first !== undefined && compareGroups(one, first) === 0);
  return group.length < 3 ? sorted : withBestOfTwo(sorted, group, dice);
}

/** Below 0: `one` comes before `other` whatever the strategy; 0: the strategy decides. */
function compareGroups(one: Ranked, other: Ranked): number {
  return (
    Number(one.isTooLong) - Number(other.isTooLong) ||
    Number(one.isSlowed) - Number(other.isSlowed) ||
    one.priority - other.priority ||
    Number(one.weight === 0) - Number(other.weight === 0) ||
    one.misfits - other.misfits
  );
}

type Ranks<One> = ReadonlyMap<One, number>;

/** The larger rank comes first. */
const RANKS: {
  readonly [strategy in Exclude<RoutingConfig['strategy'], 'order'>]: <One extends Ranked>(
    targets: readonly One[],
    key: number,
  ) => Ranks<One>;
} = {
  weight: (targets, key) => new Map(targets.map((one) => [one, rendezvousRank(key, one.name, one.weight)])),
  price: (targets, key) => new Map(targets.map((one) => [one, rendezvousRank(key, one.name, priceWeight(one))])),
  latency: (targets) =>
    new Map(targets.map((one) => [one, -(one.expectedMs ?? medianOf(targets, one.priority)) * (one.open + 1)])),
};

/** The median of the known times to first content in the group; 1 ms if none is known. */
function medianOf(targets: readonly Ranked[], priority: number): number {
  const known = targets.flatMap((one) => (one.priority === priority ? (one.expectedMs ?? []) : []));
  known.sort((one, other) => one - other);
  return known[Math.floor(known.length / 2)] ?? 1;
}

/** A cheaper target is preferred by the square of its cost; each tenth of faults makes it a tenth dearer. */
function priceWeight({ cost, faultShare }: Ranked): number {
  if (cost === null) return 0;
  const nanoUsd = Math.max(1, Number(cost.cold)) * (1 + faultShare);
  return 1 / nanoUsd ** 2;
}

/** Two of the group at random, the better one first: calls at the same moment do not all take the same target. */
function withBestOfTwo<One>(sorted: readonly One[], group: readonly One[], dice: Dice): readonly One[] {
  const one = Math.floor(dice.roll() * group.length);
  const other = (one + 1 + Math.floor(dice.roll() * (group.length - 1))) % group.length;
  const best = group[Math.min(one, other)];
  return best === undefined ? sorted : [best, ...sorted.filter((target) => target !== best)];
}

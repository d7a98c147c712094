/** Adds up the pages of a comparison: each covers older requests than the one before. */
import type { Reply } from '../../../../../gateway/src/console-api/contract/contract.ts';

export type WhatIfPage = Reply<'GET /accounts/{account}/what-if'>;
type Sums = Pick<WhatIfPage, 'requests' | 'now_nano_usd' | 'then_nano_usd'>;

/** Null: without pages. */
export function mergePages(pages: readonly WhatIfPage[]): WhatIfPage | null {
  const [first, ...others] = pages;
  return first === undefined ? null : others.reduce(addPage, first);
}

function addPage(one: WhatIfPage, other: WhatIfPage): WhatIfPage {
  return {
    ...other,
    ...addSums(one, other),
    then_low_nano_usd: add(one.then_low_nano_usd, other.then_low_nano_usd),
    then_high_nano_usd: add(one.then_high_nano_usd, other.then_high_nano_usd),
    then_uncached_nano_usd: add(one.then_uncached_nano_usd, other.then_uncached_nano_usd),
    then_reasoning_nano_usd: add(one.then_reasoning_nano_usd, other.then_reasoning_nano_usd),
    reasoning_tokens: one.reasoning_tokens + other.reasoning_tokens,
    tiered: one.tiered + other.tiered,
    unpriced: one.unpriced + other.unpriced,
    other_formats: one.other_formats + other.other_formats,
    by_model: addGroups(one.by_model, other.by_model, ({ model }) => model),
    by_key: addGroups(one.by_key, other.by_key, ({ key }) => key),
  };
}

/** The most expensive first. */
function addGroups<Group extends Sums>(
  one: readonly Group[],
  other: readonly Group[],
  nameOf: (group: Group) => string | null,
): Group[] {
  const groups = new Map(one.map((group) => [nameOf(group), group]));
  for (const group of other) {
    const known = groups.get(nameOf(group));
    groups.set(nameOf(group), known === undefined ? group : { ...known, ...addSums(known, group) });
  }
  return [...groups.values()].sort((left, right) => {
    const difference = BigInt(right.now_nano_usd) - BigInt(left.now_nano_usd);
    return difference > 0n ? 1 : difference < 0n ? -1 : 0;
  });
}

function addSums(one: Sums, other: Sums): Sums {
  return {
    requests: one.requests + other.requests,
    now_nano_usd: add(one.now_nano_usd, other.now_nano_usd),
    then_nano_usd: add(one.then_nano_usd, other.then_nano_usd),
  };
}

function add(one: string, other: string): string {
  return (BigInt(one) + BigInt(other)).toString();
}

/**
 * Renders the text of the snapshot: members in a fixed order, absent facts omitted, one model per line. Pure and
 * deterministic.
 */

import { formatUsdPerMillion, formatUsdPerThousand } from '../../src/billing/money.ts';
import { type Fees, PRICE_MEMBERS, type PriceMember, type PublishedPrice } from '../../src/billing/price.ts';
import { EXTRA_COUNTERS, EXTRA_PARTS } from '../../src/generation/usage.ts';
import { findGates } from './messages-gates.ts';
import type { FoldedModel } from './model-facts.ts';

/** The source of the facts. */
export interface Source {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
}

/** The snapshot as JSON text, ending in a line feed. `version` is its day, ISO; `models` must be sorted. */
export function renderSnapshot(version: string, sources: readonly Source[], models: readonly FoldedModel[]): string {
  const lines = models.map((model) => JSON.stringify(renderModel(model)));
  return `{"version":${JSON.stringify(version)},"sources":${JSON.stringify(sources)},"models":[\n${lines.join(',\n')}\n]}\n`;
}

function renderModel(model: FoldedModel): object {
  return {
    provider: model.provider,
    id: model.id,
    aliases: unlessEmpty(model.aliases),
    name: model.name ?? undefined,
    released: model.released ?? undefined,
    shutdown: model.shutdown ?? undefined,
    input_max: model.inputMax ?? undefined,
    output_max: model.outputMax ?? undefined,
    modalities: model.modalities,
    capabilities: model.capabilities,
    price: renderPrice(model.price),
    tiers: unlessEmpty(model.tiers.map(({ above, price }) => ({ above, ...renderPrice(price) }))),
    per_1000_requests: renderFees(model.fees),
    fees_beside: unlessEmpty(model.feesBeside),
    messages: model.provider === 'anthropic' ? renderGates(model.id) : undefined,
  };
}

/** Parts that cost the same as their whole are omitted; the whole's price fills them in. */
const WHOLES: { readonly [part: string]: PriceMember } = { reasoning: 'output', ...EXTRA_PARTS };

function renderPrice(price: PublishedPrice): object {
  return Object.fromEntries(
    [...PRICE_MEMBERS, ...EXTRA_COUNTERS].flatMap((member) => {
      const published = price[member];
      const whole = WHOLES[member];
      const repeats = whole !== undefined && published === price[whole];
      return published === undefined || repeats ? [] : [[member, formatUsdPerMillion(published)]];
    }),
  );
}

function renderFees(fees: Fees): object | undefined {
  if (fees.size === 0) return undefined;
  return Object.fromEntries([...fees].map(([kind, fee]) => [kind, formatUsdPerThousand(fee)]));
}

function renderGates(id: string): object | undefined {
  const gates = findGates(id);
  if (gates === null) return undefined;
  return {
    sampling: gates.sampling,
    thinking: gates.thinking,
    effort: gates.effort,
    effort_max_when_disabled: gates.effortMaxWhenDisabled ?? undefined,
    forced_tool_choice: gates.forcedToolChoice,
  };
}

function unlessEmpty<Item>(items: readonly Item[]): readonly Item[] | undefined {
  return items.length === 0 ? undefined : items;
}

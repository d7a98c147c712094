/** Lists contradictions between the sources for a person to review. Changes nothing: the newer source has been used. */
import { formatUsdPerMillion } from '../../src/billing/money.ts';
import { findGates } from './messages-gates.ts';
import { type FoldedModel, modelKey, type Release } from './model-facts.ts';

/** One line per contradiction, and one per model that only the older source has. */
export function compareSources(
  models: readonly FoldedModel[],
  releases: ReadonlyMap<string, Release>,
): readonly string[] {
  const lines: string[] = [];
  const known = new Set<string>();
  for (const model of models) {
    for (const id of [model.id, ...model.aliases]) {
      const key = modelKey(model.provider, id);
      known.add(key);
      const release = releases.get(key);
      if (release !== undefined) lines.push(...comparePrices(key, model, release));
    }
    lines.push(...compareOutput(model));
  }
  const missing = [...releases.keys()].filter((key) => !known.has(key)).sort();
  return [...lines, ...missing.map((key) => `${key}: only the older source has it; omitted`)];
}

function comparePrices(key: string, model: FoldedModel, release: Release): readonly string[] {
  return (['input', 'output'] as const).flatMap((member) => {
    const older = release[member];
    const fresher = model.price[member];
    if (older === null || older === fresher) return [];
    return `${key}: ${member} ${formatUsdPerMillion(fresher)}; the older source says ${formatUsdPerMillion(older)}`;
  });
}

function compareOutput({ provider, id, outputMax }: FoldedModel): readonly string[] {
  if (provider !== 'anthropic') return [];
  const gates = findGates(id);
  if (gates === null) return [`${provider}/${id}: the table of gates lacks its family`];
  if (gates.outputMax === outputMax) return [];
  return [`${provider}/${id}: output_max ${outputMax}; the table of gates says ${gates.outputMax}`];
}

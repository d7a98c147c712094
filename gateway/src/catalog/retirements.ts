/** Warns of served models that their provider will shut down soon, by the dates of the catalogue. */
import { findModel } from './catalog.ts';

/** A served model; its targets, each with its name in the catalogue, or null. */
interface Served {
  readonly name: string;
  readonly targets: ReadonlyArray<{
    readonly model: string;
    readonly provider: { readonly name: string };
    readonly catalog: { readonly provider: string; readonly model: string } | null;
  }>;
}

const DAY_MS = 86_400_000;
const WARNED_DAYS = 60;

/** One sentence for each model at a provider that shuts down within 60 days, or has: the date, and who uses it. */
export function warnOfRetirements(models: Iterable<Served>, nowMs: number): readonly string[] {
  const until = new Map<string, { readonly date: string; readonly names: Set<string> }>();
  for (const { name, targets } of models) {
    for (const { model, provider, catalog } of targets) {
      const date = catalog === null ? null : (findModel(catalog.provider, catalog.model)?.shutdown ?? null);
      if (date === null || Date.parse(date) - nowMs > WARNED_DAYS * DAY_MS) continue;
      const place = `${model} at ${provider.name}`;
      const found = until.get(place) ?? { date, names: new Set() };
      found.names.add(name);
      until.set(place, found);
    }
  }
  return [...until].map(([place, { date, names }]) => {
    const ends = Date.parse(date) <= nowMs ? 'was to shut down' : 'shuts down';
    return `${place} ${ends} on ${date} (catalogue): choose another model for ${[...names].join(', ')}.`;
  });
}

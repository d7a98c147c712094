/**
 * Tells when models shut down, by the dates of the catalogue, and warns of those that are served. Vendors announce dates
 * for their own hosts; clouds have schedules of their own:
 * https://platform.claude.com/docs/en/about-claude/model-deprecations (2026-11-23).
 */
import { findModel } from './catalog.ts';

interface CatalogName {
  readonly provider: string;
  readonly model: string;
}

/** Where a model is served: by a provider of the catalogue, or by one that hosts models of others. */
interface Host {
  readonly catalogProvider: string | null;
  readonly settings?: { readonly [name: string]: string };
  readonly kind: {
    hostedModel?(
      model: string,
      settings: { readonly [name: string]: string },
    ): { readonly catalog: CatalogName; readonly priced: CatalogName | null } | null;
  };
}

/** `on`: the day from which a model is gone, ISO. `by` vendor: at its vendor's own host; its host here may differ. */
export interface Retirement {
  readonly on: string;
  readonly by: 'provider' | 'vendor';
}

/** When a model at a provider shuts down; null: the catalogue has no date for it. */
export function findRetirement({ catalogProvider, settings = {}, kind }: Host, model: string): Retirement | null {
  const hosted = catalogProvider === null ? (kind.hostedModel?.(model, settings) ?? null) : null;
  const own = shutdownOf(catalogProvider === null ? (hosted?.priced ?? null) : { provider: catalogProvider, model });
  if (own !== null) return { on: own, by: 'provider' };
  const vendors = shutdownOf(hosted?.catalog ?? null);
  return vendors === null ? null : { on: vendors, by: 'vendor' };
}

function shutdownOf(name: CatalogName | null): string | null {
  return name === null ? null : (findModel(name.provider, name.model)?.shutdown ?? null);
}

/** A served model and its targets. */
interface Served {
  readonly name: string;
  readonly targets: ReadonlyArray<{ readonly model: string; readonly provider: Host & { readonly name: string } }>;
}

const DAY_MS = 86_400_000;
const WARNED_DAYS = 60;

/** One sentence for each model at a provider that shuts down within 60 days, or has: the date, and who uses it. */
export function warnOfRetirements(models: Iterable<Served>, nowMs: number): readonly string[] {
  const found = new Map<string, { readonly ending: string; readonly names: Set<string> }>();
  for (const { name, targets } of models) {
    for (const { model, provider } of targets) {
      const retirement = findRetirement(provider, model);
      if (retirement === null || Date.parse(retirement.on) - nowMs > WARNED_DAYS * DAY_MS) continue;
      const place = `${model} at ${provider.name}`;
      const known = found.get(place) ?? { ending: renderEnding(retirement, provider.name, nowMs), names: new Set() };
      known.names.add(name);
      found.set(place, known);
    }
  }
  return [...found].map(
    ([place, { ending, names }]) => `${place} ${ending} choose another model for ${[...names].join(', ')}.`,
  );
}

function renderEnding({ on, by }: Retirement, provider: string, nowMs: number): string {
  const ends = Date.parse(on) <= nowMs ? 'was to shut down' : 'shuts down';
  if (by === 'provider') return `${ends} on ${on} (catalogue):`;
  return `${ends} on ${on} at its vendor (catalogue): look up the date of ${provider}, or`;
}

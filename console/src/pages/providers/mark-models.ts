/** Marks the models that a provider offers: those that are served, and those whose name another model has. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';

export type OfferedModel = Reply<'POST /accounts/{account}/providers/{provider}/test'>['models'][number];
type Served = Reply<'GET /accounts/{account}/models'>['models'][number];

export interface MarkedModel {
  /** Its name at the provider. */
  readonly model: string;
  /** The public names that it is served under; empty: it is not served. */
  readonly servedAs: readonly string[];
  /** The providers of another served model of its name, so that it cannot be added under it; null: the name is free. */
  readonly takenBy: string | null;
  readonly retires: OfferedModel['retires'];
}

/** In the provider's order. `served` null: not loaded yet, so the marks are those of the provider's list. */
export function markModels(
  offered: readonly OfferedModel[],
  served: readonly Pick<Served, 'name' | 'aliases' | 'targets'>[] | null,
  provider: string,
): readonly MarkedModel[] {
  const names = new Map<string, string[]>();
  const owners = new Map<string, string>();
  for (const { name, aliases, targets } of served ?? []) {
    for (const one of [name, ...aliases]) owners.set(one, targets.map((target) => target.provider).join(', '));
    for (const target of targets) {
      if (target.provider === provider) names.set(target.model, [...(names.get(target.model) ?? []), name]);
    }
  }
  return offered.map(({ model, served_as: listed, retires }) => {
    const servedAs = served === null ? listed : (names.get(model) ?? []);
    return { model, servedAs, takenBy: servedAs.length === 0 ? (owners.get(model) ?? null) : null, retires };
  });
}

/** Those whose name at the provider, or here, contains the text. */
export function findMarked(models: readonly MarkedModel[], text: string): readonly MarkedModel[] {
  const sought = text.trim().toLowerCase();
  return models.filter(({ model, servedAs }) =>
    [model, ...servedAs].some((name) => name.toLowerCase().includes(sought)),
  );
}

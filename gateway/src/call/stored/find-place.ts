/** Finds where a provider keeps an object, by its row or its job. */
import type { Upstream } from '../../providers/provider.ts';
import type { RouteTable, Target } from '../../routing/route.ts';

export interface KeptPlace {
  readonly target: Target;
  /** Index of the credential that keeps it. */
  readonly credential: number;
}

const keepsResponses = ({ state, protocols }: Upstream) => state.isKept && protocols.includes('responses');

/**
 * Any target of the provider with the credential will do, best the one of the same model; null: no such target exists
 * now.
 */
export function findPlace(
  routes: RouteTable,
  kept: { readonly provider: string; readonly model: string; readonly credential: string },
  isServing: (upstream: Upstream) => boolean = keepsResponses,
): KeptPlace | null {
  let found: KeptPlace | null = null;
  for (const { targets } of routes.values()) {
    for (const target of targets) {
      const { upstream } = target;
      if (upstream.provider !== kept.provider || !isServing(upstream)) continue;
      const credential = upstream.credentials.findIndex(({ name }) => name === kept.credential);
      if (credential === -1) continue;
      if (upstream.model === kept.model) return { target, credential };
      found ??= { target, credential };
    }
  }
  return found;
}

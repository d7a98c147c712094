/** Finds where a provider keeps an object, by its row or its job. */
import type { RouteTable, Target } from '../../routing/route.ts';

export interface KeptPlace {
  readonly target: Target;
  /** Index of the credential that keeps it. */
  readonly credential: number;
}

/**
 * Any target of the provider with the credential will do, best the one of the same model; null: no such target exists
 * now.
 */
export function findPlace(
  routes: RouteTable,
  kept: { readonly provider: string; readonly model: string; readonly credential: string },
): KeptPlace | null {
  let found: KeptPlace | null = null;
  for (const { targets } of routes.values()) {
    for (const target of targets) {
      const { upstream } = target;
      if (upstream.provider !== kept.provider || !upstream.state.isKept || !upstream.protocols.includes('responses'))
        continue;
      const credential = upstream.credentials.findIndex(({ name }) => name === kept.credential);
      if (credential === -1) continue;
      if (upstream.model === kept.model) return { target, credential };
      found ??= { target, credential };
    }
  }
  return found;
}

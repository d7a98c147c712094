/** Chooses defaults for the first call: a model that answers, and a workspace for its key. */

interface Callable {
  readonly name: string;
  readonly protocols: readonly string[];
  readonly price: unknown;
  readonly source: string;
}

/**
 * Prefers a real model to the built-in one, and a priced one to an unpriced one, which would be refused where a budget
 * applies.
 */
export function chooseModel(models: readonly Callable[]): string | null {
  const rank = ({ source, price }: Callable): number => (source === 'demo' ? 1 : 0) + (price === null ? 2 : 0);
  const [first] = models
    .filter(({ protocols }) => protocols.includes('chat'))
    .sort((one, other) => rank(one) - rank(other));
  return first?.name ?? null;
}

/** `default` if the user has access to it, else the first accessible one. `own` null: all are accessible. */
export function chooseWorkspace(
  workspaces: readonly { readonly id: string }[],
  own: readonly string[] | null,
): string | null {
  const ids = workspaces.map(({ id }) => id).filter((id) => own === null || own.includes(id));
  return ids.find((id) => id === 'default') ?? ids[0] ?? null;
}

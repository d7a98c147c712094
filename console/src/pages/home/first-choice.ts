/** Owns what the first call uses, where nobody has chosen: a model that answers, and a workspace for its key. */

interface Callable {
  readonly name: string;
  readonly protocols: readonly string[];
  readonly price: unknown;
  readonly source: string;
}

/** A real model before the built-in one, a priced one before one without: that one would be refused where a budget applies. */
export function chooseModel(models: readonly Callable[]): string | null {
  const rank = ({ source, price }: Callable): number => (source === 'demo' ? 1 : 0) + (price === null ? 2 : 0);
  const [first] = models
    .filter(({ protocols }) => protocols.includes('chat'))
    .sort((one, other) => rank(one) - rank(other));
  return first?.name ?? null;
}

/** `default` if the person has it, else the first that he has. `own`: null, every one. */
export function chooseWorkspace(
  workspaces: readonly { readonly id: string }[],
  own: readonly string[] | null,
): string | null {
  const ids = workspaces.map(({ id }) => id).filter((id) => own === null || own.includes(id));
  return ids.find((id) => id === 'default') ?? ids[0] ?? null;
}

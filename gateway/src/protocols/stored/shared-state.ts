/** Says what of the operator's account at a provider requests may name without a row of their workspace. */

/** Something that the operator shares. */
export interface SharedState {
  /** An id or an address; with `*` at its end, all that begin so. */
  readonly id: string;
  /** Null: every workspace. */
  readonly workspaces: readonly string[] | null;
}

/** The objects that clients create at providers, by the name of their path. */
export const COLLECTIONS = ['files', 'conversations', 'batches'] as const;
export type Collection = (typeof COLLECTIONS)[number];

/** Where a kind of provider has them. */
export interface ObjectPaths {
  /** Whose objects they are: OpenAI's or Anthropic's. */
  readonly format: 'responses' | 'messages';
  /** Follows the base address; null: the service of the model has none. */
  pathOf(collection: Collection, model: string, settings: { readonly [name: string]: string }): string | null;
}

/** The state that a provider keeps under its credentials. */
export interface ProviderState {
  /** It keeps responses, items and containers, and later requests may name them. */
  readonly isKept: boolean;
  readonly shared: readonly SharedState[];
  /** What clients may create there. */
  readonly creates: readonly Collection[];
  readonly format: ObjectPaths['format'];
}

/** A request about one stored object, at the address of its provider's format. */
export interface ObjectRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Whose path it follows. Absent: that of the format. */
  readonly collection?: Collection;
  /** Follows that path: `/resp_1/cancel`. */
  readonly path: string;
  /** Without `?`; empty: none. */
  readonly query: string;
}

/** Whether the operator opens an id or an address to the workspace. */
export function isShared({ shared }: ProviderState, id: string, workspace: string): boolean {
  return shared.some(
    (entry) =>
      (entry.id.endsWith('*') ? id.startsWith(entry.id.slice(0, -1)) : id === entry.id) &&
      (entry.workspaces?.includes(workspace) ?? true),
  );
}

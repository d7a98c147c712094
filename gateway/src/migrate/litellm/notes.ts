/** Collects what an import does not carry over, or carries over differently, each with its reason. */

/** `dropped`: not carried over. `changed`: carried over, but not exactly. `todo`: for the operator to do. */
export type NoteKind = 'dropped' | 'changed' | 'todo';

export interface Note {
  readonly kind: NoteKind;
  /** What it concerns: a setting, or a column of a table. */
  readonly what: string;
  readonly why: string;
  /** The objects that it concerns, in order; empty: the whole installation. */
  readonly names: readonly string[];
}

export interface Notes {
  add(kind: NoteKind, what: string, why: string, name?: string): void;
  list(): readonly Note[];
}

export function createNotes(): Notes {
  const notes = new Map<string, Note>();
  /** The names of a note, each once. */
  const named = new Map<string, Set<string>>();
  return {
    add(kind, what, why, name) {
      const key = JSON.stringify([kind, what, why]);
      const names = named.get(key) ?? new Set();
      named.set(key, names);
      if (name !== undefined) names.add(name);
      if (!notes.has(key)) notes.set(key, { kind, what, why, names: [] });
    },
    list: () => [...notes].map(([key, note]) => ({ ...note, names: [...(named.get(key) ?? [])] })),
  };
}

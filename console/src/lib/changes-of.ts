/**
 * Computes the changes that a form sends. Untouched members are omitted, so that concurrent changes by others survive.
 */

/**
 * The members whose value differs from the opened one; lists and other non-primitive values are compared by content.
 */
export function changesOf<Filled extends object>(
  opened: { readonly [Member in keyof Filled]: unknown },
  filled: Filled,
): Partial<Filled> {
  const changed = Object.entries(filled).filter(
    ([member, value]) => JSON.stringify(value) !== JSON.stringify(opened[member as keyof Filled]),
  );
  return Object.fromEntries(changed) as Partial<Filled>;
}

export function isEmpty(changes: object): boolean {
  return Object.keys(changes).length === 0;
}

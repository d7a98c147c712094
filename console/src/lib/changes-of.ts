/** Owns what a form sends of what it was opened with: what nobody touched in it is not said, so that it stays as others set it meanwhile. */

/** The members that were filled in otherwise than they were; lists and what else is no plain value are compared by what they hold. */
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

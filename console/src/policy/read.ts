/** Defines the result of reading a form, a value or errors by member, and the changes that it sends. */
import type { ApiError } from '../lib/api.ts';
import { isPlaced, memberError } from '../ui/error-note.tsx';

/** Keyed by the API's member names, so that local faults and API errors appear in the same place. */
export type Faults = Readonly<Record<string, string>>;
export type Read<Value> = { readonly value: Value } | { readonly faults: Faults };

/** The error of a member: the local fault, else the API's. */
export function faultOf(faults: Faults, error: ApiError | null, member: string): string | null {
  return faults[member] ?? memberError(error, member);
}

/** An API error that no field of the form shows; null without an error or when a field shows it. */
export function restOf(error: ApiError | null, members: readonly string[]): ApiError | null {
  return error !== null && isPlaced(error, members) ? null : error;
}

/** Focuses the first invalid field, or the words about one that takes no focus, after the next paint. */
export function focusFirstFault(form: HTMLFormElement): void {
  requestAnimationFrame(() => form.querySelector<HTMLElement>('[aria-invalid="true"], [data-fault]')?.focus());
}

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

/** The changed lists as they were opened: the change is refused if another user changed one since. */
export function readOf<Opened extends object, Name extends keyof Opened & string>(
  opened: Opened,
  changes: object,
  lists: readonly Name[],
): { readonly before?: Partial<Pick<Opened, Name>> } {
  const changed = lists.filter((member) => member in changes);
  if (changed.length === 0) return {};
  return {
    before: Object.fromEntries(changed.map((member) => [member, opened[member]])) as Partial<Pick<Opened, Name>>,
  };
}

export function isEmpty(changes: object): boolean {
  return Object.keys(changes).length === 0;
}

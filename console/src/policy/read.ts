/** Owns what reading a form gives: the value to send, or what is wrong with which member. Knows no form. */
import type { ApiError } from '../lib/api.ts';
import { isPlaced, memberError } from '../ui/error-note.tsx';

/** By the API's own name of the member, so that its refusals and ours stand in the same place. */
export type Faults = Readonly<Record<string, string>>;
export type Read<Value> = { readonly value: Value } | { readonly faults: Faults };

/** What is wrong with a member: what was found here, else what the API refused. */
export function faultOf(faults: Faults, error: ApiError | null, member: string): string | null {
  return faults[member] ?? memberError(error, member);
}

/** A refusal that no field of the form shows; null: there is none, or a field shows it. */
export function restOf(error: ApiError | null, members: readonly string[]): ApiError | null {
  return error !== null && isPlaced(error, members) ? null : error;
}

/** Moves the focus to the first field that is wrong, after it is drawn. */
export function focusFirstFault(form: HTMLFormElement): void {
  requestAnimationFrame(() => form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
}

/** Defines what a page can be filtered by. */
import type { Reply } from '../../../gateway/src/console-api/contract/contract.ts';

export interface FilterKind {
  /** Its member in the address. */
  readonly name: string;
  readonly word: string;
  /** Values that are known, each with its label where it has one; others can be typed. */
  readonly known?: readonly (readonly [value: string, label: string | null])[];
  /** What it can be, where nothing else is allowed. */
  readonly only?: readonly (readonly [value: string, label: string])[];
  /** What calls without one are called; left out: every call has one. */
  readonly none?: string;
}

export interface FilterChipsProps {
  readonly kinds: readonly FilterKind[];
  /** What people call values that are ids. */
  readonly labels: Reply<'GET /accounts/{account}/logs'>['filter_labels'];
}

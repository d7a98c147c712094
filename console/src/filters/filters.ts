/** Types of a page's filters. */
import type { Reply } from '../../../gateway/src/console-api/contract/contract.ts';

export interface FilterKind {
  /** Member of the address. */
  readonly name: string;
  readonly word: string;
  /** Known values, with labels where they have one; other values can be typed. */
  readonly known?: readonly (readonly [value: string, label: string | null])[];
  /** The allowed values, when no others are accepted. */
  readonly only?: readonly (readonly [value: string, label: string])[];
  /** Label for calls that have no value; left out when every call has one. */
  readonly none?: string;
}

export interface FilterChipsProps {
  readonly kinds: readonly FilterKind[];
  /** Labels of values that are ids. */
  readonly labels: Reply<'GET /accounts/{account}/logs'>['filter_labels'];
}

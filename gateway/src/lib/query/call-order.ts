/** Defines the orders in which calls are listed, other than that of their arrival. */

/** Columns by which calls are sorted. */
export const SORTS = [
  'status',
  'model',
  'provider',
  'key',
  'cost',
  'tokens',
  'input',
  'output',
  'ttft',
  'duration',
  'tps',
  'attempts',
] as const;
export type SortField = (typeof SORTS)[number];

export interface CallOrder {
  readonly by: SortField;
  readonly isDescending: boolean;
}

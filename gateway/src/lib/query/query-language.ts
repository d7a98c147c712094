/** Defines what a query may name: the fields of a language, and the values of those that accept no others. */

/** Shapes of values. Units: durations in ms, money in nano-USD, rates per second, dates as midnight UTC in Unix ms. */
export type QueryKind = 'text' | 'choice' | 'status' | 'money' | 'count' | 'duration' | 'rate' | 'date';

export interface QueryFieldRow {
  readonly kind: QueryKind;
  readonly about: string;
}

export interface QueryLanguage<Field extends string> {
  readonly fields: Readonly<Record<Field, QueryFieldRow>>;
  readonly choices: Readonly<Partial<Record<Field, readonly string[]>>>;
  /** The field whose ids may stand alone, after words are text to search; null: every term needs a field. */
  readonly ids: Field | null;
}

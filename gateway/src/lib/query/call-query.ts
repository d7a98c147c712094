/**
 * Defines a query over the records of calls: the fields that a query may name, and the terms that a call must meet. A
 * query's text is parsed by `console-api/query/parse-query.ts`, in the gateway and in the console.
 */

import type { QueryFieldRow } from './query-language.ts';

export const QUERY_FIELDS = {
  key: { kind: 'text', about: 'API key, by name or id' },
  model: { kind: 'text', about: 'Requested model' },
  served: { kind: 'text', about: 'Model at the provider' },
  provider: { kind: 'text', about: 'Provider' },
  workspace: { kind: 'text', about: 'Workspace' },
  member: { kind: 'text', about: 'Creator of the API key' },
  tag: { kind: 'text', about: 'Tag of the API key, such as tag.team:web' },
  user: { kind: 'text', about: 'End user' },
  session: { kind: 'text', about: 'Session' },
  protocol: { kind: 'choice', about: 'Format of the client' },
  stream: { kind: 'choice', about: 'Streamed: yes or no' },
  status: { kind: 'status', about: 'HTTP status, such as 429 or 5xx' },
  outcome: { kind: 'choice', about: 'Success, client error, server error, canceled' },
  reason: { kind: 'choice', about: 'Why it failed' },
  error: { kind: 'text', about: 'Error code' },
  cost: { kind: 'money', about: 'Cost in USD' },
  tokens: { kind: 'count', about: 'All tokens' },
  input: { kind: 'count', about: 'Input tokens with those of caches' },
  output: { kind: 'count', about: 'Output tokens' },
  cache: { kind: 'count', about: 'Tokens read from the prompt cache' },
  cached: { kind: 'choice', about: 'Answered from the cache of answers: yes or no' },
  ttft: { kind: 'duration', about: 'Time to the first byte' },
  duration: { kind: 'duration', about: 'Duration' },
  tps: { kind: 'rate', about: 'Output tokens per second' },
  attempts: { kind: 'count', about: 'Attempts at providers' },
  flag: { kind: 'text', about: 'Usage anomaly' },
  trace: { kind: 'text', about: 'W3C trace id' },
  id: { kind: 'text', about: 'Request id' },
} as const satisfies Readonly<Record<string, QueryFieldRow>>;

export type QueryField = keyof typeof QUERY_FIELDS;

/** Null: the call has no value. `isPrefix`: the value begins with the text. */
export type TextTest = { readonly text: string; readonly isPrefix: boolean } | null;

/** Null: no bound. Money is a bigint, all else a number. */
export interface RangeTest {
  readonly from: bigint | number | null;
  readonly to: bigint | number | null;
  /** The bounds themselves do not match. */
  readonly isOpen: boolean;
}

/** Text that the stored bodies of a call contain, or with `isNot` do not. */
export interface QueryWord {
  readonly text: string;
  readonly isNot: boolean;
}

/** Met by calls that meet any of the tests; `isNot`: by all others. */
export interface QueryTerm<Field extends string = QueryField> {
  readonly field: Field;
  /** With the field `tag`: its name. */
  readonly tag?: string;
  readonly isNot: boolean;
  readonly texts: readonly TextTest[];
  readonly ranges: readonly RangeTest[];
}

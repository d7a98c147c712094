/** Decides which codes of a chunk's column meet a term of a query, with the meaning that `query-condition.ts` gives it. */
import type { QueryField, QueryTerm, RangeTest, TextTest } from '../../../lib/query/call-query.ts';
import { type LogQuestion, NONE } from '../../ports/usage.ts';
import type { ChunkColumn } from './chunk-column.ts';
import { CHUNK_FIELDS, type ChunkField } from './chunk-fields.ts';

export interface ChunkTerm {
  readonly field: ChunkField;
  /** For each code of the column 1 where it meets the term, else 0. */
  codesOf(column: ChunkColumn): Uint8Array;
}

type Conditioned = Pick<LogQuestion, 'tenant' | 'condition' | 'outcome' | 'terms'>;

const CONDITIONS = {
  model: 'model',
  provider: 'provider',
  workspace: 'workspace',
  end_user: 'user',
  session: 'session',
  protocol: 'protocol',
} as const satisfies Readonly<Record<string, ChunkField>>;

/** All that a question demands of a record, apart from its account, time and id. */
export function chunkTerms({ tenant, condition, outcome, terms = [] }: Conditioned): readonly ChunkTerm[] {
  const all: QueryTerm[] = [];
  const among = (field: QueryField, values: readonly (string | null)[], isNot = false) =>
    all.push({ field, isNot, texts: values.map(exactly), ranges: [] });
  if (tenant.workspaces !== null) among('workspace', tenant.workspaces);
  const { keys } = condition;
  if (keys !== null && 'except' in keys) among('key', keys.except, true);
  else if (keys !== null) among('key', keys);
  for (const [member, field] of Object.entries(CONDITIONS)) {
    const value = condition[member as keyof typeof CONDITIONS];
    if (value !== null) among(field, [value === NONE ? null : value]);
  }
  if (outcome !== null) among('outcome', [outcome]);
  return [...all, ...terms].map(chunkTerm);
}

const exactly = (text: string | null): TextTest => (text === null ? null : { text, isPrefix: false });

/** Greater than every text that begins with the prefix. */
const LAST = '\u{10ffff}';

interface Needle {
  readonly from: Uint8Array;
  /** Null: only `from` itself. */
  readonly below: Uint8Array | null;
}

function chunkTerm({ field, isNot, texts, ranges }: QueryTerm): ChunkTerm {
  if (field === 'member' || field === 'tag') throw new Error(`a term with a ${field} was not resolved to keys`);
  const isOfNone = texts.includes(null);
  const needles = texts.flatMap((test): Needle[] =>
    test === null
      ? []
      : [{ from: Buffer.from(test.text), below: test.isPrefix ? Buffer.from(`${test.text}${LAST}`) : null }],
  );
  const isText = CHUNK_FIELDS[field].kind === 'text';
  if (isText ? ranges.length > 0 : needles.length > 0) throw new Error(`the field ${field} has other values`);
  return {
    field,
    codesOf(column) {
      const codes = new Uint8Array(column.count + 1);
      if (isOfNone) codes[0] = 1;
      if (field === 'flag') markLists(codes, column, texts);
      else for (const needle of needles) markTexts(codes, column, needle);
      for (const range of ranges) markRange(codes, column, range);
      if (isNot) for (let code = 0; code < codes.length; code++) codes[code] = 1 - (codes[code] ?? 0);
      return codes;
    },
  };
}

function markTexts(codes: Uint8Array, column: ChunkColumn, { from, below }: Needle): void {
  const end = below === null ? column.countBelow(from, true) : column.countBelow(below, false);
  codes.fill(1, column.countBelow(from, false) + 1, end + 1);
}

function markRange(codes: Uint8Array, column: ChunkColumn, { from, to, isOpen }: RangeTest): void {
  const first = from === null ? 0 : column.countBelow(from, isOpen);
  const end = to === null ? column.count : column.countBelow(to, !isOpen);
  if (end > first) codes.fill(1, first + 1, end + 1);
}

/** A record has several flags: one of them has to meet a test. */
function markLists(codes: Uint8Array, column: ChunkColumn, texts: readonly TextTest[]): void {
  for (let code = 1; code <= column.count; code++) {
    const flags = JSON.parse(String(column.valueOf(code))) as readonly string[];
    const isMet = flags.some((flag) =>
      texts.some((test) => test !== null && (test.isPrefix ? flag.startsWith(test.text) : flag === test.text)),
    );
    if (isMet) codes[code] = 1;
  }
}

/**
 * Turns the text of a query into what the store reads: names of keys and members, and tags, become ids of keys, and terms that the sums of
 * usage know become the condition that narrows the search.
 */
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { chooseNearName } from '../../errors/near-name.ts';
import type { CallOrder, SortField } from '../../lib/query/call-order.ts';
import type { QueryField, QueryTerm, TextTest } from '../../lib/query/call-query.ts';
import { RECORDED_PROTOCOLS, type RecordedProtocol } from '../../protocols/names.ts';
import { type CallCondition, type CallPlace, type LogQuestion, NONE } from '../../store/ports/usage.ts';
import type { UsageLabels } from '../usage/usage-parts.ts';
import { type ParsedQuery, parseQuery, QueryError } from './parse-query.ts';

export interface ResolvedQuery {
  readonly condition: CallCondition;
  readonly terms: readonly QueryTerm[];
  readonly idPrefix: string | null;
}

/** @throws ConsoleFailure that names what is wrong in `q` */
export function readQuery(q: string | undefined): ParsedQuery {
  try {
    return parseQuery(q ?? '');
  } catch (fault) {
    if (!(fault instanceof QueryError)) throw fault;
    throw new ConsoleFailure('invalid', `q: ${fault.message}`, { member: 'q', cause: fault });
  }
}

/** Whether `resolveQuery` needs the names of keys and members, or the tags of keys. */
export function namesKeys(terms: readonly QueryTerm[]): boolean {
  return terms.some(({ field }) => field === 'key' || field === 'member' || field === 'tag');
}

/**
 * Adds the terms to a condition. `labels` may be null where no term names a key, a member or a tag; `workspaces` are those whose
 * names the caller may see, null: all.
 * @throws ConsoleFailure for a name that no key, member or tag has, and for a value that no key has
 */
export function resolveQuery(
  terms: readonly QueryTerm[],
  condition: CallCondition,
  labels: UsageLabels | null,
  workspaces: readonly string[] | null,
): ResolvedQuery {
  let narrowed = condition;
  let idPrefix: string | null = null;
  const left: QueryTerm[] = [];
  for (const term of terms) {
    const resolved = labels === null ? term : withIds(term, labels, workspaces);
    const [only] = resolved.texts;
    const isOne = !resolved.isNot && resolved.texts.length === 1 && resolved.ranges.length === 0;
    if (isOne && resolved.field === 'id' && only?.isPrefix === true && idPrefix === null) idPrefix = only.text;
    else {
      const next = narrow(narrowed, resolved);
      if (next === null) left.push(resolved);
      else narrowed = next;
    }
  }
  return { condition: narrowed, terms: left, idPrefix };
}

const CONDITIONS = {
  model: 'model',
  provider: 'provider',
  workspace: 'workspace',
  user: 'end_user',
  session: 'session',
  protocol: 'protocol',
} as const satisfies Partial<Record<QueryField, keyof CallCondition>>;

/** Null: a condition cannot say it. */
function narrow(condition: CallCondition, { field, isNot, texts, ranges }: QueryTerm): CallCondition | null {
  if (isNot || ranges.length > 0) return null;
  if (field === 'key') {
    if (condition.keys !== null || texts.some((test) => test === null || test.isPrefix)) return null;
    return { ...condition, keys: texts.flatMap((test) => test?.text ?? []) };
  }
  const member = CONDITIONS[field as keyof typeof CONDITIONS];
  const [test] = texts;
  if (member === undefined || test === undefined || texts.length > 1 || condition[member] !== null) return null;
  if (test === null) return member === 'workspace' || member === 'protocol' ? null : { ...condition, [member]: NONE };
  if (test.isPrefix || test.text === NONE) return null;
  if (member === 'protocol' && !isProtocol(test.text)) return null;
  return { ...condition, [member]: test.text };
}

const isProtocol = (text: string): text is RecordedProtocol => (RECORDED_PROTOCOLS as readonly string[]).includes(text);

/** The same term over ids of keys. */
function withIds(term: QueryTerm, labels: UsageLabels, workspaces: readonly string[] | null): QueryTerm {
  const { field, texts } = term;
  if (field === 'tag') return withTagged(term, labels, workspaces);
  if (field !== 'key' && field !== 'member') return term;
  const names = labels.namesToChoose(workspaces).filter(({ filter }) => filter === field);
  const ids = [...new Set(texts.flatMap((test) => (test === null ? [] : idsOf(field, test, names))))];
  const keys = field === 'key' ? ids : keysOf(ids, labels);
  const isOfNone = texts.includes(null);
  if (!isOfNone) return { ...term, field: 'key', texts: keys.map(exactly) };
  if (field === 'key') throw invalid('key: found none, but every request has a key; expected the name of a key');
  // Keys without a member are those that no member owns.
  const others = [...labels.owners.keys()].filter((key) => !keys.includes(key));
  return { ...term, field: 'key', isNot: !term.isNot, texts: others.map(exactly) };
}

/** The keys that have the tag now; `none`: those without it. */
function withTagged(term: QueryTerm, labels: UsageLabels, workspaces: readonly string[] | null): QueryTerm {
  const { tag = '', isNot, texts } = term;
  const tagged = labels.tagged(tag, workspaces);
  if (tagged.size === 0) {
    const near = chooseNearName(tag, labels.tagNames(workspaces));
    throw invalid(
      `found the tag ${JSON.stringify(tag)}, expected ${near === null ? 'one that a key has' : `${near}?`}`,
    );
  }
  const values = [...new Set(tagged.values())];
  const matching = new Set(texts.flatMap((test) => (test === null ? [] : valuesOf(tag, test, values))));
  const keys = [...tagged].filter(([, value]) => matching.has(value)).map(([key]) => key);
  if (!texts.includes(null)) return { field: 'key', isNot, texts: keys.map(exactly), ranges: [] };
  // Also keys that no longer exist are without the tag.
  const others = [...tagged.keys()].filter((key) => !keys.includes(key));
  return { field: 'key', isNot: !isNot, texts: others.map(exactly), ranges: [] };
}

function valuesOf(
  tag: string,
  { text, isPrefix }: NonNullable<TextTest>,
  values: readonly string[],
): readonly string[] {
  const found = values.filter((value) => (isPrefix ? value.startsWith(text) : value === text));
  if (found.length > 0) return found;
  const near = chooseNearName(text, values);
  const hint = near === null ? `a value of this tag, such as ${values[0]}` : `${near}?`;
  throw invalid(`tag.${tag}: found ${JSON.stringify(text.slice(0, 100))}, expected ${hint}`);
}

const exactly = (text: string): TextTest => ({ text, isPrefix: false });

function keysOf(members: readonly string[], { owners }: UsageLabels): readonly string[] {
  return [...owners].filter(([, owner]) => members.includes(owner)).map(([key]) => key);
}

const ID_PREFIXES = { key: 'key_', member: 'person_' } as const;

/** Ids by name, whatever its case; by id; or by the beginning of a name. */
function idsOf(
  field: 'key' | 'member',
  { text, isPrefix }: NonNullable<TextTest>,
  names: readonly { readonly value: string; readonly label: string }[],
): readonly string[] {
  const plain = text.toLowerCase();
  const matches = (label: string) => (isPrefix ? label.startsWith(plain) : label === plain);
  const found = names.filter(({ value, label }) => value === text || matches(label.toLowerCase()));
  if (found.length > 0) return found.map(({ value }) => value);
  // The key may be deleted.
  if (!isPrefix && text.startsWith(ID_PREFIXES[field])) return [text];
  const near = chooseNearName(
    text,
    names.map(({ label }) => label),
  );
  const hint = near === null ? `the name of a ${field}` : `${near}?`;
  throw invalid(`${field}: found ${JSON.stringify(text.slice(0, 100))}, expected ${hint}`);
}

const invalid = (message: string) => new ConsoleFailure('invalid', `q: ${message}`, { member: 'q' });

/** `-cost`: by cost, the highest first. Undefined: newest first. */
export function readOrder(sort: string | undefined): CallOrder | undefined {
  if (sort === undefined) return undefined;
  const isDescending = sort.startsWith('-');
  return { by: (isDescending ? sort.slice(1) : sort) as SortField, isDescending };
}

/** The position of a page, as the cursor of the one before says. */
export function readPlace(before: string | undefined, order: CallOrder | undefined): Partial<LogQuestion> {
  if (order === undefined) return { beforeId: before ?? null };
  if (before === undefined) return { order, beforeId: null };
  const end = before.lastIndexOf('\n');
  if (end === -1) {
    throw new ConsoleFailure('invalid', 'before: found a position of another order, expected the value of next', {
      member: 'before',
    });
  }
  return { order, beforeId: null, afterPlace: { value: before.slice(0, end), id: before.slice(end + 1) } };
}

/** The same choice for readers that know no prefix of ids: it is a term like the others. */
export function withIdTerm<Choice extends Pick<ResolvedQuery, 'terms' | 'idPrefix'>>({ idPrefix, ...choice }: Choice) {
  const term: QueryTerm = { field: 'id', isNot: false, texts: [{ text: idPrefix ?? '', isPrefix: true }], ranges: [] };
  return { ...choice, terms: idPrefix === null ? choice.terms : [...choice.terms, term] };
}

export const renderPlace = ({ value, id }: CallPlace): string => `${value}\n${id}`;

/**
 * Converts a schema validator's issues to configuration problems: place, what was found, what was expected, and the
 * remedy.
 */
import { z } from 'zod';
import { chooseNearName } from '../../errors/near-name.ts';
import { type ConfigProblem, type Fault, type PathStep, quoteText, renderPath } from './config-problem.ts';
import { fileSchema } from './file-schema.ts';
import type { ReadYaml, YamlTree } from './yaml-tree.ts';

type Issue = z.core.$ZodIssue;

const KINDS: { readonly [expected: string]: Fault } = {
  object: { found: '', expected: 'a mapping', advice: 'Write its members below it, indented, or as { name: value }.' },
  record: { found: '', expected: 'a mapping', advice: 'Write one entry per name below it, indented.' },
  array: { found: '', expected: 'a list', advice: 'Write it as [first, second] or with a line `- …` for each.' },
};

/** All problems of one issue, which may name several members. */
export function explainIssue(issue: Issue, yaml: ReadYaml, source: string): ConfigProblem[] {
  const path = issue.path.filter((step) => typeof step !== 'symbol');
  const at = (place: { line: number; column: number }, where: readonly PathStep[], fault: Fault): ConfigProblem => ({
    source,
    line: place.line,
    column: place.column,
    path: renderPath(where),
    ...fault,
  });
  const value = valueAt(yaml.tree, path);
  const here = yaml.placeOf(path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const memberPath = [...path, key];
      return at(yaml.nameAt(memberPath), memberPath, explainUnknownMember(key, membersAt(path)));
    });
  }
  if (issue.code === 'invalid_union') {
    // Each union consists of a text, a mapping and maybe a list. For a mapping or a list, report the problems of its
    // content.
    const branch = typeof value === 'string' ? undefined : issue.errors[Array.isArray(value) ? 2 : 1];
    if (value === undefined || branch === undefined) {
      const { shows, ...forms } = formsAt(path[2]);
      const found = value === undefined ? 'nothing' : shows ? showFound(value, here.written) : 'a hidden value';
      return [at(here, path, { found, ...forms })];
    }
    return branch.flatMap((inner) => explainIssue({ ...inner, path: [...path, ...inner.path] }, yaml, source));
  }
  if (issue.code === 'invalid_key') {
    const expected = issue.issues[0]?.message ?? 'another name';
    const found = quoteText(String(path.at(-1)));
    return [at(yaml.nameAt(path), path, { found, expected, advice: 'Choose another name.' })];
  }
  if (value === undefined) {
    const expected = issue.code === 'invalid_type' ? (KINDS[issue.expected]?.expected ?? issue.message) : issue.message;
    return [at(here, path, { found: 'nothing', expected, advice: `Add the member ${path.at(-1) ?? ''}.` })];
  }
  return [at(here, path, explainValue(issue, value, here.written))];
}

function explainValue(issue: Issue, value: YamlTree, written: string | null): Fault {
  if (issue.code === 'custom') {
    const { found, expected, advice, secret } = issue.params ?? {};
    const shown = secret === true ? 'a hidden value' : showFound(value, written);
    return { found: String(found ?? shown), expected: String(expected), advice: String(advice) };
  }
  if (issue.code === 'invalid_type') {
    const kind = KINDS[issue.expected];
    if (kind === undefined) {
      return { found: showKind(value), expected: issue.message, advice: 'Write a single value.' };
    }
    return { ...kind, found: showKind(value) };
  }
  if (issue.code === 'too_small') {
    return { found: 'an empty list', expected: 'at least one item', advice: 'Add one, or remove the member.' };
  }
  return { found: showKind(value), expected: issue.message, advice: 'Correct it.' };
}

function explainUnknownMember(name: string, known: readonly string[]): Fault {
  const found = `the unknown member ${quoteText(name)}`;
  const near = chooseNearName(name, known);
  const advice = near === null ? 'This version does not know it: remove it.' : `Did you mean ${near}?`;
  const expected =
    known.length > 12 ? `one of the ${known.length} members in docs/configuration.md` : `one of ${known.join(', ')}`;
  return { found, expected, advice };
}

/** By the member of a model or provider. */
const FORMS = {
  alias: {
    shows: true,
    expected: 'a model name of 1 to 256 characters without control characters, or a mapping with name and protocols',
    advice: 'Write claude-own, or { name: claude-own, protocols: [messages] }.',
  },
  credentials: {
    shows: false,
    expected: 'a word, a path or a text, or a mapping of secrets, or a list of such mappings, each with a name',
    advice: 'Correct it.',
  },
  price: {
    shows: true,
    expected: 'free, or a mapping with input and output, or a list of such mappings, each but one with from',
    advice: 'Write { input: 0.25, output: 2.00 } (USD per million tokens), or free.',
  },
} as const;

function formsAt(member: PathStep | undefined): (typeof FORMS)[keyof typeof FORMS] {
  return member === 'alias' || member === 'credentials' ? FORMS[member] : FORMS.price;
}

/** A scalar as written. A value that came from the environment is shown only as its expression. */
function showFound(value: YamlTree, written: string | null): string {
  if (typeof value !== 'string') return showKind(value);
  const text = written ?? value;
  return text.includes('${') ? `the value of ${quoteText(text)}` : quoteText(text);
}

/** Omits the content: where a mapping is expected, a text may be a credential. */
function showKind(value: YamlTree): string {
  if (typeof value === 'string') return 'a text';
  return Array.isArray(value) ? 'a list' : 'a mapping';
}

function valueAt(tree: YamlTree | null, path: readonly PathStep[]): YamlTree | undefined {
  let value: YamlTree | undefined = tree ?? undefined;
  for (const step of path) {
    if (typeof value !== 'object') return undefined;
    if (Array.isArray(value)) value = typeof step === 'number' ? value[step] : undefined;
    else value = typeof step === 'string' ? value[step] : undefined;
  }
  return value;
}

/** The member names allowed in the mapping at this path. */
function membersAt(path: readonly PathStep[]): readonly string[] {
  let schema: unknown = fileSchema;
  for (const step of path) {
    const holder = unwrap(schema, typeof step === 'number' ? z.ZodArray : z.ZodObject);
    if (holder instanceof z.ZodObject) schema = holder.shape[step];
    else if (holder instanceof z.ZodRecord) schema = holder.valueType;
    else if (holder instanceof z.ZodArray) schema = holder.element;
  }
  const object = unwrap(schema, z.ZodObject);
  return object instanceof z.ZodObject ? Object.keys(object.shape) : [];
}

/** The option of a union that has the written form. */
function unwrap(schema: unknown, form: typeof z.ZodObject | typeof z.ZodArray): unknown {
  if (schema instanceof z.ZodOptional) return unwrap(schema.unwrap(), form);
  if (schema instanceof z.ZodUnion)
    return unwrap(
      schema.options.find((option) => option instanceof form),
      form,
    );
  return schema;
}

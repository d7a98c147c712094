/**
 * Parses the text of a YAML file into a tree of mappings, lists and texts with their positions, within fixed limits of
 * size, depth and number. Knows no member of the configuration; every scalar stays the text that was written.
 */
import {
  type Alias,
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import { type ConfigProblem, type Fault, type PathStep, quoteText, renderPath } from './config-problem.ts';

export type YamlTree = string | YamlTree[] | { [name: string]: YamlTree };

/**
 * The position of a value, both numbers from 1. `written` is a scalar in a printable form: expressions instead of their
 * values.
 */
interface YamlPlace {
  readonly line: number;
  readonly column: number;
  readonly written: string | null;
}

export interface ReadYaml {
  /** Null: the file has no content. */
  readonly tree: YamlTree | null;
  readonly problems: readonly ConfigProblem[];
  /** The position of a value, else of its parent. */
  placeOf(path: readonly PathStep[]): YamlPlace;
  /** The position of a member's name, else of the mapping that would contain it. */
  nameAt(path: readonly PathStep[]): YamlPlace;
}

const DEPTH_MAX = 16;
const VALUES_MAX = 50_000;
const ALIASES_MAX = 100;
const FIRST_PLACE: YamlPlace = { line: 1, column: 1, written: null };

/** Where a node begins in the text; yaml gives [start, end of value, end of node]. */
type Ranged = { readonly range?: readonly [number, number, number] | null | undefined };

class TooMuch extends Error {}

/**
 * Reads one document of YAML 1.2. Anchors and aliases are allowed within limits; tags, merge keys, duplicate names and
 * names that are not text are problems. A value that is missing, or whose variable is unset, is a problem and is
 * omitted from the tree.
 */
export function readYamlTree(text: string, source: string, environment: Environment): ReadYaml {
  const lines = new LineCounter();
  const problems: ConfigProblem[] = [];
  const values = new Map<string, YamlPlace>();
  const names = new Map<string, YamlPlace>();
  const placeOf = (path: readonly PathStep[]) => nearest(values, path);
  const nameAt = (path: readonly PathStep[]) => names.get(renderPath(path)) ?? nearest(values, path);
  const document = parseDocument(hideExpressions(text), {
    lineCounter: lines,
    schema: 'failsafe',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
  });
  let valuesLeft = VALUES_MAX;
  let aliasesLeft = ALIASES_MAX;

  function placeAt(node: Ranged | null | undefined, written: string | null = null): YamlPlace {
    const { line, col } = lines.linePos(node?.range?.[0] ?? 0);
    return { line: Math.max(1, line), column: Math.max(1, col), written };
  }

  function report(path: readonly PathStep[], place: YamlPlace, fault: Fault) {
    problems.push({ source, line: place.line, column: place.column, path: renderPath(path), ...fault });
  }

  function readNode(node: unknown, path: readonly PathStep[], holder: YamlPlace): YamlTree | undefined {
    if (--valuesLeft < 0 || path.length > DEPTH_MAX) throw new TooMuch();
    const ranged = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node : null;
    const place = ranged === null ? holder : placeAt(ranged, isScalar(node) ? writtenText(node.value) : null);
    values.set(renderPath(path), place);
    if (isAlias(node)) return readAlias(node, document, path, place);
    if (ranged?.tag !== undefined) {
      report(path, place, TAGGED);
      return undefined;
    }
    if (isMap(node)) return readMap(node, path);
    if (isSeq(node)) {
      // An item with a problem stays in the list, so that the numbers of later items are right.
      return node.items.map((item, index) => readNode(item, [...path, index], place) ?? '');
    }
    const plain = !isScalar(node) || node.type === 'PLAIN';
    const raw = isScalar(node) ? String(node.value) : '';
    if (plain && (raw === '' || raw === '~' || raw === 'null')) {
      report(path, place, NO_VALUE);
      return undefined;
    }
    const substitution = substituteEnvironment(showExpressions(raw), environment);
    if ('found' in substitution) {
      report(path, place, substitution);
      return undefined;
    }
    return substitution.text;
  }

  function readAlias(alias: Alias, holder: Document, path: readonly PathStep[], place: YamlPlace) {
    if (--aliasesLeft < 0) throw new TooMuch();
    const target = alias.resolve(holder);
    if (target !== undefined) return readNode(target, path, place);
    report(path, place, NO_ANCHOR);
    return undefined;
  }

  function readMap(map: YAMLMap, path: readonly PathStep[]): YamlTree {
    const members: { [name: string]: YamlTree } = Object.create(null);
    const seen = new Map<string, YamlPlace>();
    for (const { key, value } of map.items) {
      const keyPlace = placeAt(isScalar(key) || isMap(key) || isSeq(key) || isAlias(key) ? key : map);
      const name = isScalar(key) && typeof key.value === 'string' ? showExpressions(key.value) : null;
      const memberPath = [...path, name ?? '?'];
      if (name === null || name === '') report(path, keyPlace, NAME_NOT_TEXT);
      else if (name === '<<') report(memberPath, keyPlace, MERGED);
      else if (name === '__proto__') report(memberPath, keyPlace, RESERVED_NAME);
      else if (seen.has(name)) report(memberPath, keyPlace, twice(name, seen.get(name)));
      else {
        seen.set(name, keyPlace);
        names.set(renderPath(memberPath), keyPlace);
        const member = readNode(value, memberPath, keyPlace);
        if (member !== undefined) members[name] = member;
      }
    }
    return members;
  }

  for (const error of [...document.errors, ...document.warnings]) {
    if (error.code === 'TAG_RESOLVE_FAILED') continue;
    const { line, col } = lines.linePos(error.pos[0]);
    report([], { line, column: col, written: null }, describeYamlError(error.code));
    break;
  }
  let tree: YamlTree | null = null;
  if (problems.length === 0 && document.contents !== null && !isBlank(document.contents)) {
    try {
      tree = readNode(document.contents, [], FIRST_PLACE) ?? null;
    } catch (error) {
      if (!(error instanceof TooMuch)) throw error;
      report([], FIRST_PLACE, TOO_MUCH);
    }
  }
  return { tree, problems, placeOf, nameAt };
}

function nearest(places: ReadonlyMap<string, YamlPlace>, path: readonly PathStep[]): YamlPlace {
  for (let length = path.length; length >= 0; length--) {
    const place = places.get(renderPath(path.slice(0, length)));
    if (place !== undefined) return place;
  }
  return FIRST_PLACE;
}

function isBlank(node: unknown): boolean {
  return isScalar(node) && node.type === 'PLAIN' && node.value === '';
}

function writtenText(value: unknown): string {
  return showExpressions(String(value));
}

function twice(name: string, first: YamlPlace | undefined) {
  return {
    found: `the member ${quoteText(name)} twice`,
    expected: `each member once; it is already on line ${first?.line ?? 1}`,
    advice: 'Remove one of them.',
  };
}

const TAGGED = { found: 'a tag (`!…`)', expected: 'a plain value', advice: 'Remove the tag.' };
const NO_VALUE = { found: 'no value', expected: 'a value after the colon', advice: 'Write one, or remove the member.' };
const NO_ANCHOR = {
  found: 'an alias (`*…`) without its anchor',
  expected: 'an anchor (`&…`) of that name above it',
  advice: 'Correct the name, or write the value out; text that begins with * needs quotes.',
};
const NAME_NOT_TEXT = {
  found: 'a member name that is not text',
  expected: 'a name followed by a colon',
  advice: 'Give the member a name of plain text.',
};
const MERGED = {
  found: 'a merge key (`<<`)',
  expected: 'members written out',
  advice: 'Repeat the members, or use an alias for a whole value.',
};
const RESERVED_NAME = { found: 'the name `__proto__`', expected: 'another name', advice: 'Choose another name.' };
const TOO_MUCH = {
  found: `more than ${DEPTH_MAX} levels, ${VALUES_MAX} values or ${ALIASES_MAX} aliases, or an alias inside its own anchor`,
  expected: 'a configuration within these limits',
  advice: 'Make the file smaller, or write aliases out.',
};

const QUOTE_IT = 'Put text with special characters into quotes.';

const FAULTS: { readonly [code in ErrorCode]?: Fault } = {
  TAB_AS_INDENT: {
    found: 'a tab as indentation',
    expected: 'spaces: YAML does not allow tabs there',
    advice: 'Replace the tab by spaces.',
  },
  BAD_INDENT: {
    found: 'an indentation that fits nothing above it',
    expected: 'the same number of spaces as the other members of the mapping or items of the list',
    advice: 'Align it.',
  },
  BLOCK_AS_IMPLICIT_KEY: {
    found: 'a second `: ` on one line, or a mapping where a name belongs',
    expected: 'one `name: value` per line',
    advice: QUOTE_IT,
  },
  MISSING_CHAR: {
    found: 'incomplete YAML: a quote, bracket, brace, comma or colon is missing',
    expected: 'complete YAML',
    advice: 'Look at this line and the one above it for what was opened and not closed.',
  },
  MULTIPLE_DOCS: {
    found: 'a second document (`---`)',
    expected: 'one document',
    advice: 'Remove the `---` and join the two.',
  },
  BAD_ALIAS: {
    found: 'an invalid alias (`*…`)',
    expected: '`*` and the name of an anchor',
    advice: 'Text that begins with * needs quotes.',
  },
  BAD_SCALAR_START: {
    found: 'a character that cannot begin a plain text (such as @ or `)',
    expected: 'a value',
    advice: QUOTE_IT,
  },
  BAD_DQ_ESCAPE: {
    found: 'a backslash escape that YAML does not know',
    expected: 'an escape such as \\n or \\u0041 within double quotes',
    advice: 'Double the backslash, or use single quotes.',
  },
  DUPLICATE_KEY: { found: 'a duplicate member', expected: 'each member once', advice: 'Remove one of them.' },
};

const OTHER: Fault = {
  found: 'invalid YAML',
  expected: '`name: value` lines, indented by spaces',
  advice: `Compare the line with the documentation. ${QUOTE_IT}`,
};

/** Describes a parser error by its code alone. */
function describeYamlError(code: ErrorCode): Fault {
  return FAULTS[code] ?? OTHER;
}

/**
 * Values for `${NAME}` and `${NAME:-default}` in a configuration file. Such expressions are hidden from the YAML parser
 * and replaced afterwards, so that a value can never become YAML.
 */
export type Environment = { readonly [name: string]: string | undefined };

/** The substituted value, or the problem with an expression in the text. */
type Substitution =
  | { readonly text: string; readonly substituted: boolean }
  | { readonly found: string; readonly expected: string; readonly advice: string };

/** `$${…}` escapes the literal characters `${…}`. */
const EXPRESSION = /\$?\$\{[^}\n]*\}/g;
const PLACEHOLDER_BASE = 0xe000;
const PLACEHOLDERS = /[\ue000-\ue07f]/g;

/** True if a file contains characters that hiding needs for itself (of the private-use area). */
export function hasPlaceholders(text: string): boolean {
  return text.search(PLACEHOLDERS) !== -1;
}

/**
 * Replaces every expression with private-use characters, one for one: in `{ api_key: ${KEY} }` the braces would
 * otherwise be YAML's own. Positions do not change.
 */
export function hideExpressions(text: string): string {
  return text.replace(EXPRESSION, (expression) =>
    expression.replace(/[\0-\x7f]/g, (character) => String.fromCharCode(PLACEHOLDER_BASE + character.charCodeAt(0))),
  );
}

/** The inverse of `hideExpressions`, for the whole text or any part of it. */
export function showExpressions(text: string): string {
  return text.replace(PLACEHOLDERS, (character) => String.fromCharCode(character.charCodeAt(0) - PLACEHOLDER_BASE));
}

/**
 * Replaces each expression with the environment's value. Inserted text is not expanded again. A default applies if the
 * variable is unset or empty, as in a shell.
 */
export function substituteEnvironment(text: string, environment: Environment): Substitution {
  let value = '';
  let end = 0;
  for (const match of text.matchAll(EXPRESSION)) {
    const expression = match[0];
    const before = text.slice(end, match.index);
    if (before.includes('${')) return unclosed();
    value += before;
    end = match.index + expression.length;
    if (expression.startsWith('$$')) {
      value += expression.slice(1);
      continue;
    }
    const [, name, fallback] = /^\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?\}$/s.exec(expression) ?? [];
    if (name === undefined) return malformed();
    const set = Object.hasOwn(environment, name) ? environment[name] : undefined;
    const chosen = fallback === undefined ? set : set || fallback;
    if (chosen === undefined) return unset(name);
    value += chosen;
  }
  const rest = text.slice(end);
  if (rest.includes('${')) return unclosed();
  return { text: value + rest, substituted: end > 0 };
}

function unset(name: string): Substitution {
  return {
    found: `\${${name}}, but there is no environment variable ${name}`,
    expected: 'a variable that is set',
    advice: `Set ${name}, or give a default: \${${name}:-default}.`,
  };
}

function malformed(): Substitution {
  return {
    found: `a \${…} without a variable name`,
    expected: `\${NAME} or \${NAME:-default}, the name made of letters, digits and _`,
    advice: `Correct the name; for the characters themselves write $\${…}.`,
  };
}

function unclosed(): Substitution {
  return {
    found: `a \${ without a closing }`,
    expected: `\${NAME} or \${NAME:-default} on one line`,
    advice: `Close it; for the characters themselves write $\${…}.`,
  };
}

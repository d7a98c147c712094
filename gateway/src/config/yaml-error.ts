/**
 * Owns our words for what the YAML parser refuses. Its own messages are not passed on: they quote the file, and what
 * they quote may be a credential.
 */
import type { ErrorCode } from 'yaml';
import type { Fault } from './config-problem.ts';

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
    expected: 'one `name: value` to a line',
    advice: QUOTE_IT,
  },
  MISSING_CHAR: {
    found: 'something unfinished: a quote, bracket, brace, comma or colon is missing',
    expected: 'complete YAML',
    advice: 'Look at this line and the one above it for what was opened and not closed.',
  },
  MULTIPLE_DOCS: {
    found: 'a second document (`---`)',
    expected: 'one document',
    advice: 'Remove the `---` and join the two.',
  },
  BAD_ALIAS: {
    found: 'an alias (`*…`) that is not one',
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
  DUPLICATE_KEY: { found: 'a member a second time', expected: 'each member once', advice: 'Remove one of the two.' },
};

const OTHER: Fault = {
  found: 'something that is not YAML',
  expected: '`name: value` lines, indented by spaces',
  advice: `Compare the line with the documentation. ${QUOTE_IT}`,
};

/** What to say of a parser's error, by its code alone. */
export function describeYamlError(code: ErrorCode): Fault {
  return FAULTS[code] ?? OTHER;
}

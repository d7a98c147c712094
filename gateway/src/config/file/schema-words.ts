/** Words the faults that a schema finds in JSON from outside, in place of the schema library's own words. */
import type { z } from 'zod';

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'a time in UTC such as 2026-01-31T12:00:00Z',
  uuid: 'a UUID',
  url: 'an address such as https://api.example.com',
};

/** For `safeParse(given, { error: wordIssue })`. Words of the schema itself hold over these. */
export function wordIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return `${issue.input === undefined ? 'found nothing, ' : ''}expected ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `expected ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return `expected ${FORMATS[issue.format] ?? 'another form'}`;
    case 'too_small':
      return `${showSize(issue.input)}, expected at least ${issue.minimum}`;
    case 'too_big':
      return `${showSize(issue.input)}, expected at most ${issue.maximum}`;
    case 'unrecognized_keys':
      return `found the unknown member ${issue.keys.join(', ')}; remove it`;
    case 'invalid_key':
      return issue.issues[0]?.message;
    case 'invalid_union':
      return issue.errors.map(([fault]) => fault?.message).join('; or ');
    default:
      return undefined;
  }
}

function showSize(input: unknown): string {
  if (typeof input === 'string') return input === '' ? 'found nothing' : `found ${input.length} characters`;
  return `found ${Array.isArray(input) ? `${input.length} items` : String(input)}`;
}

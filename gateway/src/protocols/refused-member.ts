/**
 * Finds the request member that an upstream's refusal names, by `error.param` or by its message. Only names of closed
 * lists count, so that no upstream text can make the gateway omit anything else.
 */

interface RefusalWords {
  readonly message: string;
  /** `error.code`, else `error.type`. */
  readonly code: string | null;
  /** `error.param`, a path in the request that was sent. */
  readonly param: string | null;
}

export interface RefusedMember {
  readonly member: string;
  /** `unknown`: the upstream does not accept the member at all. `value`: it refuses this value or combination. */
  readonly why: 'unknown' | 'value';
}

/** If one of these is named first, the search ends: the refusal is about it. */
const OTHERS: ReadonlySet<string> = new Set([
  'messages',
  'model',
  'tools',
  'tool_choice',
  'response_format',
  'output_config',
  'store',
  'system',
  'stream',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'safety_settings',
  'safety_identifier',
]);
/** Other names for members. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['include_usage', 'stream_options'],
  ['effort', 'reasoning_effort'],
]);
/** Words next to which a name that is also an English word means a member. */
const BEFORE =
  /(?:parameters?|arguments?|fields?|members?|supports?|unsupported|unknown|unrecognized|unexpected)\W{1,3}$/i;
const AFTER = /^\W{0,2}\s(?:is|are|was|parameter|argument|field)\b/i;

const UNKNOWN_CODES: ReadonlySet<string> = new Set(['unknown_parameter', 'unsupported_parameter', 'extra_forbidden']);
const VALUE_CODES: ReadonlySet<string> = new Set(['unsupported_value', 'invalid_value', 'invalid_type']);
const UNKNOWN_WORDS =
  /\b(?:unknown|unrecogni[sz]ed|unexpected|unsupported|deprecated|not supported|not permitted|not allowed|does(?: not|n't) support|extra inputs)\b/i;
const VALUE_WORDS =
  /\b(?:unsupported value|supported values|only the default|must be|levels?|both|invalid|instead of|when)\b/i;

/** `droppable`: the members that may be omitted. Null: the refusal names none of them, or another member first. */
export function findRefusedMember(error: RefusalWords, droppable: ReadonlySet<string>): RefusedMember | null {
  const member = error.param === null ? namedIn(error.message, droppable) : memberOf(error.param, droppable);
  return member === null ? null : { member, why: isUnknown(error) ? 'unknown' : 'value' };
}

/**
 * Anthropic's limits of what it can hold an answer to: 20 strict tools, 24 optional and 16 nullable members in all schemas
 * of a request, and what its compiler takes. https://github.com/elizaOS/eliza/issues/16499 and
 * https://github.com/anthropics/anthropic-sdk-typescript/issues/885, read 2026-11-29.
 */
const SCHEMA_LIMITS =
  /\btoo many (?:strict tools|optional parameters|parameters with union types)|\bcompiled grammar is too large|\bschema is too complex\b|\bCircular reference detected in schema\b/i;

/** Whether the upstream refuses to hold an answer to the schemas of the request, and takes it without. */
export function refusesSchemas({ message }: Pick<RefusalWords, 'message'>): boolean {
  return SCHEMA_LIMITS.test(message);
}

/** The top-level member of a path, or the one nested member that may be omitted on its own. */
function memberOf(path: string, droppable: ReadonlySet<string>): string | null {
  const [head = '', next = ''] = path.split(/[.[\]]+/, 3);
  const name = head === 'output_config' && next === 'effort' ? 'effort' : head;
  return known(name, droppable);
}

function known(name: string, droppable: ReadonlySet<string>): string | null {
  if (droppable.has(name)) return name;
  const alias = ALIASES.get(name);
  return alias !== undefined && droppable.has(alias) ? alias : null;
}

/** The first member that the message names. */
function namedIn(message: string, droppable: ReadonlySet<string>): string | null {
  const words = /[A-Za-z_][A-Za-z0-9_]*/g;
  for (let found = words.exec(message); found !== null; found = words.exec(message)) {
    const [word] = found;
    // xAI writes `reasoningEffort`.
    const name = word.replace(/[A-Z]/g, (letter, at: number) => (at === 0 ? letter : `_${letter.toLowerCase()}`));
    const member = known(name, droppable);
    const isOther = member === null && OTHERS.has(name);
    if (member === null && !isOther) {
      // The refusal is about a member that the gateway may not omit.
      if (name.includes('_') && isQuoted(message, found.index, found.index + word.length)) return null;
      continue;
    }
    if (!isName(name, message, found.index, found.index + word.length)) continue;
    if (name === 'output_config' && message.startsWith('.effort', found.index + word.length)) continue;
    return member;
  }
  return null;
}

function isQuoted(message: string, start: number, end: number): boolean {
  return /['"`]/.test(message[start - 1] ?? '') && /['"`]/.test(message[end] ?? '');
}

function isName(name: string, message: string, start: number, end: number): boolean {
  if (name.includes('_')) return true;
  const around = `${message[start - 1] ?? ''}${message[end] ?? ''}`;
  if (/['"`:.[\]]/.test(around)) return true;
  return (
    !OTHERS.has(name) &&
    (BEFORE.test(message.slice(Math.max(0, start - 20), start)) || AFTER.test(message.slice(end, end + 20)))
  );
}

function isUnknown({ message, code }: RefusalWords): boolean {
  if (code !== null && UNKNOWN_CODES.has(code)) return true;
  if (code !== null && VALUE_CODES.has(code)) return false;
  return UNKNOWN_WORDS.test(message) && !VALUE_WORDS.test(message);
}

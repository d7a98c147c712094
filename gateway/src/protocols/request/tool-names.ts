/**
 * Replaces names of tools, and call ids, that upstream would refuse with aliases. An alias is the
 * same in every request, so nothing is stored; names are restored with the map of the answer's own request.
 */
import { createHash } from 'node:crypto';
import type { JsonText } from '../../generation/part.ts';

const HASH_CHARS = 8;
const GAP = '_';

/** The client's names for the tool calls of an answer. */
export interface ToolNames {
  /** From upstream's name to the client's; a name that is not in it is unchanged. */
  readonly restored: ReadonlyMap<string, string>;
  /** Client's names of custom (free-text) tools that were sent as functions with one argument, `input`. */
  readonly custom: ReadonlySet<string>;
  /** By the client's name of a tool: gives the arguments of a call their own names. Absent: none has another. */
  readonly ownArguments?: ReadonlyMap<string, (json: JsonText) => JsonText>;
}

/** The text if it is at most `charsMax` characters of `[A-Za-z0-9_-]`, else its beginning and a hash of all of it. */
export function aliasText(text: string, charsMax: number): string {
  if (text.length <= charsMax && /^[A-Za-z0-9_-]+$/.test(text)) return text;
  const prefix = text.replace(/[^A-Za-z0-9_-]/g, GAP).slice(0, charsMax - HASH_CHARS - GAP.length);
  return `${prefix}${GAP}${hashOf(text).slice(0, HASH_CHARS)}`;
}

/** The id if it is nine letters and digits, else nine of its hash: Mistral's only format (wire reference D.3). */
export function shortToolCallId(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : hashOf(id).slice(0, 9);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Owns names of tools and ids of calls that the other side refuses: each gets an alias that is the same in every request,
 * so that nothing has to be remembered; names are restored by the request that the answer belongs to.
 */
import { createHash } from 'node:crypto';

const HASH_CHARS = 8;
const GAP = '_';

/** What the answer's tool calls are called to the client. */
export interface ToolNames {
  /** From upstream's name to the client's; a name that is not in it is the same on both sides. */
  readonly restored: ReadonlyMap<string, string>;
  /** Client's names of tools that take free text and were sent as functions of one argument, `input`. */
  readonly custom: ReadonlySet<string>;
}

/** A name or an id as it is if it has at most `charsMax` characters of `[A-Za-z0-9_-]`, else its beginning and a hash of all of it. */
export function aliasText(text: string, charsMax: number): string {
  if (text.length <= charsMax && /^[A-Za-z0-9_-]+$/.test(text)) return text;
  const kept = text.replace(/[^A-Za-z0-9_-]/g, GAP).slice(0, charsMax - HASH_CHARS - GAP.length);
  return `${kept}${GAP}${hashOf(text).slice(0, HASH_CHARS)}`;
}

/** The id if it is exactly nine letters and digits, else nine of a hash of it. Mistral takes nothing else (wire reference D.3). */
export function aliasNine(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : hashOf(id).slice(0, 9);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Reads and writes the header that names a client's betas of messages, and names those that a host does not get. */
import { startTranslationNotes } from '../../protocols/request/translation-notes.ts';
import type { HeaderLine } from '../provider.ts';

const HEADER = 'anthropic-beta';

export function readBetas(headers: readonly HeaderLine[]): readonly string[] {
  const lines = headers.flatMap(([name, value]) => (name.toLowerCase() === HEADER ? value.split(',') : []));
  return lines.map((beta) => beta.trim()).filter((beta) => beta !== '');
}

/** The name of a beta that is dropped. */
export function memberOf(beta: string): string {
  return `${HEADER}.${beta}`;
}

/** The members, each once. Throws `invalid_request` for the first of them if the caller's key is strict. */
export function dropMembers(members: readonly string[], isStrict: boolean | undefined): readonly string[] {
  const notes = startTranslationNotes(isStrict === true);
  for (const member of members) notes.drop(member, 'the host of this model does not take it');
  return notes.dropped;
}

/** The headers with these betas instead of the client's. */
export function withBetas(headers: readonly HeaderLine[], betas: readonly string[]): readonly HeaderLine[] {
  const others = headers.filter(([name]) => name.toLowerCase() !== HEADER);
  return betas.length === 0 ? others : [...others, [HEADER, betas.join(',')]];
}

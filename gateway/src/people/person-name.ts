/** Makes names of users from other services plain, so that they cannot add lines to emails or reverse lists. */
import { HIDDEN_IN_NAME } from '../lib/hidden-characters.ts';

export const NAME_CHARACTERS_MAX = 100;

/** A name from another service, as a user could have given it here; empty: nothing of it is left. */
export function toPlainName(name: string): string {
  return name.replaceAll(HIDDEN_IN_NAME, ' ').trim().slice(0, NAME_CHARACTERS_MAX).toWellFormed();
}

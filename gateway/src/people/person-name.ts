/** Tells names that would disturb emails and lists: with lines of their own, or text that is invisible or reversed. */

/** Some scripts need U+200C and U+200D. */
const DISTURBING = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;
export const NAME_CHARACTERS_MAX = 100;

export function isDisturbing(name: string): boolean {
  return name.search(DISTURBING) !== -1;
}

/** A name from another service, as a user could have given it here; empty: nothing of it is left. */
export function toPlainName(name: string): string {
  return name.replaceAll(DISTURBING, ' ').trim().slice(0, NAME_CHARACTERS_MAX).toWellFormed();
}

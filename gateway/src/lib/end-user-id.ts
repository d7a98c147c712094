/** Brings the id that a caller gives an end user into the one form in which ids are compared, kept and limited. */

const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/;
/** Zero-width and other characters that do not show. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** NFKC, without characters that do not show and without spaces around; null: nothing is left. */
export function normalizeEndUser(id: string): string | null {
  if (PLAIN.test(id)) return id;
  return id.normalize('NFKC').replace(INVISIBLE, '').trim() || null;
}

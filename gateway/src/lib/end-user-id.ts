/** Normalizes a client's end-user id to the form in which ids are compared, stored and limited. */

const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/;
/** Zero-width and other invisible characters. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** NFKC, without invisible characters and surrounding spaces; null: nothing is left. */
export function normalizeEndUser(id: string): string | null {
  if (PLAIN.test(id)) return id;
  return id.normalize('NFKC').replace(INVISIBLE, '').trim() || null;
}

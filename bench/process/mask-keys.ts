/** Masks API keys in process output that the bench shows. */

/** Replaces every Tollgate key in the text, whole or cut off, by `tg_[masked]`. */
export function maskKeys(text: string): string {
  return text.replace(/tg_[0-9A-Za-z]{8,}/g, 'tg_[masked]');
}

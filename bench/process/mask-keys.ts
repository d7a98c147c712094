/** Owns the masking of API keys in what the bench shows of a process's output. */

/** The text with every Tollgate key, whole or cut, replaced by `tg_[masked]`. */
export function maskKeys(text: string): string {
  return text.replace(/tg_[0-9A-Za-z]{8,}/g, 'tg_[masked]');
}

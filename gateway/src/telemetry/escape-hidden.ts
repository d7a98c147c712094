/** Escapes what JSON leaves as it is and a terminal or a reader of lines does not, such as U+0085 or U+202E. */
import { HIDDEN } from '../lib/hidden-characters.ts';

/** `json` has no line breaks. It stands for the same value afterwards. */
export function escapeHidden(json: string): string {
  return json.replace(HIDDEN, (found) => {
    let escaped = '';
    for (let at = 0; at < found.length; at++) escaped += `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`;
    return escaped;
  });
}

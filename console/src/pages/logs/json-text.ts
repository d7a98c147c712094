/** Owns making bodies readable: JSON with indents where it is JSON, each event of a stream where it is one. Always text. */

/** JSON with an indent of two; anything else as it came. Numbers too long for a double would change: such text stays as it is. */
export function readableText(text: string): string {
  if (!/^\s*[[{]/.test(text) || /\d{16,}/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The events of a stream, each as it came. Null: it is no event stream. */
export function streamEvents(text: string): readonly string[] | null {
  if (!/^(event|data|id|retry|):/m.test(text.slice(0, 200)) || /^\s*[[{]/.test(text)) return null;
  return text.split(/\r?\n\r?\n/).filter((event) => event.trim() !== '');
}

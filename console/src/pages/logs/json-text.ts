/** Makes bodies readable: indents JSON, splits event streams into events. The result is always text. */

/** Indents JSON by two; other text is unchanged. So is JSON with numbers too long for a double, which would change. */
export function readableText(text: string): string {
  if (!/^\s*[[{]/.test(text) || /\d{16,}/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The events of a stream, unchanged. Null when the text is not an event stream. */
export function streamEvents(text: string): readonly string[] | null {
  if (!/^(event|data|id|retry|):/m.test(text.slice(0, 200)) || /^\s*[[{]/.test(text)) return null;
  return text.split(/\r?\n\r?\n/).filter((event) => event.trim() !== '');
}

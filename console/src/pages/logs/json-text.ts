/** Reads stored bodies as JSON or as an event stream, without changing a number or a byte of them. */

/** Indents JSON by two; other text is unchanged. So is JSON with numbers too long for a double, which would change. */
export function readableText(text: string): string {
  const value = exactJson(text);
  return value === null ? text : JSON.stringify(value, null, 2);
}

/** The members of a JSON object. Null for other text, and where a number is too long for a double. */
export function exactMembers(text: string): Readonly<Record<string, unknown>> | null {
  const value = exactJson(text);
  return value === null || Array.isArray(value) ? null : (value as Readonly<Record<string, unknown>>);
}

const STRINGS = /"(?:[^"\\]|\\.)*"/g;

/** The object or list that a text is. Null for other text, and where a number is too long for a double. */
function exactJson(text: string): object | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    const value: object = JSON.parse(text);
    return /\d{16,}/.test(text.replace(STRINGS, '')) ? null : value;
  } catch {
    return null;
  }
}

/** The events of a stream, unchanged. Null when the text is not an event stream. */
export function streamEvents(text: string): readonly string[] | null {
  if (!/^(event|data|id|retry|):/m.test(text.slice(0, 200)) || /^\s*[[{]/.test(text)) return null;
  return text.split(/\r?\n\r?\n/).filter((event) => event.trim() !== '');
}

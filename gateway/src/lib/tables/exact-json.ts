/** Parses JSON with every number as the text that was written, so that no amount passes through a float. */

export type ExactJson = string | boolean | null | readonly ExactJson[] | { readonly [member: string]: ExactJson };

/** A string, or a number outside of strings. */
const TOKEN = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** @throws SyntaxError where the text is not JSON; its message is safe to show. */
export function parseExactJson(text: string): ExactJson {
  try {
    return JSON.parse(text.replace(TOKEN, (token) => (token.startsWith('"') ? token : `"${token}"`))) as ExactJson;
  } catch (fault) {
    throw new SyntaxError(`not valid JSON: ${fault instanceof Error ? fault.message.slice(0, 200) : 'unreadable'}`);
  }
}

export function isExactObject(value: ExactJson | undefined): value is { readonly [member: string]: ExactJson } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

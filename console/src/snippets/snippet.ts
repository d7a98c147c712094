/** Defines snippets: how a client calls the gateway, filled with address, model and key. */

export interface Fill {
  /** The gateway's public address. */
  readonly url: string;
  readonly model: string;
  readonly key: string;
}

export interface SnippetPart {
  /** Where the text goes: a file name, or "Shell". */
  readonly what: string;
  readonly text: string;
}

export interface Snippet {
  readonly id: string;
  readonly name: string;
  /** Additional information for the reader; null: none. */
  readonly note: string | null;
  parts(fill: Fill): readonly SnippetPart[];
}

/** The address without `/v1` and trailing slash, as clients of the messages format expect it. */
export function rootUrl(url: string): string {
  return url.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** The address with `/v1`, as clients of the chat format expect it. */
export function versionUrl(url: string): string {
  return `${rootUrl(url)}/v1`;
}

/** Quotes any text for a POSIX shell. */
export function shellText(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Quotes text for JSON, JavaScript, Python and TOML: all four accept these escapes. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** The line that exports the key as an environment variable, so that no source file contains it. */
export function exportKey({ key }: Fill): SnippetPart {
  return { what: 'Shell', text: `export TOLLGATE_KEY=${shellText(key)}` };
}

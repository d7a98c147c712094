/** Owns what a snippet is: how one client calls the gateway, filled with address, model and key. Sends nothing. */

export interface Fill {
  /** The gateway's public address. */
  readonly url: string;
  readonly model: string;
  readonly key: string;
}

export interface SnippetPart {
  /** Where it goes: a file's name, "in a shell". */
  readonly what: string;
  readonly text: string;
}

export interface Snippet {
  readonly id: string;
  readonly name: string;
  /** What the reader must know; null: nothing more. */
  readonly note: string | null;
  parts(fill: Fill): readonly SnippetPart[];
}

/** The address without `/v1` and without a slash at its end: what clients of the messages format take. */
export function rootUrl(url: string): string {
  return url.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** What clients of the chat format take. */
export function versionUrl(url: string): string {
  return `${rootUrl(url)}/v1`;
}

/** A text of a POSIX shell, whatever is in it. */
export function shellText(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A text of JSON, JavaScript, Python and TOML alike: all four read these escapes. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** The line that puts the key where the program reads it, so that it stands in no source file. */
export function exportKey({ key }: Fill): SnippetPart {
  return { what: 'In a shell', text: `export TOLLGATE_KEY=${shellText(key)}` };
}

/** Parses the boundary of a form's content type and the head of one of its parts. Strict where parsers disagree. */

export interface PartHead {
  readonly name: string;
  /** It has a file name: its value is not read as text. */
  readonly isFile: boolean;
  /** As sent; null: none. */
  readonly fileName: string | null;
  /** In lower case, without parameters; null: none. */
  readonly contentType: string | null;
  /** Stated for a text, and other than UTF-8, which it shares ASCII with; null: UTF-8, or a file. */
  readonly charset: string | null;
}

/** RFC 2046, section 5.1.1. */
const BOUNDARY = /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/;
const FORM_TYPE = /^multipart\/form-data\s*(?=;|$)/i;
const PARAMETER = /\s*;\s*([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;",]*))/y;

/** Whether a content type is that of a form. */
export function isFormType(contentType: string): boolean {
  return FORM_TYPE.test(contentType);
}

/** The boundary of a form; null: none that is valid, or several. */
export function boundaryOf(contentType: string): string | null {
  const type = FORM_TYPE.exec(contentType)?.[0];
  const parameters = type === undefined ? null : parseParameters(contentType.slice(type.length));
  const boundary = parameters?.get('boundary');
  return boundary !== undefined && BOUNDARY.test(boundary) ? boundary : null;
}

/** The content type of a form with this boundary. */
export function formType(boundary: string): string {
  return `multipart/form-data; boundary=${/^[\w'+.-]+$/.test(boundary) ? boundary : `"${boundary}"`}`;
}

/** The parameters by their names in lower case, unquoted; null: not a list of parameters, or one of them twice. */
function parseParameters(text: string): ReadonlyMap<string, string> | null {
  const parameters = new Map<string, string>();
  let end = 0;
  PARAMETER.lastIndex = 0;
  for (let match = PARAMETER.exec(text); match !== null; match = PARAMETER.exec(text)) {
    const name = (match[1] ?? '').toLowerCase();
    if (parameters.has(name)) return null;
    parameters.set(name, match[2]?.replace(/\\(.)/g, '$1') ?? match[3] ?? '');
    end = PARAMETER.lastIndex;
  }
  const rest = text.slice(end).trim();
  return rest === '' || rest === ';' ? parameters : null;
}

/** Names of all known forms, and nothing that two parsers could read as two names. */
const NAME = /^[\w.-]{1,128}(?:\[[\w.-]{0,64}\])?$/;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const PLAIN_ENCODINGS: ReadonlySet<string> = new Set(['binary', '7bit', '8bit']);
const UTF8_NAMES: ReadonlySet<string> = new Set(['utf-8', 'utf8']);
/** Java's HTTP clients name the second for every text. */
const ASCII_CHARSETS: ReadonlySet<string> = new Set(['us-ascii', 'iso-8859-1', 'windows-1252']);

/** `text`: without the blank line that ends it. @returns a message for the caller if it cannot be read */
export function parsePartHead(text: string): PartHead | string {
  const headers = new Map<string, string>();
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0));
    if (!HEADER_NAME.test(name) || hasLineEnd(line)) return 'a header of a part is malformed';
    if (headers.has(name.toLowerCase())) return `a part has the header ${name} twice`;
    headers.set(name.toLowerCase(), trimBlanks(line.slice(colon + 1)));
  }
  const disposition = headers.get('content-disposition') ?? '';
  const [kind = ''] = disposition.split(';', 1);
  const parameters = parseParameters(disposition.slice(kind.length));
  const name = parameters?.get('name');
  if (kind.trim().toLowerCase() !== 'form-data' || parameters === null || name === undefined || parameters.has('name*'))
    return 'a part has no content-disposition of the form: form-data; name="..."';
  if (!NAME.test(name)) return `a part has the name ${JSON.stringify(name.slice(0, 80))}, which no form has`;
  const isFile = parameters.has('filename') || parameters.has('filename*');
  const stated = headers.get('content-type') ?? null;
  const [type = ''] = stated?.split(';', 1) ?? [];
  const named = isFile || stated === null ? undefined : parseParameters(stated.slice(type.length))?.get('charset');
  const charset = named === undefined || UTF8_NAMES.has(named.toLowerCase()) ? null : named.slice(0, 40);
  const problem = isFile ? null : textProblem(name, headers, charset);
  if (problem !== null) return problem;
  return {
    name,
    isFile,
    fileName: parameters.get('filename') ?? null,
    contentType: stated === null ? null : type.trim().toLowerCase(),
    charset,
  };
}

/** Without the spaces and tabs around it; by characters, because a pattern would try each run of them many times. */
function trimBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text[start])) start += 1;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

/** Parsers disagree on what a lone CR, LF or NUL is. */
function hasLineEnd(value: string): boolean {
  return value.includes('\r') || value.includes('\n') || value.includes('\0');
}

/** Why the value of a part is not the text that its bytes are; null: it is. */
function textProblem(name: string, headers: ReadonlyMap<string, string>, charset: string | null) {
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase() ?? 'binary';
  if (!PLAIN_ENCODINGS.has(encoding)) return `the part ${name} has a content-transfer-encoding; send it as it is`;
  return charset === null || ASCII_CHARSETS.has(charset.toLowerCase()) ? null : charsetProblem(name, charset);
}

export function charsetProblem(name: string, charset: string): string {
  return `the part ${name} has the charset ${charset}; send it as UTF-8`;
}

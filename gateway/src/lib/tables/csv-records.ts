/**
 * Parses CSV after RFC 4180 piece by piece, within limits of size. A field without quotes and without text is null, as
 * PostgreSQL writes NULL; quotes around nothing are an empty text.
 */

export type CsvField = string | null;

/** A record with the number of the line on which it begins, from 1. */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly CsvField[];
}

/** A file that is not CSV, or exceeds a limit. The message names the line. */
export class CsvError extends Error {
  override readonly name = 'CsvError';
}

const FIELD_CHARS_MAX = 1_048_576;
const FIELDS_MAX = 1_000;
const QUOTE = '"';

/** @throws CsvError */
export async function* parseCsv(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRecord> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const parser = new CsvParser();
  const decode = (piece?: Uint8Array): string => {
    try {
      return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
    } catch {
      throw new CsvError(`line ${parser.line}: found bytes that are no UTF-8; save the file as UTF-8`);
    }
  };
  for await (const piece of bytes) yield* parser.push(decode(piece));
  yield* parser.push(decode());
  yield* parser.end();
}

/** `start`: at the beginning of a field; `quote`: after a quote within quotes, which ends the field or stands for one. */
type State = 'start' | 'bare' | 'quoted' | 'quote';

class CsvParser {
  line = 1;
  #begunAt = 1;
  #state: State = 'start';
  #field = '';
  #fields: CsvField[] = [];

  *push(text: string): Generator<CsvRecord> {
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const character = text[at];
      if (character === '\n') this.line += 1;
      if (this.#state === 'quoted') {
        if (character !== QUOTE) continue;
        this.#append(text.slice(from, at));
        this.#state = 'quote';
        from = at + 1;
      } else if (this.#state === 'quote' && character === QUOTE) {
        this.#append(QUOTE);
        this.#state = 'quoted';
        from = at + 1;
      } else if (character === ',' || character === '\n') {
        this.#append(text.slice(from, at));
        this.#endField(character === '\n');
        from = at + 1;
        if (character === '\n') yield* this.#endRecord();
      } else if (character === QUOTE && this.#state === 'start') {
        this.#state = 'quoted';
        from = at + 1;
      } else if (this.#state === 'quote') {
        if (character !== '\r') throw new CsvError(`line ${this.line}: found text after a closing quote`);
        from = at + 1;
      } else {
        this.#state = 'bare';
      }
    }
    this.#append(text.slice(from));
  }

  *end(): Generator<CsvRecord> {
    if (this.#state === 'quoted') throw new CsvError(`line ${this.#begunAt}: a quote is not closed`);
    if (this.#state === 'start' && this.#fields.length === 0) return;
    this.#endField(true);
    yield* this.#endRecord();
  }

  #append(text: string): void {
    if (this.#field.length + text.length > FIELD_CHARS_MAX) {
      throw new CsvError(`line ${this.line}: found a field of more than ${FIELD_CHARS_MAX} characters`);
    }
    this.#field += text;
  }

  #endField(isLast: boolean): void {
    const isQuoted = this.#state === 'quote';
    const text = isLast && !isQuoted ? this.#field.replace(/\r$/, '') : this.#field;
    this.#fields.push(text === '' && !isQuoted ? null : text);
    if (this.#fields.length > FIELDS_MAX) {
      throw new CsvError(`line ${this.line}: found more than ${FIELDS_MAX} fields`);
    }
    this.#field = '';
    this.#state = 'start';
  }

  /** Empty lines are no records. */
  *#endRecord(): Generator<CsvRecord> {
    const fields = this.#fields;
    this.#fields = [];
    if (fields.length > 1 || fields[0] !== null) yield { line: this.#begunAt, fields };
    this.#begunAt = this.line;
  }
}

/** Owns composing the records of a messages stream. Each passes the grammar first; what breaks it is not written. */
import { type WritableJson, writeJson } from '../../wire/json-writer.ts';
import { MessagesGrammar, type MessagesStep } from './stream-grammar.ts';

/** The beginning of a record up to where the JSON of its event begins to differ. */
export function recordHead(event: string): string {
  return `event: ${event}\ndata: {"type":"${event}"`;
}

/** JSON in one line, as a record needs it: raw line ends can only be white space between its values. */
export function inOneLine(json: string): string {
  return json.replace(/[\r\n]/g, ' ');
}

export class CheckedRecords {
  /** Why a record could not be written; null: all could. */
  violation: string | null = null;
  readonly #grammar = new MessagesGrammar();

  /** The record if it may come now, else nothing. */
  pass(step: MessagesStep, record: string): string {
    const violation = this.#grammar.check(step);
    if (violation === null) return record;
    this.violation ??= violation;
    return '';
  }

  /** A record of an event that has no index. */
  write(step: MessagesStep, members: { readonly [member: string]: WritableJson }): string {
    const rest = writeJson(members).slice(1);
    return this.pass(step, `${recordHead(step.kind)}${rest === '}' ? '' : ','}${rest}\n\n`);
  }
}

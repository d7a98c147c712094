/** Writes the events of a Responses stream as records, numbered and checked by the grammar. */
import type { JsonObject } from '../../json.ts';
import { ResponsesGrammar } from './stream-grammar.ts';

export class EventWriter {
  /** Why an event could not be written; null if all could. */
  violation: string | null = null;
  readonly #grammar = new ResponsesGrammar();

  /** The number of the next event. */
  get nextSequence(): number {
    return this.#grammar.nextSequence;
  }

  /** The record if the grammar allows the event now, else an empty string. */
  write(type: string, members: JsonObject): string {
    if (this.violation !== null) return '';
    const event = { type, sequence_number: this.#grammar.nextSequence, ...members };
    this.violation = this.#grammar.check(type, event);
    return this.violation === null ? renderRecord(type, event) : '';
  }
}

export function renderRecord(type: string, event: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
}

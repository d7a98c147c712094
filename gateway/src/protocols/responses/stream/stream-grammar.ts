/**
 * Checks the order and the contents of a Responses stream: the grammar D.3 and the invariants V1 to V16 of D.4
 * (specification of the Responses API). Each violation begins with the number of its invariant.
 */
import { asArray, asCount, asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import { EVENTS, type EventRow, type TextPlace } from './event-table.ts';
import { GrowingText, itemTexts, ownText, partText, partTexts } from './item-texts.ts';

interface OpenPart {
  readonly type: unknown;
  readonly text: GrowingText;
  closed: boolean;
}

interface Item {
  readonly id: string | null;
  readonly type: unknown;
  readonly call_id: unknown;
  readonly content: OpenPart[];
  readonly summary: OpenPart[];
  readonly own: GrowingText;
  /** The item of its `done` event; null: it is open. */
  done: JsonObject | null;
}

/** OpenAI lists the tools of several servers at once (recorded traffic, 2026). */
const MAY_OVERLAP: ReadonlySet<unknown> = new Set(['mcp_list_tools']);

const USAGE_DETAILS = ['input_tokens_details', 'output_tokens_details'] as const;

type PartRow = Extract<EventRow, { readonly place: TextPlace }>;

/** Checks one stream. After a violation, its results for later events are meaningless. */
export class ResponsesGrammar {
  #state: 'start' | 'open' | 'failing' | 'end' = 'start';
  #next = 0;
  readonly #items: Item[] = [];
  /** The open item that no other may overlap; null: none is open. */
  #open: Item | null = null;
  readonly #ids = new Set<string>();
  readonly #callIds = new Set<string>();
  /** The text of the last delta. */
  #growing: GrowingText | null = null;

  /** The number that the next event has. */
  get nextSequence(): number {
    return this.#next;
  }

  /** The number of items that have begun. */
  get itemCount(): number {
    return this.#items.length;
  }

  /** `eventLine`: the value of the record's `event:` line. Why the event is not allowed now; null if it is. */
  check(eventLine: string, event: JsonObject): string | null {
    const type = asText(event.type);
    if (type === null || eventLine !== type) return `V13: an event line ${quote(eventLine)} for ${quote(type)}`;
    const row = EVENTS.get(type);
    if (row === undefined) return `V14: an event of the unknown type ${quote(type)}`;
    if (this.#state === 'end') return `V10: ${type} after the end`;
    // A keep-alive within bytes of another party has no number, so that theirs stay without a gap.
    if (row.does === 'keep_alive' && event.sequence_number === undefined) return null;
    if (event.sequence_number !== this.#next)
      return `V2: number ${quote(event.sequence_number)} where ${this.#next} is next`;
    this.#next += 1;
    return this.#judge(type, row, event);
  }

  /** Counts deltas like the last one that were not read: their number, and the bytes of their texts. */
  skip(records: number, bytes: number): void {
    this.#next += records;
    this.#growing?.skip(bytes);
  }

  #judge(type: string, row: EventRow, event: JsonObject): string | null {
    if (row.does === 'create') {
      if (this.#state !== 'start') return 'V1: response.created came twice';
      this.#state = 'open';
      return null;
    }
    if (this.#state === 'start') return `V1: ${type} before response.created`;
    if (row.does === 'keep_alive') return null;
    if (this.#state === 'failing' && type !== 'response.failed') return `V10: ${type} after error`;
    switch (row.does) {
      case 'open_item':
        return this.#openItem(event);
      case 'close_item':
        return this.#closeItem(event);
      case 'proceed':
        return this.#items.length === 0 ? null : `V10: ${type} after the first item`;
      case 'fail':
        this.#state = 'failing';
        return null;
      case 'end':
        this.#state = 'end';
        return this.#end(type, asObject(event.response) ?? {});
      case 'remark':
        return row.hasItem ? this.#findItem(type, row.items, event).fault : null;
      case 'open_part':
      case 'close_part':
      case 'extend':
      case 'close_text':
        return this.#changeText(type, row, event);
    }
  }

  #openItem(event: JsonObject): string | null {
    const item = asObject(event.item) ?? {};
    const index = this.#items.length;
    if (event.output_index !== index) return `V3: item ${quote(event.output_index)} begins where ${index} is next`;
    if (this.#open !== null)
      return `V4: an item of type ${quote(item.type)} begins while one of ${quote(this.#open.type)} is open`;
    const id = asText(item.id);
    if (id === null || this.#ids.has(id)) return `V8: the item id ${quote(item.id)} is missing or not unique`;
    this.#ids.add(id);
    const calls = item.type === 'function_call' || item.type === 'custom_tool_call';
    const callId = asText(item.call_id);
    if (calls && (callId === null || this.#callIds.has(callId)))
      return `V8: the call id ${quote(item.call_id)} is missing or not unique`;
    if (calls && callId !== null) this.#callIds.add(callId);
    const { type, call_id } = item;
    const begun: Item = { id, type, call_id, content: [], summary: [], own: new GrowingText(), done: null };
    this.#items.push(begun);
    if (!MAY_OVERLAP.has(type)) this.#open = begun;
    return null;
  }

  #closeItem(event: JsonObject): string | null {
    const item = this.#itemAt(event.output_index);
    const done = asObject(event.item);
    if (item === undefined || done === null) return `V3: item ${quote(event.output_index)} ends, which has not begun`;
    if (item.done !== null) return `V3: item ${quote(event.output_index)} ends twice`;
    item.done = done;
    if (item === this.#open) this.#open = null;
    for (const member of ['id', 'type', 'call_id'] as const) {
      if (done[member] !== item[member])
        return `V7: ${member} changed from ${quote(item[member])} to ${quote(done[member])}`;
    }
    return this.#compare(item, done) ?? checkArguments(done);
  }

  /** The done item has the texts that its events had. */
  #compare(item: Item, done: JsonObject): string | null {
    for (const place of ['content', 'summary'] as const) {
      const parts = item[place];
      if (parts.some(({ closed }) => !closed))
        return `V6: a ${place} part of item ${quote(item.id)} is open at its end`;
      if (parts.length === 0) continue;
      const texts = partTexts(done, place);
      const isSame = texts.length === parts.length && parts.every(({ text }, at) => text.equals(texts[at] ?? ''));
      if (!isSame) return `V9: the ${place} of item ${quote(item.id)} is not that of its events`;
    }
    if (item.own.isEmpty && !item.own.closed) return null;
    return item.own.equals(ownText(done) ?? '') ? null : `V9: item ${quote(item.id)} is not that of its events`;
  }

  #changeText(type: string, row: PartRow, event: JsonObject): string | null {
    const { item, fault } = this.#findItem(type, row.items, event);
    if (item === null) return fault;
    if (row.place === 'item') return this.#changeOwn(type, row, item.own, event);
    const parts = item[row.place];
    const index = event[row.place === 'content' ? 'content_index' : 'summary_index'];
    if (row.does === 'open_part') {
      if (index !== parts.length || parts.at(-1)?.closed === false)
        return `V6: ${type} of part ${quote(index)} out of order`;
      parts.push({ type: asObject(event.part)?.type, text: new GrowingText(), closed: false });
      return null;
    }
    const part = typeof index === 'number' ? parts[index] : undefined;
    if (part === undefined || part.closed) return `V6: ${type} of part ${quote(index)}, which is not open`;
    if (row.does === 'close_part') {
      part.closed = true;
      const text = partText(asObject(event.part));
      return text === null || part.text.equals(text) ? null : `V9: ${type} has another text than its pieces`;
    }
    if (part.type !== row.part) return `V5: ${type} in a part of type ${quote(part.type)}`;
    return this.#changeOwn(type, row, part.text, event);
  }

  #changeOwn(type: string, row: PartRow, text: GrowingText, event: JsonObject): string | null {
    const piece = event[row.member];
    if (typeof piece !== 'string') return `V5: ${type} without ${row.member}`;
    if (text.closed) return `V6: ${type} after the whole text`;
    if (row.does === 'extend') {
      text.push(piece);
      this.#growing = text;
      return null;
    }
    text.closed = true;
    // Arguments may come whole, without pieces.
    if (text.isEmpty) text.push(piece);
    return text.equals(piece) ? null : `V9: ${type} has another text than its pieces`;
  }

  #findItem(type: string, items: readonly string[], event: JsonObject): { item: Item | null; fault: string | null } {
    const item = this.#itemAt(event.output_index);
    if (item === undefined || item.done !== null)
      return { item: null, fault: `V5: ${type} of item ${quote(event.output_index)}, which is not open` };
    if (event.item_id !== item.id)
      return { item: null, fault: `V5: ${type} names ${quote(event.item_id)}; the item is ${quote(item.id)}` };
    if (typeof item.type !== 'string' || !items.includes(item.type))
      return { item: null, fault: `V5: ${type} in an item of type ${quote(item.type)}` };
    return { item, fault: null };
  }

  #itemAt(index: unknown): Item | undefined {
    return typeof index === 'number' ? this.#items[index] : undefined;
  }

  #end(type: string, response: JsonObject): string | null {
    const status = type.slice('response.'.length);
    if (response.status !== status) return `V10: ${type} with the status ${quote(response.status)}`;
    if (type === 'response.failed') return null;
    const open = this.#items.find(({ done }) => done === null);
    if (open !== undefined) return `V10: ${type} while the item ${quote(open.id)} is open`;
    return (
      this.#compareOutput(asArray(response.output)) ?? (type === 'response.completed' ? this.#complete(response) : null)
    );
  }

  #compareOutput(output: readonly unknown[]): string | null {
    const isSame =
      output.length === this.#items.length &&
      this.#items.every(({ id, type, done }, at) => {
        const item = asObject(output[at]);
        return item !== null && item.id === id && item.type === type && itemTexts(item) === itemTexts(done ?? {});
      });
    return isSame ? null : 'V11: the output of the end is not that of the items';
  }

  #complete({ usage }: JsonObject): string | null {
    const counted = asObject(usage) ?? {};
    const [input, output, total] = [counted.input_tokens, counted.output_tokens, counted.total_tokens].map(asCount);
    const isWhole = typeof input === 'number' && typeof output === 'number' && total === input + output;
    if (!isWhole || USAGE_DETAILS.some((member) => asObject(counted[member]) === null))
      return 'V12: the usage of the end is not complete';
    return this.#items.at(-1)?.type === 'reasoning' ? 'V16: the last item is reasoning' : null;
  }
}

function checkArguments(item: JsonObject): string | null {
  if (item.type !== 'function_call' || item.status === 'incomplete') return null;
  return parseObject(asText(item.arguments) ?? '') === null
    ? 'V15: the arguments of a call are not a JSON object'
    : null;
}

function quote(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

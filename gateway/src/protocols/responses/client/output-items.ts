/** Builds the output items of a rendered response one after another, and writes the events of each. */
import type { PartOpening } from '../../../generation/event.ts';
import { type Citation, type Native, type SealedContent, sealedOf, summaryIn } from '../../../generation/part.ts';
import type { AnswerContext } from '../../client-protocol.ts';
import { type JsonObject, parseObject } from '../../json.ts';
import { aliasText } from '../../request/tool-names.ts';
import { CLIENT_TOOLS, type ClientTool, isClientTool } from '../shared/client-tools.ts';
import { OWN_ID } from '../shared/response-object.ts';
import type { EventWriter } from '../stream/event-writer.ts';

type UrlCitation = Extract<Citation, { kind: 'url' }>;

/** An item of one text: a message of one part, reasoning with one summary, or a call. */
interface OpenItem {
  readonly form: ItemForm;
  readonly id: string;
  /** The members that its start and its end share. */
  readonly members: JsonObject;
  readonly annotations: JsonObject[];
  /** Written at the end of the text: one without a place is for all of it, and Anthropic sends them before it. */
  readonly citations: UrlCitation[];
  text: string;
  /** Its part has begun. */
  hasPart: boolean;
  /** Null: another item. */
  readonly reasoning: Extract<PartOpening, { kind: 'reasoning' }> | null;
  /** Of reasoning: that of its issuer; null: none came. */
  signature: string | null;
}

/** How an item of a kind is written. */
interface ItemForm {
  readonly type: string;
  /** The beginning of its ids. */
  readonly prefix: string;
  /** The events of its text; `member` holds the whole text in the last one. Null: it comes with the item. */
  readonly events: string | null;
  readonly member: 'text' | 'refusal' | 'arguments' | 'input' | ClientTool['member'];
  /** The text is JSON, and the item has its object with these members, unless it has its own. Absent: the item has the text. */
  readonly filled?: JsonObject;
  /** The events of its part, and the part's type; null: the text is the item's own. */
  readonly part: {
    readonly events: string;
    readonly type: string;
    readonly index: 'content_index' | 'summary_index';
  } | null;
}

const CONTENT = { events: 'response.content_part', index: 'content_index' } as const;

const FORMS = {
  text: {
    type: 'message',
    prefix: 'msg',
    events: 'response.output_text',
    member: 'text',
    part: { ...CONTENT, type: 'output_text' },
  },
  refusal: {
    type: 'message',
    prefix: 'msg',
    events: 'response.refusal',
    member: 'refusal',
    part: { ...CONTENT, type: 'refusal' },
  },
  // Clients show summaries only (Vercel AI SDK, LangChain).
  reasoning: {
    type: 'reasoning',
    prefix: 'rs',
    events: 'response.reasoning_summary_text',
    member: 'text',
    part: { events: 'response.reasoning_summary_part', type: 'summary_text', index: 'summary_index' },
  },
  function: {
    type: 'function_call',
    prefix: 'fc',
    events: 'response.function_call_arguments',
    member: 'arguments',
    part: null,
  },
  custom: {
    type: 'custom_tool_call',
    prefix: 'ctc',
    events: 'response.custom_tool_call_input',
    member: 'input',
    part: null,
  },
} as const satisfies Readonly<Record<string, ItemForm>>;

/** The calls of tools that clients run, whose arguments are an object of the item. */
const TYPED = new Map(
  Object.entries(CLIENT_TOOLS).map(([type, { prefix, member, filled }]): [string, ItemForm] => [
    type,
    { type: `${type}_call`, prefix, events: null, member, filled, part: null },
  ]),
);

const CALL_ID_CHARS_MAX = 64;

export class OutputItems {
  /** The items that have ended. */
  readonly done: JsonObject[] = [];
  /** UTF-8 bytes of all texts. */
  outputBytes = 0;
  /** An item says that the model refused. */
  refused = false;
  readonly #writer: EventWriter;
  readonly #context: AnswerContext;
  readonly #callIds = new Set<string>();
  /** The part that began last. */
  #opening: PartOpening = { kind: 'text' };
  /** It is a call, and nothing of it has been written. */
  #waits = false;
  #open: OpenItem | null = null;

  constructor(writer: EventWriter, context: AnswerContext) {
    this.#writer = writer;
    this.#context = context;
  }

  /** Nothing but reasoning came so far. */
  get isSilent(): boolean {
    const isOpen = this.#waits || (this.#open !== null && this.#open.form.type !== 'reasoning');
    return !isOpen && this.done.every(isReasoning);
  }

  get endsInReasoning(): boolean {
    const last = this.done.at(-1);
    return last !== undefined && isReasoning(last);
  }

  /** An item begins with its first piece: an empty text has no item. */
  begin(opening: PartOpening): string {
    const closed = this.close(false);
    this.#opening = opening;
    this.#waits = opening.kind === 'tool_call';
    if (opening.kind !== 'opaque') return closed;
    const summary = summaryIn(opening.part);
    if (summary !== null) return closed + this.#writeSealed('compaction', 'cmp', { kind: 'summary', text: summary });
    const content = sealedOf(opening.part);
    return content === null ? closed : closed + this.#writeSealed('reasoning', FORMS.reasoning.prefix, content);
  }

  say(text: string): string {
    const started = this.#open === null ? this.#start() : '';
    const open = this.#open;
    if (open === null) return started;
    const part = this.#startPart(open);
    open.text += text;
    this.outputBytes += Buffer.byteLength(text);
    const { events } = open.form;
    if (events === null) return started;
    return started + part + this.#event(open, `${events}.delta`, { delta: text, ...logprobsOf(open) });
  }

  cite(citation: Citation): string {
    if (citation.kind !== 'url' || this.#opening.kind !== 'text') return '';
    const started = this.#open === null ? this.#start() : '';
    const open = this.#open;
    open?.citations.push(citation);
    return started;
  }

  #annotate(open: OpenItem, { url, title, start, end }: UrlCitation): string {
    const [start_index, end_index] = [start ?? 0, end ?? open.text.length];
    const annotation = { type: 'url_citation', url, title: title ?? '', start_index, end_index };
    const annotation_index = open.annotations.push(annotation) - 1;
    return this.#event(open, 'response.output_text.annotation.added', { annotation_index, annotation });
  }

  /** Reasoning that its issuer does not show has a signature alone. */
  sign(signature: string): string {
    if (this.#opening.kind !== 'reasoning') return '';
    const started = this.#open === null ? this.#start() : '';
    if (this.#open !== null) this.#open.signature = signature;
    return started;
  }

  /** What the issuer of a call wants back with it goes before it, sealed; nothing if the call was begun. */
  attach(native: Native): string {
    return this.#waits ? this.#writeSealed('reasoning', FORMS.reasoning.prefix, { kind: 'call_data', native }) : '';
  }

  /** Ends the open item, once it is known whether the answer was cut in it. */
  close(isCut: boolean): string {
    const started = this.#waits ? this.#start() : '';
    const open = this.#open;
    if (open === null) return started;
    this.#open = null;
    const takesJson = open.form.filled !== undefined || open.form.member === 'arguments';
    const isBare = takesJson && open.text.trim() === '';
    const text = isBare ? `${open.text}{}` : open.text;
    const isWhole = !isCut && (!takesJson || parseObject(text) !== null);
    const { part, events } = open.form;
    const whole = { [open.form.member]: text, ...logprobsOf(open) };
    let records = started + open.citations.map((citation) => this.#annotate(open, citation)).join('');
    // The pieces of arguments that are white space alone were sent: together, they must be the whole.
    if (events !== null && isBare && open.text !== '') records += this.#event(open, `${events}.delta`, { delta: '{}' });
    if (events !== null && (part === null || open.hasPart)) records += this.#event(open, `${events}.done`, whole);
    if (part !== null && open.hasPart)
      records += this.#event(open, `${part.events}.done`, { part: partOf(open, text) });
    const ended = itemOf(open, isWhole ? 'completed' : 'incomplete', text);
    const { reasoning, signature } = open;
    const item =
      reasoning === null
        ? ended
        : {
            ...ended,
            encrypted_content: this.#context.seal({ kind: 'reasoning', part: { ...reasoning, text, signature } }),
          };
    return records + this.#end(item);
  }

  #end(item: JsonObject): string {
    const output_index = this.done.push(item) - 1;
    return this.#writer.write('response.output_item.done', { output_index, item });
  }

  /** An item that only the gateway reads when it comes back. */
  #writeSealed(type: 'reasoning' | 'compaction', prefix: string, content: SealedContent): string {
    const item = {
      id: this.#idOf(prefix),
      type,
      ...(type === 'reasoning' && { summary: [] }),
      encrypted_content: this.#context.seal(content),
    };
    return this.#writer.write('response.output_item.added', { output_index: this.done.length, item }) + this.#end(item);
  }

  #idOf(prefix: string): string {
    return `${prefix}${OWN_ID}${this.#context.id}${this.done.length}`;
  }

  /** A whole item. */
  write(opening: PartOpening, text: string): string {
    this.#opening = opening;
    this.#waits = false;
    const started = this.#start();
    return started + (text === '' ? '' : this.say(text)) + this.close(false);
  }

  #start(): string {
    const opening = this.#opening;
    this.#waits = false;
    if (opening.kind === 'opaque') return '';
    const form = this.#formOf(opening);
    if (opening.kind === 'refusal') this.refused = true;
    const open: OpenItem = {
      form,
      id: this.#idOf(form.prefix),
      members: opening.kind === 'tool_call' ? this.#called(opening) : {},
      annotations: [],
      citations: [],
      text: '',
      hasPart: false,
      reasoning: opening.kind === 'reasoning' ? opening : null,
      signature: null,
    };
    this.#open = open;
    const item = itemOf(open, 'in_progress', '');
    const added = this.#writer.write('response.output_item.added', { output_index: this.done.length, item });
    return opening.kind === 'reasoning' ? added : added + this.#startPart(open);
  }

  #startPart(open: OpenItem): string {
    const { part } = open.form;
    if (part === null || open.hasPart) return '';
    open.hasPart = true;
    return this.#event(open, `${part.events}.added`, { part: partOf(open, '') });
  }

  #formOf(opening: Exclude<PartOpening, { kind: 'opaque' }>): ItemForm {
    if (opening.kind !== 'tool_call') return FORMS[opening.kind];
    return this.#typed(opening.name) ?? FORMS[opening.tool];
  }

  /** The members that name the call, as the client knows its tool. */
  #called({ id, name }: Extract<PartOpening, { kind: 'tool_call' }>): JsonObject {
    const call_id = this.#takeCallId(id);
    const form = this.#context.callForms?.get(name);
    if (form === undefined) return { call_id, name };
    if (form.kind === 'namespaced') return { call_id, name: form.name, namespace: form.namespace };
    return { call_id, ...(isClientTool(form.type) && CLIENT_TOOLS[form.type].members) };
  }

  /** The form of a tool that the client runs; undefined: another tool. */
  #typed(name: string): ItemForm | undefined {
    const form = this.#context.callForms?.get(name);
    return form?.kind === 'typed' ? TYPED.get(form.type) : undefined;
  }

  /** An id that clients and OpenAI take, which no other call of the answer has. */
  #takeCallId(id: string): string {
    const alias = aliasText(id === '' ? `call_${this.#context.id}` : id, CALL_ID_CHARS_MAX);
    const unique = this.#callIds.has(alias) ? aliasText(`${alias}#${this.#callIds.size}`, CALL_ID_CHARS_MAX) : alias;
    this.#callIds.add(unique);
    return unique;
  }

  #event({ form, id }: OpenItem, type: string, members: JsonObject): string {
    const place = form.part === null ? {} : { [form.part.index]: 0 };
    return this.#writer.write(type, { item_id: id, output_index: this.done.length, ...place, ...members });
  }
}

function isReasoning({ type }: JsonObject): boolean {
  return type === 'reasoning';
}

/** Texts have probabilities, here none. */
function logprobsOf({ form }: OpenItem): JsonObject {
  return form.part?.type === 'output_text' ? { logprobs: [] } : {};
}

function partOf({ form, annotations }: OpenItem, text: string): JsonObject {
  const type = form.part?.type;
  return { type, [form.member]: text, ...(type === 'output_text' && { annotations: [...annotations], logprobs: [] }) };
}

function itemOf(open: OpenItem, status: 'in_progress' | 'completed' | 'incomplete', text: string): JsonObject {
  const { form, id, members } = open;
  const isStart = status === 'in_progress';
  const parts = isStart || !open.hasPart ? [] : [partOf(open, text)];
  switch (form.type) {
    case 'message':
      return { id, type: form.type, status, role: 'assistant', content: parts };
    case 'reasoning':
      return { id, type: form.type, summary: parts };
    default: {
      const written = form.filled === undefined ? text : { ...form.filled, ...parseObject(text) };
      return { id, type: form.type, status, ...members, [form.member]: written };
    }
  }
}

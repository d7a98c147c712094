/** Renders a whole response as the requested stream. Items without texts are sent whole, at their start and end. */
import { asArray, asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import { renderRecord } from './event-writer.ts';
import { ownText, partText } from './item-texts.ts';

/** The records, including the terminal event; null: the body is not an answer. Numbers that a double cannot hold are rounded. */
export function streamOfAnswer(body: Buffer): Buffer | null {
  const response = parseObject(body.toString());
  const status = response?.status;
  if (response === null || !Array.isArray(response.output)) return null;
  if (status !== 'completed' && status !== 'incomplete') return null;
  const writer = new RecordWriter();
  const open = { ...response, status: 'in_progress', output: [], usage: null, incomplete_details: null };
  let text = writer.write('response.created', { response: open });
  text += writer.write('response.in_progress', { response: open });
  for (const [output_index, item] of response.output.entries()) {
    const found = asObject(item);
    if (found === null) return null;
    text += writeItem(writer, output_index, found);
  }
  return Buffer.from(text + writer.write(`response.${status}`, { response }));
}

/** Numbers the events. Whether a host's own answer follows the grammar is not judged. */
class RecordWriter {
  #next = 0;

  write(type: string, members: JsonObject): string {
    const sequence_number = this.#next;
    this.#next += 1;
    return renderRecord(type, { type, sequence_number, ...members });
  }
}

/** The events of an item's own text, by the item's type; `done` has the whole text in this member. */
export const OWN_TEXT_EVENTS: ReadonlyMap<unknown, readonly [name: string, member: string]> = new Map([
  ['function_call', ['response.function_call_arguments', 'arguments']],
  ['custom_tool_call', ['response.custom_tool_call_input', 'input']],
  ['mcp_call', ['response.mcp_call_arguments', 'arguments']],
  ['code_interpreter_call', ['response.code_interpreter_call_code', 'code']],
]);

function writeItem(writer: RecordWriter, output_index: number, item: JsonObject): string {
  const blank: { [member: string]: unknown } = { ...item };
  if ('status' in blank) blank.status = 'in_progress';
  if (Array.isArray(blank.content)) blank.content = [];
  if (Array.isArray(blank.summary)) blank.summary = [];
  const own = OWN_TEXT_EVENTS.get(item.type);
  if (own !== undefined) blank[own[1]] = '';
  const at = { item_id: item.id, output_index };
  let text = writer.write('response.output_item.added', { output_index, item: blank });
  for (const [index, part] of asArray(item.summary).entries())
    text += writePart(writer, 'reasoning_summary', { ...at, summary_index: index }, asObject(part));
  for (const [index, part] of asArray(item.content).entries())
    text += writePart(writer, 'content', { ...at, content_index: index }, asObject(part));
  const written = own === undefined ? null : ownText(item);
  if (own !== undefined && written !== null) {
    const [name, member] = own;
    if (written !== '') text += writer.write(`${name}.delta`, { ...at, delta: written });
    text += writer.write(`${name}.done`, { ...at, [member]: written });
  }
  return text + writer.write('response.output_item.done', { output_index, item });
}

/** The events of a part's text, by the part's type; `done` has the whole text in this member. */
export const PART_TEXT_EVENTS: ReadonlyMap<unknown, readonly [name: string, member: string]> = new Map([
  ['output_text', ['response.output_text', 'text']],
  ['refusal', ['response.refusal', 'refusal']],
  ['reasoning_text', ['response.reasoning_text', 'text']],
  ['summary_text', ['response.reasoning_summary_text', 'text']],
]);

function writePart(
  writer: RecordWriter,
  kind: 'content' | 'reasoning_summary',
  at: JsonObject,
  part: JsonObject | null,
): string {
  const events = PART_TEXT_EVENTS.get(part?.type);
  const whole = partText(part);
  const cited = Array.isArray(part?.annotations) ? { annotations: [] } : {};
  const blank = events === undefined ? part : { ...part, [events[1]]: '', ...cited };
  let text = writer.write(`response.${kind}_part.added`, { ...at, part: blank });
  if (events !== undefined && whole !== null) {
    const [name, member] = events;
    const logprobs = part?.type === 'output_text' ? { logprobs: [] } : {};
    if (asText(whole) !== null) text += writer.write(`${name}.delta`, { ...at, delta: whole, ...logprobs });
    for (const [annotation_index, annotation] of asArray(part?.annotations).entries())
      text += writer.write('response.output_text.annotation.added', { ...at, annotation_index, annotation });
    text += writer.write(`${name}.done`, { ...at, [member]: whole, ...logprobs });
  }
  return text + writer.write(`response.${kind}_part.done`, { ...at, part });
}

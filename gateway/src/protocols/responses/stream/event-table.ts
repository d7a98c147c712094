/** Lists the events of a Responses stream: the effect of each, and the item or part that it changes. Source: responses, D.2. */

/** The texts that a stream sends in pieces. `item`: the item's own (arguments, input, code). */
export type TextPlace = 'content' | 'summary' | 'item';

export type EventRow =
  | { readonly does: 'create' | 'proceed' | 'end' | 'fail' | 'open_item' | 'close_item' | 'keep_alive' }
  | {
      /** A part begins or ends; a piece of text; the whole text. `part`: the type of its part; null: of any type. */
      readonly does: 'open_part' | 'close_part' | 'extend' | 'close_text';
      readonly items: readonly string[];
      readonly place: TextPlace;
      readonly part: string | null;
      /** The member that holds the text. */
      readonly member: string;
    }
  /** It changes no text. `hasItem`: it names its item by `item_id`. */
  | { readonly does: 'remark'; readonly items: readonly string[]; readonly hasItem: boolean };

const MESSAGE = ['message'];
const REASONING = ['reasoning'];

/** The events of a text: its pieces, and the whole in `member`. */
function textRows(
  name: string,
  items: readonly string[],
  place: TextPlace,
  part: string | null,
  member: string,
): Array<[string, EventRow]> {
  return [
    [`response.${name}.delta`, { does: 'extend', items, place, part, member: 'delta' }],
    [`response.${name}.done`, { does: 'close_text', items, place, part, member }],
  ];
}

function partRows(name: string, items: readonly string[], place: TextPlace): Array<[string, EventRow]> {
  const row = { items, place, part: null, member: 'part' };
  return [
    [`response.${name}.added`, { does: 'open_part', ...row }],
    [`response.${name}.done`, { does: 'close_part', ...row }],
  ];
}

function remarkRows(item: string, names: readonly string[]): Array<[string, EventRow]> {
  return names.map((name) => [`response.${item}.${name}`, { does: 'remark', items: [item], hasItem: true }]);
}

/** The commands of a shell call come without the id of their item. */
const ITEMLESS: EventRow = { does: 'remark', items: ['shell_call'], hasItem: false };
const AUDIO: EventRow = { does: 'remark', items: [], hasItem: false };

export const EVENTS: ReadonlyMap<string, EventRow> = new Map<string, EventRow>([
  ['response.created', { does: 'create' }],
  ['response.queued', { does: 'proceed' }],
  ['response.in_progress', { does: 'proceed' }],
  ['response.output_item.added', { does: 'open_item' }],
  ['response.output_item.done', { does: 'close_item' }],
  ...partRows('content_part', ['message', 'reasoning'], 'content'),
  ...textRows('output_text', MESSAGE, 'content', 'output_text', 'text'),
  ['response.output_text.annotation.added', { does: 'remark', items: MESSAGE, hasItem: true }],
  ...textRows('refusal', MESSAGE, 'content', 'refusal', 'refusal'),
  ...textRows('function_call_arguments', ['function_call'], 'item', null, 'arguments'),
  ...textRows('custom_tool_call_input', ['custom_tool_call'], 'item', null, 'input'),
  ...partRows('reasoning_summary_part', REASONING, 'summary'),
  ...textRows('reasoning_summary_text', REASONING, 'summary', 'summary_text', 'text'),
  ...textRows('reasoning_text', REASONING, 'content', 'reasoning_text', 'text'),
  ...textRows('mcp_call_arguments', ['mcp_call'], 'item', null, 'arguments'),
  ...remarkRows('mcp_call', ['in_progress', 'completed', 'failed']),
  ...remarkRows('mcp_list_tools', ['in_progress', 'completed', 'failed']),
  ...remarkRows('web_search_call', ['in_progress', 'searching', 'completed']),
  ...remarkRows('file_search_call', ['in_progress', 'searching', 'completed']),
  ...remarkRows('code_interpreter_call', ['in_progress', 'interpreting', 'completed']),
  ...textRows('code_interpreter_call_code', ['code_interpreter_call'], 'item', null, 'code'),
  ...remarkRows('image_generation_call', ['in_progress', 'generating', 'partial_image', 'completed']),
  ['response.shell_call_command.added', ITEMLESS],
  ['response.shell_call_command.delta', ITEMLESS],
  ['response.shell_call_command.done', ITEMLESS],
  ['response.shell_call_output_content.delta', { does: 'remark', items: ['shell_call_output'], hasItem: true }],
  ['response.shell_call_output_content.done', { does: 'remark', items: ['shell_call_output'], hasItem: true }],
  ...remarkRows('compaction', ['compacting']),
  ['response.audio.delta', AUDIO],
  ['response.audio.done', AUDIO],
  ['response.audio.transcript.delta', AUDIO],
  ['response.audio.transcript.done', AUDIO],
  ['keepalive', { does: 'keep_alive' }],
  ['error', { does: 'fail' }],
  ['response.completed', { does: 'end' }],
  ['response.incomplete', { does: 'end' }],
  ['response.failed', { does: 'end' }],
]);

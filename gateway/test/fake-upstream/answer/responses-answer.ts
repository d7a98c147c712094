/** Renders a built-in model's speech as an answer of the Responses protocol, plain or streamed. */
import { type Answer, jsonAnswer, streamAnswer } from './answer.ts';
import { type BodyPart, recordPart } from './body-part.ts';
import { isWordless, type Speech, type ToolCall } from './speech.ts';

/** The sealed content of every reasoning item. */
export const SEAL = 'ZmFrZS1zZWFs';

function usageOf(speech: Speech): Record<string, unknown> {
  const input_tokens = speech.inputTokens + speech.cacheReadTokens;
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: speech.cacheReadTokens },
    output_tokens: speech.outputTokens,
    output_tokens_details: { reasoning_tokens: speech.reasoningTokens },
    total_tokens: input_tokens + speech.outputTokens,
  };
}

function responseOf(
  model: string,
  { id }: Speech,
  status: string,
  output: readonly object[],
  usage: object | null,
): object {
  const nulls = { error: null, incomplete_details: null, instructions: null, metadata: {}, temperature: 1, top_p: 1 };
  const tools = { parallel_tool_calls: true, tool_choice: 'auto', tools: [] };
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: 1_800_000_000,
    model,
    status,
    output,
    ...nulls,
    ...tools,
    usage,
  };
}

const reasoningOf = (speech: Speech, index: number, summary: readonly object[]) => ({
  id: `rs_${speech.id}${index}`,
  type: 'reasoning',
  summary,
  encrypted_content: SEAL,
});

const summaryOf = (speech: Speech) => ({ type: 'summary_text', text: speech.reasoning.join('') });

const messageOf = (speech: Speech, index: number, status: string, content: readonly object[]) => ({
  id: `msg_${speech.id}${index}`,
  type: 'message',
  status,
  role: 'assistant',
  content,
});

const partOf = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

/** How a call is written: its item type, the prefix of its id, its events and its pieces. */
function writingOf({ argumentPieces, textPieces }: ToolCall) {
  return textPieces === undefined
    ? {
        type: 'function_call',
        prefix: 'fc',
        event: 'function_call_arguments',
        member: 'arguments',
        pieces: argumentPieces,
      }
    : { type: 'custom_tool_call', prefix: 'ctc', event: 'custom_tool_call_input', member: 'input', pieces: textPieces };
}

function callOf(speech: Speech, index: number, call: ToolCall, status: string, written: string) {
  const { type, prefix, member } = writingOf(call);
  return { id: `${prefix}_${speech.id}${index}`, type, status, call_id: call.id, name: call.name, [member]: written };
}

/** The items of a speech, in order. */
function itemsOf(speech: Speech): object[] {
  const items: object[] = [];
  if (speech.reasoning.length > 0) items.push(reasoningOf(speech, items.length, [summaryOf(speech)]));
  if (!isWordless(speech))
    items.push(messageOf(speech, items.length, 'completed', [partOf([...speech.text].join(''))]));
  for (const call of speech.toolCalls)
    items.push(callOf(speech, items.length, call, 'completed', writingOf(call).pieces.join('')));
  return items;
}

/** Renders the speech as a `response`. */
export function plainResponsesAnswer(model: string, speech: Speech): Answer {
  return jsonAnswer(200, responseOf(model, speech, 'completed', itemsOf(speech), usageOf(speech)));
}

function* events(model: string, speech: Speech): Generator<BodyPart> {
  let sequence_number = 0;
  const event = (type: string, members: object): BodyPart =>
    recordPart(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...members })}\n\n`);
  const open = responseOf(model, speech, 'in_progress', [], null);
  yield event('response.created', { response: open });
  yield event('response.in_progress', { response: open });
  const output: object[] = [];
  const add = (item: object) => event('response.output_item.added', { output_index: output.length, item });
  const done = (item: object) => event('response.output_item.done', { output_index: output.push(item) - 1, item });
  if (speech.reasoning.length > 0) {
    const at = { item_id: `rs_${speech.id}0`, output_index: 0, summary_index: 0 };
    const part = summaryOf(speech);
    yield add(reasoningOf(speech, 0, []));
    yield event('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } });
    for (const delta of speech.reasoning) yield event('response.reasoning_summary_text.delta', { ...at, delta });
    yield event('response.reasoning_summary_text.done', { ...at, text: part.text });
    yield event('response.reasoning_summary_part.done', { ...at, part });
    yield done(reasoningOf(speech, 0, [part]));
  }
  if (!isWordless(speech)) {
    const index = output.length;
    const at = { item_id: `msg_${speech.id}${index}`, output_index: index, content_index: 0 };
    yield add(messageOf(speech, index, 'in_progress', []));
    yield event('response.content_part.added', { ...at, part: partOf('') });
    let text = '';
    for (const delta of speech.text) {
      text += delta;
      yield event('response.output_text.delta', { ...at, delta, logprobs: [] });
    }
    yield event('response.output_text.done', { ...at, text, logprobs: [] });
    yield event('response.content_part.done', { ...at, part: partOf(text) });
    yield done(messageOf(speech, index, 'completed', [partOf(text)]));
  }
  for (const call of speech.toolCalls) {
    const index = output.length;
    const { prefix, event: name, member, pieces } = writingOf(call);
    const at = { item_id: `${prefix}_${speech.id}${index}`, output_index: index };
    const written = pieces.join('');
    yield add(callOf(speech, index, call, 'in_progress', ''));
    for (const delta of pieces) yield event(`response.${name}.delta`, { ...at, delta });
    yield event(`response.${name}.done`, { ...at, [member]: written });
    yield done(callOf(speech, index, call, 'completed', written));
  }
  yield event('response.completed', { response: responseOf(model, speech, 'completed', output, usageOf(speech)) });
}

/** Renders the speech as the events of a response. */
export function streamedResponsesAnswer(model: string, speech: Speech): Answer {
  return streamAnswer({ [Symbol.iterator]: () => events(model, speech) });
}

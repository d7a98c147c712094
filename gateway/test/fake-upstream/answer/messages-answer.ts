/** Renders a built-in model's speech as an answer of the messages protocol, plain or streamed. */
import { type Answer, jsonAnswer, streamAnswer } from './answer.ts';
import { type BodyPart, recordPart } from './body-part.ts';
import { isWordless, type Speech } from './speech.ts';

/** The signature of every thinking block. */
export const SIGNATURE = 'ZmFrZS1zaWduYXR1cmU=';

function usageOf(speech: Speech, outputTokens: number): Record<string, unknown> {
  return {
    input_tokens: speech.inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: speech.cacheReadTokens,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { thinking_tokens: Math.min(speech.reasoningTokens, outputTokens) },
    service_tier: 'standard',
  };
}

function tailUsageOf(speech: Speech): Record<string, unknown> {
  return {
    output_tokens: speech.outputTokens,
    output_tokens_details: { thinking_tokens: speech.reasoningTokens },
  };
}

function stopReasonOf(speech: Speech): string {
  return speech.toolCalls.length > 0 ? 'tool_use' : 'end_turn';
}

function messageOf(
  model: string,
  speech: Speech,
  content: readonly object[],
  stop_reason: string | null,
  usage: object,
): object {
  const nulls = { stop_sequence: null, stop_details: null, container: null };
  return { id: `msg_${speech.id}`, type: 'message', role: 'assistant', model, content, stop_reason, ...nulls, usage };
}

/** Renders the speech as a `message`. */
export function plainMessagesAnswer(model: string, speech: Speech): Answer {
  const content: object[] = [];
  if (speech.reasoning.length > 0) {
    content.push({ type: 'thinking', thinking: speech.reasoning.join(''), signature: SIGNATURE });
  }
  if (!isWordless(speech)) content.push({ type: 'text', text: [...speech.text].join('') });
  for (const call of speech.toolCalls) {
    const input: unknown = JSON.parse(call.argumentPieces.join(''));
    content.push({ type: 'tool_use', id: call.id.replace('call_', 'toolu_'), name: call.name, input });
  }
  return jsonAnswer(200, messageOf(model, speech, content, stopReasonOf(speech), usageOf(speech, speech.outputTokens)));
}

function event(type: string, members: object = {}): BodyPart {
  return recordPart(`event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`);
}

function* block(index: number, content_block: object, deltas: Iterable<object>): Generator<BodyPart> {
  yield event('content_block_start', { index, content_block });
  for (const delta of deltas) yield event('content_block_delta', { index, delta });
  yield event('content_block_stop', { index });
}

function* textDeltas(text: Iterable<string>): Generator<object> {
  for (const piece of text) yield { type: 'text_delta', text: piece };
}

function* events(model: string, speech: Speech): Generator<BodyPart> {
  yield event('message_start', { message: messageOf(model, speech, [], null, usageOf(speech, 1)) });
  yield event('ping');
  let index = 0;
  if (speech.reasoning.length > 0) {
    const deltas = speech.reasoning.map((thinking): object => ({ type: 'thinking_delta', thinking }));
    deltas.push({ type: 'signature_delta', signature: SIGNATURE });
    yield* block(index, { type: 'thinking', thinking: '', signature: '' }, deltas);
    index += 1;
  }
  if (!isWordless(speech)) {
    yield* block(index, { type: 'text', text: '' }, textDeltas(speech.text));
    index += 1;
  }
  for (const call of speech.toolCalls) {
    const start = { type: 'tool_use', id: call.id.replace('call_', 'toolu_'), name: call.name, input: {} };
    const deltas = ['', ...call.argumentPieces].map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    yield* block(index, start, deltas);
    index += 1;
  }
  const delta = { stop_reason: stopReasonOf(speech), stop_sequence: null, stop_details: null, container: null };
  yield event('message_delta', { delta, usage: tailUsageOf(speech) });
  yield event('message_stop');
}

/** Renders the speech as the events of a message; always with usage, as this protocol requires. */
export function streamedMessagesAnswer(model: string, speech: Speech): Answer {
  return streamAnswer({ [Symbol.iterator]: () => events(model, speech) });
}

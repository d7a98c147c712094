/** Renders the odd answers of the exit matrix, in the format of its upstream and in one piece or as a stream. */
import type { Scenario } from '../fake-upstream/scenario.ts';
import type { ProtocolName } from './calls.ts';

export type Form = 'plain' | 'stream';

const MESSAGE = { id: 'm', type: 'message', role: 'assistant', model: 'x', stop_sequence: null };
const COMPLETION = { id: 'c', created: 1, model: 'x' };

const event = (type: string, members: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
const chunk = (choices: readonly object[], more: object = {}) =>
  `data: ${JSON.stringify({ ...COMPLETION, object: 'chat.completion.chunk', choices, ...more })}\n\n`;

/** Records of a messages stream. `text` null: it has no content. */
function messagesRecords(text: string | null, startUsage: object, endUsage: object): string[] {
  const block = [
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    event('content_block_stop', { index: 0 }),
  ];
  return [
    event('message_start', { message: { ...MESSAGE, content: [], stop_reason: null, usage: startUsage } }),
    ...(text === null ? [] : block),
    event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: endUsage }),
    event('message_stop'),
  ];
}

/** Records of a chat stream. */
function chatRecords(content: string, usage: object): string[] {
  return [
    chunk([{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
    chunk([], { usage }),
    'data: [DONE]\n\n',
  ];
}

function plainCompletion(content: string, usage: object): Scenario {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  return { json: { ...COMPLETION, object: 'chat.completion', choices, usage } };
}

/** An otherwise good answer whose usage has a negative counter. */
export function negativeUsage(upstream: ProtocolName, form: Form): Scenario {
  const text = 'Good day to you.';
  if (upstream === 'messages') {
    const usage = { input_tokens: -3, output_tokens: 5 };
    const content = [{ type: 'text', text }];
    if (form === 'plain') return { json: { ...MESSAGE, content, stop_reason: 'end_turn', usage } };
    return { records: messagesRecords(text, usage, { output_tokens: -5 }) };
  }
  const usage = { prompt_tokens: -3, completion_tokens: 5, total_tokens: 2 };
  return form === 'plain' ? plainCompletion(text, usage) : { records: chatRecords(text, usage) };
}

/** A complete answer that has a finish reason and usage, and no content. */
export function withoutContent(upstream: ProtocolName, form: Form): Scenario {
  if (upstream === 'messages') {
    const usage = { input_tokens: 11, output_tokens: 5 };
    if (form === 'plain') return { json: { ...MESSAGE, content: [], stop_reason: 'end_turn', usage } };
    return { records: messagesRecords(null, { input_tokens: 11, output_tokens: 1 }, { output_tokens: 5 }) };
  }
  const usage = { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 };
  return form === 'plain' ? plainCompletion('', usage) : { records: chatRecords('', usage) };
}

/** The first record of a stream, after which it ends. */
export function opening(upstream: ProtocolName): Scenario {
  const { records = [] } = withoutContent(upstream, 'stream');
  return { records: records.slice(0, 1) };
}

/** The first record of a stream, and another one that is no JSON. */
export function spoiledOpening(upstream: ProtocolName): Scenario {
  const { records = [] } = opening(upstream);
  return { records: [...records, 'data: {"broken\n\n'] };
}

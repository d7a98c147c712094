/**
 * Folds the stream events of each protocol into an answer: text, reasoning, tool calls and usage. Splits the stream,
 * received in arbitrary pieces, into events.
 */

export type Protocol = 'chat' | 'messages' | 'responses';

/** Disjoint, except that reasoning is part of output. */
export interface AnswerUsage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly reasoning: number;
}

export interface ToolCall {
  readonly name: string;
  /** JSON text, possibly incomplete. */
  readonly input: string;
}

export interface Answer {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: string | null;
  /** Null until the stream reports it. */
  readonly usage: AnswerUsage | null;
  /** An error event of the stream, unchanged. */
  readonly error: string | null;
  /** The stream ended with its protocol's final event. */
  readonly isComplete: boolean;
}

export const EMPTY_ANSWER: Answer = {
  text: '',
  reasoning: '',
  toolCalls: [],
  finish: null,
  usage: null,
  error: null,
  isComplete: false,
};

type Members = Readonly<Record<string, unknown>>;

/** Returns the answer after an event. Unknown events are ignored, because protocols grow. */
export function foldEvent(answer: Answer, protocol: Protocol, { event, data }: SseEvent): Answer {
  if (data === '[DONE]') return { ...answer, isComplete: true };
  const members = parseMembers(data);
  if (members === null) return answer;
  if (event === 'error' || members.type === 'error' || members.error !== undefined) {
    const message = textOf(membersOf(members.error).message) || textOf(members.message);
    return { ...answer, error: message || 'The stream ended with an error.' };
  }
  return FOLDS[protocol](answer, members);
}

const FOLDS: Readonly<Record<Protocol, (answer: Answer, members: Members) => Answer>> = {
  chat: foldChat,
  messages: foldMessages,
  responses: foldResponses,
};

function foldChat(answer: Answer, chunk: Members): Answer {
  const choice = membersOf(Array.isArray(chunk.choices) ? chunk.choices[0] : null);
  const delta = membersOf(choice.delta);
  const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls.map(membersOf) : [];
  return {
    ...answer,
    text: answer.text + textOf(delta.content) + textOf(delta.refusal),
    reasoning: answer.reasoning + (textOf(delta.reasoning_content) || textOf(delta.reasoning)),
    toolCalls: calls.reduce((known, call) => {
      const made = membersOf(call.function);
      return growCall(known, numberOf(call.index), textOf(made.name), textOf(made.arguments));
    }, answer.toolCalls),
    finish: textOf(choice.finish_reason) || answer.finish,
    usage: chunk.usage == null ? answer.usage : chatUsage(membersOf(chunk.usage)),
  };
}

/** In the chat format, prompt tokens include cached tokens. */
function chatUsage(usage: Members): AnswerUsage {
  const cacheRead = numberOf(membersOf(usage.prompt_tokens_details).cached_tokens);
  return {
    input: Math.max(0, numberOf(usage.prompt_tokens) - cacheRead),
    cacheRead,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    output: numberOf(usage.completion_tokens),
    reasoning: numberOf(membersOf(usage.completion_tokens_details).reasoning_tokens),
  };
}

function foldMessages(answer: Answer, event: Members): Answer {
  switch (event.type) {
    case 'message_start':
      return { ...answer, usage: messagesUsage(answer.usage, membersOf(membersOf(event.message).usage)) };
    case 'content_block_start': {
      const block = membersOf(event.content_block);
      if (block.type !== 'tool_use') return { ...answer, text: answer.text + textOf(block.text) };
      return { ...answer, toolCalls: [...answer.toolCalls, { name: textOf(block.name), input: '' }] };
    }
    case 'content_block_delta': {
      const delta = membersOf(event.delta);
      const last = answer.toolCalls.length - 1;
      return {
        ...answer,
        text: answer.text + textOf(delta.text),
        reasoning: answer.reasoning + textOf(delta.thinking),
        toolCalls:
          delta.partial_json === undefined
            ? answer.toolCalls
            : growCall(answer.toolCalls, last, '', textOf(delta.partial_json)),
      };
    }
    case 'message_delta':
      return {
        ...answer,
        finish: textOf(membersOf(event.delta).stop_reason) || answer.finish,
        usage: event.usage == null ? answer.usage : messagesUsage(answer.usage, membersOf(event.usage)),
      };
    case 'message_stop':
      return { ...answer, isComplete: true };
    default:
      return answer;
  }
}

/** Later events contain only changed members. */
function messagesUsage(known: AnswerUsage | null, usage: Members): AnswerUsage {
  const writes = membersOf(usage.cache_creation);
  const hour = numberOf(writes.ephemeral_1h_input_tokens);
  const allWrites = usage.cache_creation_input_tokens;
  return {
    input: numberOf(usage.input_tokens ?? known?.input),
    cacheRead: numberOf(usage.cache_read_input_tokens ?? known?.cacheRead),
    cacheWrite5m: allWrites === undefined ? (known?.cacheWrite5m ?? 0) : Math.max(0, numberOf(allWrites) - hour),
    cacheWrite1h: allWrites === undefined ? (known?.cacheWrite1h ?? 0) : hour,
    output: numberOf(usage.output_tokens ?? known?.output),
    reasoning: known?.reasoning ?? 0,
  };
}

function foldResponses(answer: Answer, event: Members): Answer {
  const last = answer.toolCalls.length - 1;
  switch (event.type) {
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      return { ...answer, text: answer.text + textOf(event.delta) };
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      return { ...answer, reasoning: answer.reasoning + textOf(event.delta) };
    case 'response.reasoning_summary_part.added':
      return { ...answer, reasoning: answer.reasoning === '' ? '' : `${answer.reasoning}\n\n` };
    case 'response.output_item.added': {
      const { type, name } = membersOf(event.item);
      if (type !== 'function_call' && type !== 'custom_tool_call') return answer;
      return { ...answer, toolCalls: [...answer.toolCalls, { name: textOf(name), input: '' }] };
    }
    case 'response.function_call_arguments.delta':
    case 'response.custom_tool_call_input.delta':
      return { ...answer, toolCalls: growCall(answer.toolCalls, last, '', textOf(event.delta)) };
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      return endResponse(answer, membersOf(event.response));
    default:
      return answer;
  }
}

function endResponse(answer: Answer, response: Members): Answer {
  const failure = textOf(membersOf(response.error).message);
  return {
    ...answer,
    finish: textOf(membersOf(response.incomplete_details).reason) || textOf(response.status) || answer.finish,
    usage: response.usage == null ? answer.usage : responsesUsage(membersOf(response.usage)),
    error: response.status === 'failed' ? failure || 'The response failed.' : answer.error,
    isComplete: true,
  };
}

/** In the Responses format, input tokens include cache reads and writes; writes have no duration. */
function responsesUsage(usage: Members): AnswerUsage {
  const details = membersOf(usage.input_tokens_details);
  const cacheRead = numberOf(details.cached_tokens);
  const cacheWrite5m = numberOf(details.cache_write_tokens);
  return {
    input: Math.max(0, numberOf(usage.input_tokens) - cacheRead - cacheWrite5m),
    cacheRead,
    cacheWrite5m,
    cacheWrite1h: 0,
    output: numberOf(usage.output_tokens),
    reasoning: numberOf(membersOf(usage.output_tokens_details).reasoning_tokens),
  };
}

function growCall(calls: readonly ToolCall[], at: number, name: string, input: string): readonly ToolCall[] {
  const known = calls[at];
  if (known === undefined) return [...calls, { name, input }];
  return calls.map((call, index) => (index === at ? { name: call.name + name, input: call.input + input } : call));
}

function parseMembers(text: string): Members | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : null;
  } catch {
    return null;
  }
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

export interface SseEvent {
  /** `message` when the stream sets none. */
  readonly event: string;
  readonly data: string;
}

/** Splits an event stream, received in arbitrary pieces, into events. Does not interpret the data. */
interface SseReader {
  /** Returns the events that this piece completes. */
  push(text: string): readonly SseEvent[];
}

/** Lines may end in LF, CR or CRLF. As in the standard, an event without a final blank line is discarded. */
export function startSseReader(): SseReader {
  let rest = '';
  let name = '';
  let lines: string[] = [];
  return {
    push(text) {
      rest += text;
      const events: SseEvent[] = [];
      for (;;) {
        const end = lineEnd(rest);
        if (end === null) return events;
        const line = rest.slice(0, end.at);
        rest = rest.slice(end.at + end.length);
        if (line === '') {
          if (lines.length > 0) events.push({ event: name === '' ? 'message' : name, data: lines.join('\n') });
          name = '';
          lines = [];
        } else if (line.startsWith('data:')) lines.push(textAfter(line, 5));
        else if (line.startsWith('event:')) name = textAfter(line, 6);
      }
    },
  };
}

/** A CR at the very end may be half of a CRLF, so it waits for the next piece. */
function lineEnd(text: string): { at: number; length: number } | null {
  const match = /\r\n|\n|\r(?!$)/.exec(text);
  return match === null ? null : { at: match.index, length: match[0].length };
}

function textAfter(line: string, from: number): string {
  return line[from] === ' ' ? line.slice(from + 1) : line.slice(from);
}

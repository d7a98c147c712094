/** Owns the whole answer of a chat completions provider, not streamed. */
import type { Answer, ToolCall } from '../prompt.ts';
import { type ChatTurn, chatCallId, chatFinishReason, renderChatUsage, SYSTEM_FINGERPRINT } from './chat-turn.ts';

export function renderChatResponse(turn: ChatTurn): object {
  return {
    id: turn.print.id('chatcmpl-', 'completion', 29),
    object: 'chat.completion',
    created: turn.created,
    model: turn.prompt.model,
    choices: turn.answers.map((answer, index) => ({
      index,
      message: renderMessage(turn, answer, index),
      logprobs: null,
      finish_reason: chatFinishReason(answer),
    })),
    usage: renderChatUsage(turn),
    service_tier: 'default',
    system_fingerprint: SYSTEM_FINGERPRINT,
  };
}

function renderMessage(turn: ChatTurn, answer: Answer, choice: number): object {
  const onlyCalls = answer.calls.length > 0 && answer.text === '';
  return {
    role: 'assistant',
    content: onlyCalls ? null : answer.text,
    refusal: null,
    ...(answer.thinking === null ? {} : { reasoning_content: answer.thinking }),
    ...(answer.calls.length === 0
      ? {}
      : { tool_calls: answer.calls.map((call, at) => renderCall(call, chatCallId(turn, choice, at))) }),
  };
}

function renderCall(call: ToolCall, id: string): object {
  return call.input === 'free'
    ? { id, type: 'custom', custom: { name: call.name, input: call.arguments } }
    : { id, type: 'function', function: { name: call.name, arguments: call.arguments } };
}

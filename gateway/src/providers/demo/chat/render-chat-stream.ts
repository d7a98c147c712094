/** Owns the streamed answer of a chat completions provider: its chunks, their order, and the pauses between words. */
import type { DemoRecord } from '../demo-call.ts';
import { encodeText } from '../fingerprint.ts';
import type { Answer, ToolCall } from '../prompt.ts';
import { splitFragments, splitWords, WORD_PAUSE_MS } from '../split-words.ts';
import { type ChatTurn, chatCallId, chatFinishReason, renderChatUsage, SYSTEM_FINGERPRINT } from './chat-turn.ts';

/** Role chunks first, then the choices' deltas in turn, a finish chunk each, the usage where asked for, `[DONE]`. */
export function* renderChatStream(turn: ChatTurn): Generator<DemoRecord> {
  const wrap = chunkWriter(turn);
  for (const index of turn.answers.keys()) {
    yield wrap([{ index, delta: { role: 'assistant', content: '', refusal: null }, finish_reason: null }]);
  }
  const running = turn.answers.map((answer, index) => choiceDeltas(turn, answer, index));
  while (running.length > 0) {
    for (const deltas of [...running]) {
      const next = deltas.next();
      if (next.done === true) running.splice(running.indexOf(deltas), 1);
      else yield wrap([next.value], WORD_PAUSE_MS);
    }
  }
  if (turn.prompt.includeUsage) yield wrap([], 0, renderChatUsage(turn));
  yield { bytes: encodeText('data: [DONE]\n\n'), pauseMs: 0 };
}

type WriteChunk = (choices: readonly object[], pauseMs?: number, usage?: object | null) => DemoRecord;

/** With `include_usage` every chunk before the usage chunk says `usage: null`; without it no chunk speaks of usage. */
function chunkWriter(turn: ChatTurn): WriteChunk {
  const common = {
    id: turn.print.id('chatcmpl-', 'completion', 29),
    object: 'chat.completion.chunk',
    created: turn.created,
    model: turn.prompt.model,
    service_tier: 'default',
    system_fingerprint: SYSTEM_FINGERPRINT,
  };
  return (choices, pauseMs = 0, usage = null) => {
    const chunk = turn.prompt.includeUsage ? { ...common, choices, usage } : { ...common, choices };
    return { bytes: encodeText(`data: ${JSON.stringify(chunk)}\n\n`), pauseMs };
  };
}

function* choiceDeltas(turn: ChatTurn, answer: Answer, index: number): Generator<object> {
  for (const word of splitWords(answer.thinking ?? '')) {
    yield { index, delta: { reasoning_content: word }, finish_reason: null };
  }
  for (const word of splitWords(answer.text)) yield { index, delta: { content: word }, finish_reason: null };
  for (const [at, call] of answer.calls.entries()) {
    for (const delta of callDeltas(call, at, chatCallId(turn, index, at))) {
      yield { index, delta: { tool_calls: [delta] }, finish_reason: null };
    }
  }
  yield { index, delta: {}, finish_reason: chatFinishReason(answer) };
}

function* callDeltas(call: ToolCall, index: number, id: string): Generator<object> {
  if (call.input === 'free') {
    yield { index, id, type: 'custom', custom: { name: call.name, input: '' } };
    for (const input of splitFragments(call.arguments)) yield { index, custom: { input } };
    return;
  }
  yield { index, id, type: 'function', function: { name: call.name, arguments: '' } };
  for (const fragment of splitFragments(call.arguments)) yield { index, function: { arguments: fragment } };
}

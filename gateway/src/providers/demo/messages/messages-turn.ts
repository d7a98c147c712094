/** Owns what the two renderings of a message share: the turn, the message's head, its blocks, its end, its usage. */
import type { Fingerprint } from '../fingerprint.ts';
import type { Answer, Prompt } from '../prompt.ts';

export interface MessagesTurn {
  readonly prompt: Prompt;
  readonly answer: Answer;
  readonly print: Fingerprint;
}

export type AnswerBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'text'; readonly text: string; readonly citations: null }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      /** JSON text of the input object. */
      readonly input: string;
    };

/** The answer as blocks, in order. A text block is never empty: providers refuse one that comes back. */
export function answerBlocks({ answer, print }: MessagesTurn): readonly AnswerBlock[] {
  const { thinking, text } = answer;
  return [
    ...(thinking === null ? [] : [{ type: 'thinking', thinking, signature: print.signature(thinking) } as const]),
    ...(text === '' ? [] : [{ type: 'text', text, citations: null } as const]),
    ...answer.calls.map((call, at) => {
      return {
        type: 'tool_use',
        id: print.id('toolu_', `call/${at}`),
        name: call.name,
        input: call.arguments,
      } as const;
    }),
  ];
}

/** The members of a message that do not change while it streams. */
export function messageHead({ prompt, print }: MessagesTurn) {
  return { id: print.id('msg_', 'message'), type: 'message', role: 'assistant', model: prompt.model } as const;
}

const STOP_REASONS = { done: 'end_turn', calls: 'tool_use', length: 'max_tokens', stop: 'stop_sequence' } as const;

/** How the message ended; also the `delta` of `message_delta`. */
export function messageEnd({ answer }: MessagesTurn) {
  return {
    stop_reason: STOP_REASONS[answer.end],
    stop_sequence: answer.stop,
    stop_details: null,
    container: null,
  } as const;
}

/** The cumulative counters of `message_delta`. The demo model has no prompt cache: those counters stay 0. */
export function messageCounters({ answer, print }: MessagesTurn, outputTokens: number) {
  return {
    input_tokens: print.inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
    output_tokens_details: { thinking_tokens: Math.min(answer.thinkingTokens, outputTokens) },
    server_tool_use: null,
  };
}

/** The usage of a message; in `message_start` the number of output tokens so far. */
export function messageUsage(turn: MessagesTurn, outputTokens: number): object {
  return {
    ...messageCounters(turn, outputTokens),
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    service_tier: 'standard',
    speed: 'standard',
    inference_geo: null,
  };
}

/** Owns what the two renderings of a chat completion share: the turn, its finish reasons, its usage, its call ids. */
import type { Fingerprint } from '../fingerprint.ts';
import type { Answer } from '../prompt.ts';
import type { ChatPrompt } from './parse-chat-body.ts';

export interface ChatTurn {
  readonly prompt: ChatPrompt;
  /** One per choice. */
  readonly answers: readonly Answer[];
  readonly print: Fingerprint;
  /** Unix seconds. */
  readonly created: number;
}

export const SYSTEM_FINGERPRINT = 'fp_tollgate_demo';

export function chatFinishReason(answer: Answer): 'stop' | 'length' | 'tool_calls' {
  if (answer.end === 'calls') return 'tool_calls';
  return answer.end === 'length' ? 'length' : 'stop';
}

export function chatCallId(turn: ChatTurn, choice: number, call: number): string {
  return turn.print.id('call_', `call/${choice}/${call}`);
}

export function renderChatUsage(turn: ChatTurn): object {
  const prompt_tokens = turn.print.inputTokens;
  const completion_tokens = turn.answers.reduce((sum, answer) => sum + answer.outputTokens, 0);
  const reasoning_tokens = turn.answers.reduce((sum, answer) => sum + answer.thinkingTokens, 0);
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

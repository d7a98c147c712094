/** Defines the formats of the bench, their paths, and the small question that most cases ask, in each format. */
import type { UpstreamModel } from './upstream/choose-answer.ts';

/** `chat`: chat completions; `messages`: Anthropic's messages; `responses`: OpenAI's Responses. */
export type Protocol = 'chat' | 'messages' | 'responses';

/** The path of each format's calls, at the upstream and at every subject. */
export const CALL_PATH: Readonly<Record<Protocol, string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
};

const INSTRUCTION = 'You keep the books of a toll gate. Answer in two sentences, without lists.';
const QUESTION = 'What does the keeper do at night?\nAnd what if the "coins" and the lines differ?';

/** The request's JSON: the same instruction, question, temperature and limit in all formats. */
export function renderQuestion(
  protocol: Protocol,
  model: UpstreamModel,
  stream: boolean,
  outputTokensMax = 256,
): string {
  const asked = ASKED[protocol](outputTokensMax);
  return JSON.stringify({ model, ...asked, temperature: 0.2, ...(stream ? { stream } : {}) });
}

const USER = { role: 'user', content: QUESTION };

const ASKED: Readonly<Record<Protocol, (outputTokensMax: number) => object>> = {
  chat: (max_tokens) => ({ messages: [{ role: 'system', content: INSTRUCTION }, USER], max_tokens }),
  messages: (max_tokens) => ({ system: INSTRUCTION, messages: [USER], max_tokens }),
  responses: (max_output_tokens) => ({ instructions: INSTRUCTION, input: [USER], max_output_tokens, store: false }),
};

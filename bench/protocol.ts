/** Defines the two formats of the bench, their paths, and the small question that most cases ask, in either format. */
import type { UpstreamModel } from './upstream/choose-answer.ts';

/** `chat`: chat completions; `messages`: Anthropic's messages. */
export type Protocol = 'chat' | 'messages';

/** The path of each format's calls, at the upstream and at every subject. */
export const CALL_PATH: Readonly<Record<Protocol, string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
};

const INSTRUCTION = 'You keep the books of a toll gate. Answer in two sentences, without lists.';
const QUESTION = 'What does the keeper do at night?\nAnd what if the "coins" and the lines differ?';

/** The request's JSON: the same instruction, question, temperature and limit in both formats. */
export function renderQuestion(protocol: Protocol, model: UpstreamModel, stream: boolean, max_tokens = 256): string {
  const user = { role: 'user', content: QUESTION };
  const asked =
    protocol === 'chat'
      ? { messages: [{ role: 'system', content: INSTRUCTION }, user] }
      : { system: INSTRUCTION, messages: [user] };
  return JSON.stringify({ model, ...asked, temperature: 0.2, max_tokens, ...(stream ? { stream } : {}) });
}

/** Owns the names of the two formats that the bench's clients and its upstream speak, and the path of each. */

/** `chat`: chat completions; `messages`: Anthropic's messages. */
export type Protocol = 'chat' | 'messages';

/** The path that calls of each format go to, at the upstream and at every subject. */
export const CALL_PATH: Readonly<Record<Protocol, string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
};

/** Defines the two formats of the bench's clients and upstream, and the path of each. */

/** `chat`: chat completions; `messages`: Anthropic's messages. */
export type Protocol = 'chat' | 'messages';

/** The path of each format's calls, at the upstream and at every subject. */
export const CALL_PATH: Readonly<Record<Protocol, string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
};

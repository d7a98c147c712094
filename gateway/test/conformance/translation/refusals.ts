/**
 * Lists the recorded requests that cannot be translated: for each refusal the beginning of its message, and the
 * recordings. Each was confirmed by wire reference C.1 and C.2; the comment above it says why.
 */

import type { SetName } from '../../fake-upstream/recordings.ts';

/** Beginning of a refusal's message, and the recordings refused with it: ids without their folder. */
export type Refusals = Readonly<Record<string, readonly string[]>>;

/** Chat completions to any format: no other format can express these, for any provider. */
const CHAT_UNREADABLE: Refusals = {
  // Audio output: R3, dropping it would change the answer.
  'audio: the answer cannot be audio': ['0641'],
  'modalities: only text can be answered': ['0293'],
  // Vector 51.
  'n: only one answer can be requested at a time': ['0427', '0461', '0637', '0648', '0733'],
  // Parts of Mistral and OpenRouter only; the document would be lost silently.
  'messages.0.content.1.type: found "file_url"': ['0276'],
  'messages.4.content.1.type: found "document_url"': ['0234'],
  // Groq's own value, meaning "as the model likes"; the format does not define it. Its provider refused it too (422).
  'messages.0.content: found an object': ['0128'],
};

/** Chat completions to a messages upstream. */
const CHAT_TO_MESSAGES: Refusals = {
  'messages.0.content.1: the messages format has no audio': ['0321', '0420', '0457', '0614'],
  'messages.3.content.1: the messages format has no audio': ['0149', '0541'],
  // A file stored at Mistral only; its provider refused it too.
  'messages.0.content.1: found the id of a file that another host keeps': ['0181'],
  'tools.0: Anthropic cannot hold a text to a grammar': ['0687'],
  'tools.0: a tool of type openrouter:web_search is unknown': ['0458'],
};

/** Chat completions written as chat completions again: members that only their own provider knows. */
const CHAT_TO_CHAT: Refusals = {
  'messages.0: holds a document given as the file "c68de503': ['0181'],
  'messages.0: holds a document given as a url': ['0008'],
  'tools: found the tool of type "openrouter:web_search"': ['0458'],
};

/** Messages requests to any format. */
const MESSAGES_UNREADABLE: Refusals = {
  "container: runs code in Anthropic's own container": ['0056', '0072', '0279'],
  "mcp_servers: has Anthropic's host call MCP servers": ['0158', '0186', '0296'],
};

/** Messages requests to a chat completions upstream. */
const MESSAGES_TO_CHAT: Refusals = {
  // Files stored at Anthropic only, and a URL that a chat upstream would not fetch.
  'messages.2: holds a document given as the file "file_': ['0025', '0203'],
  'messages.2: holds an image given as the file "file_': ['0312', '0320'],
  'messages.0: holds a document given as a url': ['0133'],
  'messages.2: holds a document given as a url': ['0070', '0295'],
  // The result's tool call is not in the history: C.1, tool message without a matching call.
  'messages.2: answers the tool call "toolu_01DYJo37oETVsCdLTTcCWcdq"': ['0366'],
  // Anthropic's server tools, and tools whose schema is built into its models: C.2.
  'tools: found the tool "advisor" of type "advisor_20260301"': ['0247', '0304'],
  'tools: found the tool "code_execution" of type "code_execution_20250522"': ['0168'],
  'tools: found the tool "code_execution" of type "code_execution_20260120"': [
    ...['0073', '0114', '0149', '0197', '0242', '0278', '0289'],
  ],
  'tools: found the tool "memory" of type "memory_20250818"': ['0144', '0339', '0351'],
  'tools: found the tool "tool_search_tool_bm25" of type "tool_search_tool_bm25_20251119"': [
    ...['0004', '0026', '0030', '0039', '0083', '0088', '0156', '0160', '0232', '0256', '0336'],
  ],
  'tools: found the tool "tool_search_tool_regex" of type "tool_search_tool_regex_20251119"': ['0118'],
  'tools: found the tool "web_fetch" of type "web_fetch_20250910"': ['0002', '0306', '0340'],
  'tools: found the tool "web_search" of type "web_search_20250305"': [
    ...['0052', '0079', '0111', '0148', '0175', '0215', '0239', '0327', '0358', '0364', '0369'],
  ],
};

/** Messages requests written as messages requests again. */
const MESSAGES_TO_MESSAGES: Refusals = {
  'messages.1.tool_calls.0: the call "toolu_01UiyhG7tywQKaqdgxyqa8z9" has no result': ['0366'],
};

/** Parsing of a format, and translation from one format to another, with the refusals of each. */
export const REFUSED: Readonly<Record<SetName, Readonly<Record<string, Refusals>>>> = {
  recordings: {
    chat: CHAT_UNREADABLE,
    'chat to chat': CHAT_TO_CHAT,
    'chat to messages': CHAT_TO_MESSAGES,
    messages: MESSAGES_UNREADABLE,
    'messages to messages': MESSAGES_TO_MESSAGES,
    'messages to chat': MESSAGES_TO_CHAT,
  },
  corpus: {
    chat: {
      // Vector 51.
      'n: only one answer can be requested at a time': ['asks-two-answers', 'stream-two-choices'],
      'modalities: only text can be answered': ['asks-sound-out'],
      'messages.0.content.1.type: found "document_url"': ['asks-document-by-address'],
      'messages.0.content: found an object': ['content-that-is-an-object'],
    },
    'chat to chat': {
      'messages.0: holds a document given as the file "file-harbor1"': ['asks-document-kept-by-host'],
      'tools: found the tool of type "openrouter:web_search"': ['asks-hosted-search'],
    },
    'chat to messages': {
      'messages.0.content.1: found the id of a file that another host keeps': ['asks-document-kept-by-host'],
      'messages.0.content.1: the messages format has no audio': ['asks-sound-in'],
      'logprobs: the model behind this name returns no probabilities': ['stream-log-probabilities'],
      'tools.0: Anthropic cannot hold a text to a grammar': ['asks-grammar-tool'],
      'tools.0: a tool of type openrouter:web_search is unknown': ['asks-hosted-search'],
    },
    messages: {
      "container: runs code in Anthropic's own container": ['asks-code-container'],
      "mcp_servers: has Anthropic's host call MCP servers": ['asks-mcp-servers'],
    },
    'messages to messages': {
      'messages.1.tool_calls.0: the call "toolu_1" has no result': ['asks-result-without-a-call'],
    },
    'messages to chat': {
      'messages.0: holds a document given as a url': ['asks-document-by-address'],
      'messages.0: holds an image given as the file "file_harbor1"': ['asks-image-kept-by-host'],
      'messages.2: answers the tool call "toolu_9"': ['asks-result-without-a-call'],
      'tools: found the tool "advisor" of type "advisor_20260301"': ['asks-hosted-advisor'],
      'tools: found the tool "code_execution" of type "code_execution_20260120"': ['asks-hosted-code-execution'],
      'tools: found the tool "memory" of type "memory_20250818"': ['asks-hosted-memory'],
      'tools: found the tool "tool_search_tool_regex" of type "tool_search_tool_regex_20251119"': [
        'asks-hosted-tool-search-tool-regex',
      ],
      'tools: found the tool "web_fetch" of type "web_fetch_20250910"': ['asks-hosted-web-fetch'],
      'tools: found the tool "web_search" of type "web_search_20250305"': ['asks-hosted-web-search'],
    },
  },
};

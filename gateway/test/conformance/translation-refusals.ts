/**
 * Owns the list of recorded requests that cannot be translated, by name: for each refusal the words with which it begins, and the
 * recordings. Each was judged right by wire reference C.1 and C.2; why is said above it. Refuses nothing itself.
 */

import type { SetName } from '../fake-upstream/recordings.ts';

/** Words with which a refusal begins, and the recordings that it is told: ids without their folder. */
export type Refusals = Readonly<Record<string, readonly string[]>>;

/** Of chat completions, wherever they go: what no other format can be told, whoever serves it. */
const CHAT_UNREADABLE: Refusals = {
  // Sound as the answer: R3, dropping it would change what the caller gets.
  'audio: the answer cannot be sound': ['0641'],
  'modalities: only text can be answered': ['0293'],
  // Vector 51.
  'n: only one answer can be asked for at a time': ['0427', '0461', '0637', '0648', '0733'],
  // Mistral's and OpenRouter's own parts; the document would be lost in silence.
  'messages.0.content.1.type: found "file_url"': ['0276'],
  'messages.4.content.1.type: found "document_url"': ['0234'],
  // Groq's own word; it means "as the model likes", but no list of the format has it.
  // Its provider refused it too (422).
  'messages.0.content: found an object': ['0128'],
};

/** Of chat completions that go to a messages host. */
const CHAT_TO_MESSAGES: Refusals = {
  'messages.0.content.1: the messages format has no audio': ['0321', '0420', '0457', '0614'],
  'messages.3.content.1: the messages format has no audio': ['0149', '0541'],
  // A file that only Mistral keeps; its provider refused it too.
  'messages.0.content.1: found the id of a file that another host keeps': ['0181'],
  'tools.0: Anthropic cannot hold a text to a grammar': ['0687'],
  'tools.0: a tool of type openrouter:web_search is unknown': ['0458'],
};

/** Of chat completions that are written as chat completions again: what only their own host knows. */
const CHAT_TO_CHAT: Refusals = {
  'messages.0: holds a document given as the file "c68de503': ['0181'],
  'messages.0: holds a document given as a url': ['0008'],
  'tools: found the tool of type "openrouter:web_search"': ['0458'],
};

/** Of messages requests, wherever they go. */
const MESSAGES_UNREADABLE: Refusals = {
  "container: runs code in Anthropic's own container": ['0056', '0072', '0279'],
  "mcp_servers: has Anthropic's host call MCP servers": ['0158', '0186', '0296'],
};

/** Of messages requests that go to a chat-completions host. */
const MESSAGES_TO_CHAT: Refusals = {
  // Files that only Anthropic keeps, and a URL that a chat host would not fetch.
  'messages.2: holds a document given as the file "file_': ['0025', '0203'],
  'messages.2: holds an image given as the file "file_': ['0312', '0320'],
  'messages.0: holds a document given as a url': ['0133'],
  'messages.2: holds a document given as a url': ['0070', '0295'],
  // The result answers a call that the history does not have: C.1, tool message without a matching call.
  'messages.2: answers the tool call "toolu_01DYJo37oETVsCdLTTcCWcdq"': ['0366'],
  // Tools that Anthropic runs, or whose schema is built into its models: C.2.
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

/** Of messages requests that are written as messages requests again. */
const MESSAGES_TO_MESSAGES: Refusals = {
  'messages.1.tool_calls.0: the call "toolu_01UiyhG7tywQKaqdgxyqa8z9" has no result': ['0366'],
};

/** The ways from a format, and from a format to another, with what is refused there. */
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
      // Vector 51, and probabilities that the other format does not have.
      'n: only one answer can be asked for at a time': ['asks-two-answers', 'stream-two-choices'],
      'logprobs: the model behind this name tells no probabilities': ['stream-log-probabilities'],
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

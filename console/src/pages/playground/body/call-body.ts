/**
 * Validates the playground's input and builds its request body in each protocol: from a form, or from the body of a
 * stored request, whose other members stay as they are.
 */
import type { Protocol } from '../answer/answer.ts';

export interface Prompt {
  readonly system: string;
  readonly user: string;
  /** JSON: an array of `{name, description, input_schema}`; empty: none. */
  readonly tools: string;
  readonly images: readonly PromptImage[];
  readonly maxTokens: string;
  readonly temperature: string;
  /** The conversation so far, oldest first. */
  readonly exchanges: readonly Exchange[];
  /** The stored request that the conversation begins with; null: the form is the request. */
  readonly base: BaseRequest | null;
}

/** A message and its answer. In a conversation that begins with a stored request, the first message may be empty. */
export interface Exchange {
  readonly user: string;
  readonly images: readonly PromptImage[];
  readonly answer: string;
  readonly model: string;
}

/** A stored request, as the user may have changed it. */
export interface BaseRequest {
  readonly requestId: string;
  readonly protocol: Protocol;
  /** JSON: its body. */
  readonly text: string;
}

export const EMPTY_PROMPT: Prompt = {
  system: '',
  user: '',
  tools: '',
  images: [],
  maxTokens: '1024',
  temperature: '',
  exchanges: [],
  base: null,
};

export interface PromptImage {
  readonly name: string;
  /** `data:image/png;base64,…`. */
  readonly url: string;
}

interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: unknown;
}

export type Members = Readonly<Record<string, unknown>>;

/** Error messages by member; empty when valid. */
export function promptErrors(
  prompt: Prompt,
): Readonly<Partial<Record<'user' | 'tools' | 'maxTokens' | 'temperature' | 'base', string>>> {
  const isEmpty = prompt.user.trim() === '' && prompt.images.length === 0;
  if (prompt.base !== null) {
    const members = readBase(prompt.base);
    return {
      ...(typeof members === 'string' ? { base: members } : {}),
      // The stored request itself needs no further message.
      ...(isEmpty && prompt.exchanges.length > 0 ? { user: 'Enter a message or add an image.' } : {}),
    };
  }
  const tools = readTools(prompt.tools);
  const temperature = prompt.temperature.trim();
  return {
    ...(isEmpty ? { user: 'Enter a message or add an image.' } : {}),
    ...(typeof tools === 'string' ? { tools } : {}),
    ...(/^[1-9]\d{0,8}$/.test(prompt.maxTokens.trim()) ? {} : { maxTokens: 'Enter a whole number of at least 1.' }),
    ...(temperature === '' || /^\d(\.\d+)?$/.test(temperature)
      ? {}
      : { temperature: 'Enter a number, such as 0.7, or leave blank.' }),
  };
}

/** The tools, or an error message about their text. */
export function readTools(text: string): readonly Tool[] | string {
  if (text.trim() === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return `Invalid JSON: ${cause instanceof Error ? cause.message : String(cause)}.`;
  }
  if (!Array.isArray(value)) return 'Enter a JSON array of tools.';
  const wrong = value.findIndex(
    (one) => typeof one?.name !== 'string' || typeof (one.input_schema ?? one.parameters) !== 'object',
  );
  if (wrong !== -1) return `Tool ${wrong + 1} needs a name and an input_schema.`;
  return value.map((one) => ({
    name: one.name,
    ...(typeof one.description === 'string' ? { description: one.description } : {}),
    input_schema: one.input_schema ?? one.parameters,
  }));
}

const PATHS: Readonly<Record<Protocol, string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
};

/** Path of the protocol's endpoint, relative to the gateway. */
export function pathOf(protocol: Protocol): string {
  return PATHS[protocol];
}

/** The members of a stored request, or an error message about its text. */
export function readBase({ protocol, text }: BaseRequest): Members | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return `Invalid JSON: ${cause instanceof Error ? cause.message : String(cause)}.`;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'Enter a JSON object.';
  const list = protocol === 'responses' ? 'input' : 'messages';
  const members = value as Members;
  if (Array.isArray(members[list]) || (list === 'input' && ['string', 'undefined'].includes(typeof members[list]))) {
    return members;
  }
  return `Enter a request with a list “${list}”.`;
}

/** The protocol that a prompt is sent in: that of its stored request, or the chosen one. */
export function protocolOf(prompt: Prompt, chosen: Protocol): Protocol {
  return prompt.base?.protocol ?? chosen;
}

/** Builds the request body. Requires a prompt without errors. */
export function callBody(chosen: Protocol, model: string, prompt: Prompt): Members {
  const protocol = protocolOf(prompt, chosen);
  if (prompt.base !== null) return replayBody(prompt.base, model, prompt);
  const tools = readTools(prompt.tools);
  const given = typeof tools === 'string' ? [] : tools;
  const limit = Number(prompt.maxTokens);
  const shared = {
    model,
    ...(prompt.temperature.trim() === '' ? {} : { temperature: Number(prompt.temperature) }),
  };
  const system = prompt.system.trim();
  if (protocol === 'messages') {
    return {
      ...shared,
      max_tokens: limit,
      ...(system === '' ? {} : { system }),
      messages: turnsOf(protocol, prompt),
      ...(given.length === 0 ? {} : { tools: given }),
      stream: true,
    };
  }
  if (protocol === 'responses') {
    return {
      ...shared,
      max_output_tokens: limit,
      ...(system === '' ? {} : { instructions: system }),
      input: prompt.images.length === 0 && prompt.exchanges.length === 0 ? prompt.user : turnsOf(protocol, prompt),
      ...(given.length === 0 ? {} : { tools: given.map(responsesTool) }),
      store: false,
      stream: true,
    };
  }
  const tail = given.map(({ name, description, input_schema: parameters }) => ({
    type: 'function',
    function: { name, ...(description === undefined ? {} : { description }), parameters },
  }));
  return {
    ...shared,
    max_completion_tokens: limit,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...turnsOf(protocol, prompt)],
    ...(tail.length === 0 ? {} : { tools: tail }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

export type Message = Pick<Prompt, 'user' | 'images'>;

/** The messages of the conversation, and the next one. */
function turnsOf(protocol: Protocol, { exchanges, user, images }: Prompt): readonly Members[] {
  const said = (message: Message): readonly Members[] =>
    message.user.trim() === '' && message.images.length === 0
      ? []
      : [{ role: 'user', content: USER_CONTENT[protocol](message) }];
  return [
    ...exchanges.flatMap((exchange) => [...said(exchange), { role: 'assistant', content: exchange.answer }]),
    ...said({ user, images }),
  ];
}

const USER_CONTENT: Readonly<Record<Protocol, (message: Message) => string | readonly Members[]>> = {
  chat: (message) => contentOf(message, chatImage),
  messages: (message) => contentOf(message, messagesImage),
  responses: (message) => (message.images.length === 0 ? message.user : responsesContent(message)),
};

/** Only the model and what the playground needs to read the answer are set; new turns follow those of the request. */
function replayBody(base: BaseRequest, model: string, prompt: Prompt): Members {
  const read = readBase(base);
  const members = typeof read === 'string' ? {} : read;
  const turns = turnsOf(base.protocol, prompt);
  const list = base.protocol === 'responses' ? 'input' : 'messages';
  const given = members[list];
  const before = typeof given === 'string' ? [{ role: 'user', content: given }] : Array.isArray(given) ? given : [];
  return {
    ...members,
    model,
    ...(turns.length === 0 ? {} : { [list]: [...before, ...turns] }),
    stream: true,
    ...(base.protocol === 'chat'
      ? { stream_options: { ...(members.stream_options as Members | null | undefined), include_usage: true } }
      : {}),
  };
}

function contentOf({ user, images }: Message, imagePart: (url: string) => Members): string | readonly Members[] {
  if (images.length === 0) return user;
  const parts = images.map(({ url }) => imagePart(url));
  return user.trim() === '' ? parts : [...parts, { type: 'text', text: user }];
}

function responsesContent({ user, images }: Message): readonly Members[] {
  const parts = images.map(({ url }) => ({ type: 'input_image', image_url: url }));
  return user.trim() === '' ? parts : [...parts, { type: 'input_text', text: user }];
}

/** Without `strict: false`, the provider makes schemas strict where it can. */
function responsesTool({ name, description, input_schema: parameters }: Tool): Members {
  return { type: 'function', name, ...(description === undefined ? {} : { description }), parameters, strict: false };
}

function chatImage(url: string): Members {
  return { type: 'image_url', image_url: { url } };
}

function messagesImage(url: string): Members {
  const [, type = '', data = ''] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return { type: 'image', source: { type: 'base64', media_type: type, data } };
}

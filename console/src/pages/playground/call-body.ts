/** Validates the playground's input and builds its request body in each protocol. */
import type { Protocol } from './answer.ts';

export interface Prompt {
  readonly system: string;
  readonly user: string;
  /** JSON: an array of `{name, description, input_schema}`; empty: none. */
  readonly tools: string;
  readonly images: readonly PromptImage[];
  readonly maxTokens: string;
  readonly temperature: string;
}

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
): Readonly<Partial<Record<'user' | 'tools' | 'maxTokens' | 'temperature', string>>> {
  const tools = readTools(prompt.tools);
  const temperature = prompt.temperature.trim();
  return {
    ...(prompt.user.trim() === '' && prompt.images.length === 0 ? { user: 'Enter a message or add an image.' } : {}),
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

/** Builds the request body. Requires a prompt without errors. */
export function callBody(protocol: Protocol, model: string, prompt: Prompt): Members {
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
      messages: [{ role: 'user', content: contentOf(prompt, messagesImage) }],
      ...(given.length === 0 ? {} : { tools: given }),
      stream: true,
    };
  }
  if (protocol === 'responses') {
    return {
      ...shared,
      max_output_tokens: limit,
      ...(system === '' ? {} : { instructions: system }),
      input: prompt.images.length === 0 ? prompt.user : [{ role: 'user', content: responsesContent(prompt) }],
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
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: contentOf(prompt, chatImage) },
    ],
    ...(tail.length === 0 ? {} : { tools: tail }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

function contentOf({ user, images }: Prompt, imagePart: (url: string) => Members): string | readonly Members[] {
  if (images.length === 0) return user;
  const parts = images.map(({ url }) => imagePart(url));
  return user.trim() === '' ? parts : [...parts, { type: 'text', text: user }];
}

function responsesContent({ user, images }: Prompt): readonly Members[] {
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

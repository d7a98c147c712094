/** Builds the request of the routing preview from a few choices, or parses a pasted one. */
import type { Protocol } from '../../lib/protocols.ts';

export interface PreviewChoices {
  /** About how long the prompt is, in tokens; 0: a few words. */
  readonly tokens: number;
  readonly hasTools: boolean;
  readonly hasImage: boolean;
}

export type PreviewBody = Readonly<Record<string, unknown>>;

/** Lengths to choose from. The longest is below the limit of the preview, 1 MiB. */
export const LENGTHS: readonly (readonly [tokens: number, label: string])[] = [
  [0, 'A few words'],
  [2_000, 'About 2,000 tokens'],
  [20_000, 'About 20,000 tokens'],
  [100_000, 'About 100,000 tokens'],
];

/** Of one token in most vocabularies. */
const WORD = 'word ';
/** One transparent pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };

/** Of the formats of generated answers; the others have neither tools nor images. */
const TOOLS: { readonly [protocol in Protocol]?: unknown } = {
  chat: [{ type: 'function', function: { name: 'get_weather', parameters: SCHEMA } }],
  messages: [{ name: 'get_weather', input_schema: SCHEMA }],
  responses: [{ type: 'function', name: 'get_weather', parameters: SCHEMA }],
  gemini: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: SCHEMA }] }],
};
const IMAGES: { readonly [protocol in Protocol]?: unknown } = {
  chat: { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
  messages: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
  responses: { type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
  gemini: { inlineData: { mimeType: 'image/png', data: PNG } },
};

/** Undefined: a short request of text only, which is the preview's own default. */
export function buildRequest(protocol: Protocol, { tokens, hasTools, hasImage }: PreviewChoices) {
  if (tokens === 0 && !hasTools && !hasImage) return undefined;
  if (TOOLS[protocol] === undefined) return tokens === 0 ? undefined : plainRequest(protocol, WORD.repeat(tokens));
  const words = tokens === 0 ? 'Hello' : WORD.repeat(tokens);
  const tools = hasTools ? { tools: TOOLS[protocol] } : {};
  if (protocol === 'gemini') {
    const parts = [{ text: words }, ...(hasImage ? [IMAGES.gemini] : [])];
    return { contents: [{ role: 'user', parts }], generationConfig: { maxOutputTokens: 256 }, ...tools };
  }
  const isResponses = protocol === 'responses';
  const text = { type: isResponses ? 'input_text' : 'text', text: words };
  const turns = [{ role: 'user', content: hasImage ? [text, IMAGES[protocol]] : text.text }];
  return {
    ...(isResponses ? { input: turns, max_output_tokens: 256 } : { messages: turns, max_tokens: 256 }),
    ...tools,
  };
}

/** The members without which the other formats refuse a request. */
function plainRequest(protocol: Protocol, words: string): PreviewBody {
  if (protocol === 'rerank') return { query: 'Hello', documents: [words] };
  return protocol === 'completions' || protocol === 'images' ? { prompt: words } : { input: words };
}

const PASTED_CHARS_MAX = 1_000_000;

/** The pasted request, or why it cannot be used. Blank text is neither. */
export function parseRequest(text: string): { readonly body?: PreviewBody; readonly fault?: string } {
  if (text.trim() === '') return {};
  if (text.length > PASTED_CHARS_MAX) return { fault: 'Use a request of less than 1 MB.' };
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { body: body as PreviewBody };
    return { fault: 'Paste a JSON object, the body of a request.' };
  } catch (cause) {
    return { fault: `This isn’t valid JSON: ${cause instanceof Error ? cause.message : 'check its syntax'}.` };
  }
}

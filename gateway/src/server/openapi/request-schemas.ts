/** Builds the schemas of all request formats from the tables that validate and translate requests. */
import { CHECKED_MEMBERS as CHAT_CHECKED, CHAT_ROLES } from '../../protocols/chat/client/client-protocol.ts';
import { REQUEST_MEMBERS as CHAT_MEMBERS } from '../../protocols/chat/client/parse-request.ts';
import { CHECKED_MEMBERS as COMPLETIONS_CHECKED } from '../../protocols/completions/client/client-protocol.ts';
import { CHECKED_MEMBERS as GEMINI_CHECKED } from '../../protocols/gemini/client/check-request.ts';
import { REQUEST_MEMBERS as GEMINI_MEMBERS } from '../../protocols/gemini/client/parse-request.ts';
import {
  CHECKED_MEMBERS as MESSAGES_CHECKED,
  MESSAGES_ROLES,
} from '../../protocols/messages/client/client-protocol.ts';
import { REQUEST_MEMBERS as MESSAGES_MEMBERS } from '../../protocols/messages/client/parse-request.ts';
import type { MemberType } from '../../protocols/request/request-facts.ts';
import type { MemberRow } from '../../protocols/request/translation-notes.ts';
import { CHECKED_MEMBERS as RESPONSES_CHECKED } from '../../protocols/responses/client/client-protocol.ts';
import { REQUEST_MEMBERS as RESPONSES_MEMBERS } from '../../protocols/responses/client/parse-request.ts';
import { COUNT, FLAG, is, listOf, type OpenapiPart, object, oneOf, orNull, refTo, TEXT } from './schema.ts';

const OBJECT: OpenapiPart = { type: 'object' };
const NUMBER: OpenapiPart = { type: 'number' };
const PENALTY = orNull({ type: 'number', minimum: -2, maximum: 2 });
const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];

/** Types of members that the provider checks, or whose checks are too deep for a one-line schema. */
const CHAT_TYPES: OpenapiPart = {
  model: TEXT,
  messages: { ...listOf(refTo('ChatMessage')), minItems: 1 },
  stream_options: orNull(object({ 'include_usage?': FLAG }, 'Only with `stream: true`.')),
  tools: orNull(listOf(refTo('ChatTool'))),
  tool_choice: orNull({ anyOf: [oneOf('none', 'auto', 'required'), object({ type: TEXT })] }),
  parallel_tool_calls: orNull({ ...FLAG, default: true }),
  response_format: orNull(
    object({
      type: oneOf('text', 'json_object', 'json_schema'),
      'json_schema?': object({ name: TEXT, 'schema?': OBJECT }),
    }),
  ),
  stop: orNull({ anyOf: [TEXT, { ...listOf(TEXT), maxItems: 4 }] }),
  frequency_penalty: PENALTY,
  presence_penalty: PENALTY,
  reasoning_effort: orNull(oneOf('none', 'minimal', ...EFFORTS)),
  seed: orNull({ type: 'integer' }),
  user: orNull(TEXT),
  metadata: orNull(OBJECT),
  logprobs: orNull(FLAG),
  store: orNull(FLAG),
};

const OLD_VERSION = 'Only with version 2023-06-01, and only for models that take it.';
const MESSAGES_TYPES: OpenapiPart = {
  model: TEXT,
  messages: { ...listOf(refTo('MessageTurn')), minItems: 1 },
  system: { anyOf: [TEXT, listOf(refTo('MessageBlock'))] },
  tools: listOf(object({ 'name?': TEXT, 'description?': TEXT, 'input_schema?': OBJECT })),
  tool_choice: object({ type: oneOf('auto', 'any', 'tool', 'none'), 'name?': TEXT }),
  'tool_choice.disable_parallel_tool_use': FLAG,
  thinking: object({
    type: oneOf('enabled', 'adaptive', 'between_tools', 'disabled'),
    'budget_tokens?': { ...COUNT, minimum: 1_024 },
  }),
  'output_config.effort': oneOf(...EFFORTS),
  'output_config.format': object({ type: is('json_schema'), schema: OBJECT }),
  stop_sequences: listOf(TEXT),
  temperature: { ...NUMBER, minimum: 0, maximum: 1, description: OLD_VERSION },
  top_p: { ...NUMBER, minimum: 0, maximum: 1, description: OLD_VERSION },
  top_k: { ...COUNT, description: OLD_VERSION },
  'metadata.user_id': orNull(TEXT),
};

const RESPONSES_TYPES: OpenapiPart = {
  model: TEXT,
  input: orNull({ anyOf: [TEXT, listOf(OBJECT)] }),
  instructions: orNull(TEXT),
  tools: orNull(listOf(object({ type: TEXT, 'name?': TEXT, 'parameters?': OBJECT }))),
  tool_choice: orNull({ anyOf: [oneOf('none', 'auto', 'required'), object({ type: TEXT })] }),
  parallel_tool_calls: orNull({ ...FLAG, default: true }),
  text: orNull(
    object({ 'format?': object({ type: oneOf('text', 'json_object', 'json_schema') }), 'verbosity?': TEXT }),
  ),
  reasoning: orNull(object({ 'effort?': orNull(oneOf('none', 'minimal', ...EFFORTS)), 'summary?': orNull(TEXT) })),
  include: orNull(listOf(TEXT)),
  metadata: orNull(OBJECT),
  user: orNull(TEXT),
};

const GEMINI_TYPES: OpenapiPart = {
  contents: listOf(object({ 'role?': oneOf('user', 'model'), parts: listOf(OBJECT) })),
  systemInstruction: object({ parts: listOf(object({ text: TEXT })) }),
  tools: listOf(object({ 'functionDeclarations?': listOf(object({ name: TEXT })) })),
  toolConfig: OBJECT,
  'generationConfig.topK': NUMBER,
  'generationConfig.stopSequences': listOf(TEXT),
  'generationConfig.responseMimeType': TEXT,
  'generationConfig.responseJsonSchema': OBJECT,
  'generationConfig.thinkingConfig': object({
    'includeThoughts?': FLAG,
    'thinkingBudget?': { type: 'integer' },
    'thinkingLevel?': oneOf('MINIMAL', 'LOW', 'MEDIUM', 'HIGH'),
  }),
};

/** Members that only generation requests have; token-count requests accept the rest. */
const OF_ANSWERS: readonly MemberRow['becomes'][] = [
  ...(['output_limit', 'stream', 'temperature', 'top_p', 'top_k', 'stop', 'end_user', 'service_tier'] as const),
];

const PROMPT: OpenapiPart = { anyOf: [TEXT, listOf(TEXT), listOf(COUNT), listOf(listOf(COUNT))] };
const HANDED_ON = 'Members that are not named here are handed on to a provider of the same format';
const TRANSLATED = '“Translated” describes the fate of a member if the provider uses another format.';

export const REQUEST_SCHEMAS: OpenapiPart = {
  ChatCompletionRequest: requestSchema(
    `A chat completions request. ${HANDED_ON}. ${TRANSLATED}`,
    CHAT_MEMBERS,
    { ...CHAT_TYPES, ...typesOf(CHAT_CHECKED) },
    ['model', 'messages'],
  ),
  ChatMessage: object({
    role: oneOf(...CHAT_ROLES),
    'content?': { anyOf: [TEXT, listOf(refTo('ChatContentPart')), { type: 'null' }] },
    'name?': TEXT,
    'tool_calls?': listOf(refTo('ChatToolCall')),
    'tool_call_id?': TEXT,
  }),
  ChatContentPart: object(
    { type: TEXT },
    'The member named as `type` (`text`, `image_url`, `file`, …) holds the content.',
  ),
  ChatTool: object({
    type: oneOf('function', 'custom'),
    'function?': object({ name: TEXT, 'description?': TEXT, 'parameters?': OBJECT, 'strict?': FLAG }),
    'custom?': object({ name: TEXT, 'description?': TEXT }),
  }),
  ResponseRequest: requestSchema(
    `A Responses request. \`input\` is required without \`previous_response_id\`, \`conversation\` and \`prompt\`. ${HANDED_ON}. ${TRANSLATED}`,
    RESPONSES_MEMBERS,
    { ...RESPONSES_TYPES, ...typesOf(RESPONSES_CHECKED) },
    ['model'],
  ),
  EmbeddingsRequest: object(
    {
      model: TEXT,
      input: {
        anyOf: [TEXT, listOf(TEXT), listOf(COUNT), listOf(listOf(COUNT))],
        description: "Texts. Token ids are those of OpenAI's tokenizers, and refused for models of others.",
      },
      'dimensions?': orNull(COUNT),
      'encoding_format?': orNull(oneOf('float', 'base64')),
      'user?': orNull(TEXT),
    },
    `A request for embeddings. ${HANDED_ON}.`,
  ),
  GeminiRequest: requestSchema(
    `A Gemini request; names of members may also be in snake case. ${HANDED_ON}. ${TRANSLATED}`,
    GEMINI_MEMBERS,
    {
      ...GEMINI_TYPES,
      ...typesOf(
        Object.fromEntries(Object.entries(GEMINI_CHECKED).map(([name, type]) => [`generationConfig.${name}`, type])),
      ),
    },
    ['contents'],
  ),
  CompletionRequest: object(
    {
      model: TEXT,
      'prompt?': orNull(PROMPT),
      'suffix?': orNull(TEXT),
      'stop?': orNull({ anyOf: [TEXT, listOf(TEXT)] }),
      'stream_options?': orNull(object({ 'include_usage?': FLAG }, 'Only with `stream: true`.')),
      'logprobs?': orNull(COUNT),
      'user?': orNull(TEXT),
      ...Object.fromEntries(Object.entries(typesOf(COMPLETIONS_CHECKED)).map(([name, schema]) => [`${name}?`, schema])),
    },
    `A request to complete a text. Only a model of this format answers it. ${HANDED_ON}.`,
  ),
  ModerationRequest: object(
    {
      input: { anyOf: [TEXT, listOf(TEXT), listOf(object({ type: TEXT }))] },
      'model?': { ...orNull(TEXT), description: 'Absent: the first model of the format that the key may use.' },
    },
    `A request to classify a content. ${HANDED_ON}.`,
  ),
  RankRequest: object(
    {
      model: TEXT,
      query: TEXT,
      documents: { ...listOf({ anyOf: [TEXT, object({ 'text?': TEXT })] }), minItems: 1 },
      'top_n?': { ...orNull({ ...COUNT, minimum: 1 }), description: 'Also under the name `top_k`.' },
      'return_documents?': orNull(FLAG),
    },
    `A request to rank documents, in the union of the members of Cohere, Jina and Voyage. ${HANDED_ON}.`,
  ),
  MessageRequest: requestSchema(
    `A messages request. ${HANDED_ON}, save those of chat completions, which are refused. ${TRANSLATED}`,
    MESSAGES_MEMBERS,
    { ...MESSAGES_TYPES, ...typesOf(MESSAGES_CHECKED) },
    ['model', 'max_tokens', 'messages'],
  ),
  CountTokensRequest: requestSchema(
    'A messages request without the members that only a response needs.',
    MESSAGES_MEMBERS.filter(({ becomes }) => !OF_ANSWERS.includes(becomes)),
    MESSAGES_TYPES,
    ['model', 'messages'],
  ),
  MessageTurn: object({ role: oneOf(...MESSAGES_ROLES), content: { anyOf: [TEXT, listOf(refTo('MessageBlock'))] } }),
};

/** One property for each row; a row of a nested member becomes a property of its parent's property. */
function requestSchema(
  description: string,
  rows: readonly MemberRow[],
  types: OpenapiPart,
  required: readonly string[],
): OpenapiPart {
  const properties: Record<string, OpenapiPart> = {};
  for (const row of rows) {
    const [outer = '', inner] = row.member.split('.');
    const described = { ...(types[row.member] as OpenapiPart | undefined), ...fateOf(row) };
    if (inner === undefined) properties[outer] = described;
    else {
      const holder: OpenapiPart = properties[outer] ?? OBJECT;
      properties[outer] = { ...holder, properties: { ...(holder.properties as OpenapiPart), [inner]: described } };
    }
  }
  return { type: 'object', description, properties, required, additionalProperties: true };
}

function fateOf({ fate, note }: MemberRow): { readonly description?: string } {
  const words = [fate ?? '', note].filter((text) => text !== '').join('; ');
  return words === '' ? {} : { description: `Translated: ${words}.` };
}

function typesOf(checked: Readonly<Record<string, MemberType>>): OpenapiPart {
  const entries = Object.entries(checked);
  return Object.fromEntries(
    entries.map(([name, { isNullable, ...schema }]) => [name, isNullable ? orNull(schema) : schema]),
  );
}

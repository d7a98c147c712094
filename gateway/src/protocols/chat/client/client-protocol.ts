/** Assembles the half of the chat-completions format that clients use, and checks its requests. */
import { children, type JsonNode, type JsonOutline, member, stringValue } from '../../../wire/json-node.ts';
import { bodyOf, checkMembers, givenNumber, memberChecks, modelOf, requireMember } from '../../check-members.ts';
import type { GenerationClient } from '../../client-protocol.ts';
import { OPENAI_CLIENT } from '../../openai/openai-client.ts';
import { KEEP_ALIVE, renderError, renderStreamError, statusOf } from '../../openai/render-error.ts';
import { findPricedMembers } from '../../request/priced-members.ts';
import {
  type CheckContext,
  checkArray,
  checkBoolean,
  checkKind,
  checkMetadata,
  checkText,
  checkTools,
  findExtras,
  type MediaTally,
  type MemberType,
  type RequestFacts,
  readEndUser,
  refuse,
  tallyPart,
} from '../../request/request-facts.ts';
import { typeOf } from '../../request/request-needs.ts';
import {
  findReferences,
  findToolReferences,
  noteAudio,
  referencesOf,
  type StoredReference,
  startReferences,
} from '../../stored/stored-references.ts';
import { parseRequest, REQUEST_MEMBERS } from './parse-request.ts';
import { readNeeds } from './read-needs.ts';
import { renderAnswer } from './render-answer.ts';
import { startStreamRenderer } from './render-stream.ts';

export const CHAT_ROLES: readonly string[] = ['developer', 'system', 'user', 'assistant', 'tool', 'function'];
const MEDIA = new Set(['image_url', 'input_audio', 'file']);
/** Contract, 10.9. */
const ANSWERS_MAX = 128;

/** Members for which checking type and range is enough. */
export const CHECKED_MEMBERS: Readonly<Record<string, MemberType>> = {
  temperature: { type: 'number', isNullable: true, minimum: 0, maximum: 2, default: 1 },
  top_p: { type: 'number', isNullable: true, minimum: 0, maximum: 1, default: 1 },
  stream: { type: 'boolean', isNullable: true, default: false },
  max_tokens: { type: 'integer', isNullable: true, minimum: 1 },
  max_completion_tokens: { type: 'integer', isNullable: true, minimum: 1 },
  n: { type: 'integer', isNullable: true, minimum: 1, maximum: ANSWERS_MAX },
};

const CHECKS = memberChecks(CHECKED_MEMBERS, {
  stream_options: checkStreamOptions,
  tools: (node, { limits }) => checkTools(node, limits),
  tool_choice: (node) => checkKind(node, 'tool_choice', ['string', 'object', 'null'], 'a string or an object'),
  response_format: (node) => checkKind(node, 'response_format', ['object', 'null'], 'an object'),
  user: (node, { limits }) => checkUser(node, limits.modelNameMax),
  metadata: (node, { limits }) => checkMetadata(node, limits),
});

const END_USER_MEMBERS = ['safety_identifier', 'user'] as const;

const MESSAGES = 'an array of at least one message';
/** Cursor sends such bodies to this endpoint. */
const OF_RESPONSES = `${MESSAGES}. A body with input is a request of the Responses API: send it to POST /v1/responses`;

/** @throws CallFailure `invalid_request` that names the first invalid member. */
export function checkRequest(outline: JsonOutline, context: CheckContext): RequestFacts {
  const root = bodyOf(outline);
  const found = startReferences();
  const members = children(root);
  const changesLimit = checkMembers(members, CHECKS, context, found);
  const modelNode = modelOf(root);
  const messages = requireMember(root, 'messages', member(root, 'input') === undefined ? MESSAGES : OF_RESPONSES);
  const stream = member(root, 'stream')?.kind === 'true';
  const options = member(root, 'stream_options');
  const media = checkMessages(messages, context, found);
  const tools = member(root, 'tools');
  if (tools !== undefined) findToolReferences(tools, typeOf, found);
  const newerLimit = givenNumber(root, 'max_completion_tokens');
  const olderLimit = givenNumber(root, 'max_tokens');
  return {
    model: checkText(modelNode, 'model', context.limits.modelNameMax, 1),
    stream,
    wantsUsage: options?.kind === 'object' && member(options, 'include_usage')?.kind === 'true',
    endUser: readEndUser(root, END_USER_MEMBERS),
    inputBytes: outline.bytes.length - media.bytes,
    mediaParts: media.parts,
    outputTokensMax: newerLimit ?? olderLimit,
    outputLimitMember: newerLimit !== null ? 'max_completion_tokens' : olderLimit === null ? null : 'max_tokens',
    otherLimit: newerLimit === null ? null : olderLimit,
    mayChangeLimit: changesLimit,
    answers: givenNumber(root, 'n') ?? 1,
    extras: findExtras({ mediaParts: media.parts, modalities: member(root, 'modalities') }),
    priced: findPricedMembers(members),
    stored: referencesOf(found),
  };
}

function checkUser(node: JsonNode, charsMax: number): void {
  if (node.kind !== 'null') checkText(node, 'user', charsMax);
}

function checkStreamOptions(node: JsonNode): void {
  checkKind(node, 'stream_options', ['object', 'null'], 'an object');
  const usage = member(node, 'include_usage');
  if (usage !== undefined) checkBoolean(usage, 'stream_options.include_usage');
}

/** Checks the messages; returns a tally of their images, audio and files. */
function checkMessages(messages: JsonNode, context: CheckContext, found: StoredReference[]): MediaTally {
  const media: MediaTally = { bytes: 0, parts: 0 };
  checkArray(messages, 'messages', 1, context.limits.messagesMax).forEach((message, index) => {
    const path = `messages.${index}`;
    checkKind(message, path, ['object'], 'a message (an object)');
    const role = member(message, 'role');
    if (role === undefined || !CHAT_ROLES.includes(stringValue(role) ?? '')) {
      throw refuse(`${path}.role`, role ?? null, `one of ${CHAT_ROLES.join(', ')}`);
    }
    noteAudio(message, path, found);
    const content = member(message, 'content');
    if (content === undefined || content.kind === 'null' || content.kind === 'string') return;
    checkKind(content, `${path}.content`, ['array'], 'a string, null or an array of parts');
    checkParts(content, `${path}.content`, context.limits.partsMax, media, found);
  });
  return media;
}

function checkParts(
  content: JsonNode,
  path: string,
  partsMax: number,
  media: MediaTally,
  found: StoredReference[],
): void {
  checkArray(content, path, 0, partsMax).forEach((part, index) => {
    checkKind(part, `${path}.${index}`, ['object', 'string'], 'a content part (an object)');
    const type = typeOf(part) ?? '';
    if (MEDIA.has(type)) tallyPart(media, part);
    if (type !== 'text') findReferences(part, `${path}.${index}`, found);
  });
}

export const chatClient: GenerationClient = {
  ...OPENAI_CLIENT,
  name: 'chat',
  translates: true,
  endpoints: [{ path: '/chat/completions', countOnly: false }],
  checkRequest,
  readNeeds,
  requestMembers: REQUEST_MEMBERS,
  parseRequest,
  startsWithInputTokens: false,
  startStreamRenderer,
  renderAnswer,
  cutReason: 'length',
  carriesSeals: false,
  showsImages: true,
  reasoningMember: 'messages[].reasoning',
  statusOf,
  renderError,
  renderStreamError,
  keepAlive: KEEP_ALIVE,
};

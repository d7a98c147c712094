/** Assembles the half of the Responses format that clients use, and checks its requests. */
import { children, elements, type JsonNode, type JsonOutline, member, numberValue } from '../../../wire/json-node.ts';
import { bodyOf, checkMembers, givenNumber, memberChecks, modelOf } from '../../check-members.ts';
import type { GenerationClient } from '../../client-protocol.ts';
import { OPENAI_CLIENT } from '../../openai/openai-client.ts';
import { given } from '../../openai/read-member.ts';
import { findPricedMembers } from '../../request/priced-members.ts';
import {
  type CheckContext,
  checkArray,
  checkKind,
  checkMetadata,
  checkText,
  checkTools,
  type MediaTally,
  type MemberType,
  type RequestExtras,
  type RequestFacts,
  readEndUser,
  refuse,
  tallyPart,
} from '../../request/request-facts.ts';
import { typeOf } from '../../request/request-needs.ts';
import {
  findToolReferences,
  referencesOf,
  type StoredReference,
  startReferences,
} from '../../stored/stored-references.ts';
import { parseRequest, REQUEST_MEMBERS } from './parse-request.ts';
import { readNeeds } from './read-needs.ts';
import { failsAsStream, KEEP_ALIVE, renderError, renderStreamError, statusOf } from './render-error.ts';
import { renderAnswer, startStreamRenderer } from './render-stream.ts';
import { noteItem, noteStateMember } from './state-members.ts';

const MEDIA = new Set(['input_image', 'input_audio', 'input_file', 'computer_screenshot']);

/** Members for which checking type and range is enough. */
export const CHECKED_MEMBERS: Readonly<Record<string, MemberType>> = {
  temperature: { type: 'number', isNullable: true, minimum: 0, maximum: 2, default: 1 },
  top_p: { type: 'number', isNullable: true, minimum: 0, maximum: 1, default: 1 },
  stream: { type: 'boolean', isNullable: true, default: false },
  store: { type: 'boolean', isNullable: true, default: true },
  background: { type: 'boolean', isNullable: true, default: false },
  max_output_tokens: { type: 'integer', isNullable: true, minimum: 1 },
  max_tool_calls: { type: 'integer', isNullable: true, minimum: 0 },
};

const CHECKS = memberChecks(CHECKED_MEMBERS, {
  instructions: (node) => checkKind(node, 'instructions', ['string', 'null'], 'a string'),
  tools: (node, { limits }) => checkTools(node, limits),
  tool_choice: (node) => checkKind(node, 'tool_choice', ['string', 'object', 'null'], 'a string or an object'),
  text: (node) => checkKind(node, 'text', ['object', 'null'], 'an object'),
  reasoning: (node) => checkKind(node, 'reasoning', ['object', 'null'], 'an object'),
  include: (node) => checkKind(node, 'include', ['array', 'null'], 'an array of strings'),
  stream_options: (node) => checkKind(node, 'stream_options', ['object', 'null'], 'an object'),
  metadata: (node, { limits }) => checkMetadata(node, limits),
});

const NO_MEDIA: MediaTally = { bytes: 0, parts: 0 };
/** What a provider keeps may be all of the input: OpenAI requires one of these or `input`. */
const INPUTS_BEFORE = ['previous_response_id', 'conversation', 'prompt'] as const;
const END_USER_MEMBERS = ['safety_identifier', 'user'] as const;

/** @throws CallFailure `invalid_request` that names the first invalid member. */
function checkRequest(outline: JsonOutline, context: CheckContext): RequestFacts {
  const root = bodyOf(outline);
  const found = startReferences();
  const members = children(root);
  const changesLimit = checkMembers(members, CHECKS, context, found, noteStateMember);
  const modelNode = modelOf(root);
  const input = given(root, 'input');
  // A count may be that of instructions or tools.
  if (input === undefined && !context.countOnly && INPUTS_BEFORE.every((name) => given(root, name) === undefined))
    throw refuse('input', member(root, 'input') ?? null, 'a string or an array of items');
  const media = input === undefined ? NO_MEDIA : checkInput(input, context, found);
  const tools = member(root, 'tools');
  if (tools !== undefined) findToolReferences(tools, typeOf, found);
  const outputTokensMax = givenNumber(root, 'max_output_tokens');
  return {
    model: checkText(modelNode, 'model', context.limits.modelNameMax, 1),
    stream: member(root, 'stream')?.kind === 'true',
    wantsUsage: true,
    endUser: readEndUser(root, END_USER_MEMBERS),
    inputBytes: outline.bytes.length - media.bytes,
    mediaParts: media.parts,
    outputTokensMax,
    outputLimitMember: outputTokensMax === null ? null : 'max_output_tokens',
    otherLimit: null,
    mayChangeLimit: changesLimit,
    answers: 1,
    extras: findToolsAndMedia(tools, member(root, 'max_tool_calls'), media.parts),
    background: member(root, 'background')?.kind === 'true' ? true : undefined,
    priced: findPricedMembers(members),
    stored: referencesOf(found),
  };
}

/** Checks the items; returns a tally of their images, audio and files. */
function checkInput(input: JsonNode, context: CheckContext, found: StoredReference[]): MediaTally {
  const media: MediaTally = { bytes: 0, parts: 0 };
  if (input.kind === 'string') return media;
  checkKind(input, 'input', ['array'], 'a string or an array of items');
  checkArray(input, 'input', 0, context.limits.messagesMax).forEach((item, index) => {
    const path = `input.${index}`;
    checkKind(item, path, ['object'], 'an item (an object)');
    noteItem(item, path, found);
    for (const name of ['content', 'output']) {
      const value = member(item, name);
      if (value?.kind === 'array') checkParts(value, `${path}.${name}`, context.limits.partsMax, media);
      else if (value?.kind === 'object') checkPart(value, media);
    }
  });
  return media;
}

function checkParts(content: JsonNode, path: string, partsMax: number, media: MediaTally): void {
  checkArray(content, path, 0, partsMax).forEach((part, index) => {
    checkKind(part, `${path}.${index}`, ['object'], 'a content part (an object)');
    checkPart(part, media);
  });
}

function checkPart(part: JsonNode, media: MediaTally): void {
  if (MEDIA.has(typeOf(part) ?? '')) tallyPart(media, part);
}

/** Tools that the provider runs, by the beginning of their type, and the kind under which their requests are priced. */
const PRICED_TOOLS: ReadonlyArray<readonly [start: string, kind: string]> = [
  ['web_search', 'web_search'],
  ['file_search', 'file_search'],
  ['code_interpreter', 'code_interpreter'],
  ['image_generation', 'image_generation'],
];

/** Requests of a tool without `max_tool_calls`: the most seen in one answer (recorded traffic, 2025 and 2026). */
const REQUESTS_ASSUMED = 10;

/** Undefined for a request of text without such tools. */
function findToolsAndMedia(
  tools: JsonNode | undefined,
  most: JsonNode | undefined,
  mediaParts: number,
): RequestExtras | undefined {
  const toolRequests = new Map<string, number>();
  const requests = Math.min(REQUESTS_ASSUMED, (most === undefined ? undefined : numberValue(most)) ?? REQUESTS_ASSUMED);
  for (const tool of tools === undefined ? [] : elements(tools)) {
    const type = typeOf(tool) ?? '';
    const kind = PRICED_TOOLS.find(([start]) => type.startsWith(start))?.[1];
    if (kind !== undefined) toolRequests.set(kind, requests);
  }
  const mediaOutput = toolRequests.has('image_generation');
  if (mediaParts === 0 && toolRequests.size === 0) return undefined;
  return { mediaInput: mediaParts > 0 || mediaOutput, mediaOutput, toolRequests };
}

export const responsesClient: GenerationClient = {
  ...OPENAI_CLIENT,
  name: 'responses',
  answersImages: true,
  translates: true,
  endpoints: [
    { path: '/responses', countOnly: false },
    { path: '/responses/input_tokens', countOnly: true },
  ],
  countObject: 'response.input_tokens',
  checkRequest,
  readNeeds,
  requestMembers: REQUEST_MEMBERS,
  parseRequest,
  startsWithInputTokens: false,
  startStreamRenderer,
  renderAnswer,
  cutReason: 'max_output_tokens',
  betaHeader: 'openai-beta',
  carriesSeals: true,
  reasoningMember: 'input[].reasoning',
  statusOf,
  renderError,
  renderStreamError,
  failsAsStream,
  keepAlive: KEEP_ALIVE,
};

/** Assembles the half of the messages format that clients use, and checks its requests. */
import { invalidRequest } from '../../../errors/call-failure.ts';
import {
  children,
  type JsonNode,
  type JsonOutline,
  jsonText,
  member,
  memberName,
  stringValue,
} from '../../../wire/json-node.ts';
import {
  bodyOf,
  checkMembers,
  givenNumber,
  type MemberCheck,
  memberChecks,
  modelOf,
  requireMember,
} from '../../check-members.ts';
import type { GenerationClient } from '../../client-protocol.ts';
import { findPricedMembers } from '../../request/priced-members.ts';
import {
  type CheckContext,
  checkArray,
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
  tallyNested,
  tallyPart,
} from '../../request/request-facts.ts';
import { typeOf } from '../../request/request-needs.ts';
import {
  findReferences,
  findToolReferences,
  mayHoldReference,
  RESULT_MARKS,
  referencesOf,
  type StoredReference,
  startReferences,
} from '../../stored/stored-references.ts';
import { parseRequest, REQUEST_MEMBERS } from './parse-request.ts';
import { readNeeds } from './read-needs.ts';
import { renderAnswer } from './render-answer.ts';
import { KEEP_ALIVE, renderError, renderStreamError, statusOf } from './render-error.ts';
import { startStreamRenderer } from './render-stream.ts';

export const MESSAGES_ROLES: readonly string[] = ['user', 'assistant', 'system'];
const MEDIA = new Set(['image', 'document']);
const SAMPLING = ['temperature', 'top_p', 'top_k'];
const NEWER = '2026-10-21';

/** Members that need only a type and range check. */
export const CHECKED_MEMBERS: Readonly<Record<string, MemberType>> = {
  max_tokens: { type: 'integer', isNullable: false, minimum: 0 },
  stream: { type: 'boolean', isNullable: true, default: false },
};

export const CHAT_ONLY: ReadonlyMap<string, string> = new Map([
  ['max_completion_tokens', 'the cap on output is "max_tokens"'],
  ['response_format', 'a schema is given as "output_config": {"format": {"type": "json_schema", "schema": …}}'],
  ['n', 'there is one answer per call; leave it out'],
  ['stop', 'stop texts are given as "stop_sequences", an array'],
  ['stream_options', 'usage is always in the stream; leave it out'],
  ['frequency_penalty', 'there is no such parameter; leave it out'],
  ['presence_penalty', 'there is no such parameter; leave it out'],
  ['logprobs', 'there are no log probabilities; leave it out'],
  ['top_logprobs', 'there are no log probabilities; leave it out'],
  ['logit_bias', 'there is no such parameter; leave it out'],
  ['functions', 'tools are given as "tools": [{"name", "description", "input_schema"}]'],
  ['function_call', 'a tool is chosen by "tool_choice": {"type": "tool", "name": …}'],
  ['parallel_tool_calls', 'it is "tool_choice": {"type": "auto", "disable_parallel_tool_use": true}'],
  ['reasoning_effort', 'effort is given as "output_config": {"effort": …} or by "thinking"'],
  ['seed', 'there is no such parameter; leave it out'],
  ['user', 'the end user is named by "metadata": {"user_id": …}'],
  ['modalities', 'answers are text; leave it out'],
  ['audio', 'answers are text; leave it out'],
  ['prediction', 'there is no such parameter; leave it out'],
]);

const CHECKS = memberChecks(CHECKED_MEMBERS, {
  ...Object.fromEntries(SAMPLING.map((name) => [name, checkSampling])),
  ...Object.fromEntries(
    [...CHAT_ONLY].map(([name, why]): [string, MemberCheck] => [name, () => refuseChat(name, why)]),
  ),
  system: checkSystem,
  tools: (node, { limits }) => checkTools(node, limits),
  metadata: (node, { limits }) => checkMetadata(node, limits),
});

/** In messages, only `metadata.user_id` names an end user. */
const NO_MEMBERS: readonly string[] = [];

/** @throws CallFailure `invalid_request` that names the first invalid member. */
export function checkRequest(outline: JsonOutline, context: CheckContext): RequestFacts {
  const root = bodyOf(outline);
  const found = startReferences();
  const members = children(root);
  const changesLimit = checkMembers(members, CHECKS, context, found);
  const modelNode = modelOf(root);
  const messages = requireMember(root, 'messages', 'an array of at least one message');
  if (!context.countOnly) requireMember(root, 'max_tokens', 'an integer: the most tokens that the answer may have');
  const media = checkMessages(messages, context, found);
  const tools = member(root, 'tools');
  if (tools !== undefined) findToolReferences(tools, typeOf, found);
  const outputTokensMax = givenNumber(root, 'max_tokens');
  return {
    model: checkText(modelNode, 'model', context.limits.modelNameMax, 1),
    stream: member(root, 'stream')?.kind === 'true',
    wantsUsage: true,
    endUser: readEndUser(root, NO_MEMBERS),
    inputBytes: outline.bytes.length - media.bytes,
    mediaParts: media.parts,
    outputTokensMax,
    outputLimitMember: outputTokensMax === null ? null : 'max_tokens',
    otherLimit: null,
    mayChangeLimit: changesLimit,
    answers: 1,
    extras: findExtras({ mediaParts: media.parts, tools }),
    priced: findPricedMembers(members),
    stored: referencesOf(found),
  };
}

function refuseChat(name: string, messagesWay: string): never {
  throw invalidRequest(`${name}: is a parameter of chat completions; on messages ${messagesWay}`, name);
}

function checkSampling(node: JsonNode, { version }: CheckContext): void {
  if (version !== NEWER) return;
  const name = memberName(node);
  throw invalidRequest(`${name}: is not taken under anthropic-version ${NEWER}; leave it out`, name);
}

function checkSystem(node: JsonNode, { limits }: CheckContext): void {
  if (node.kind === 'string' || node.kind === 'null') return;
  checkKind(node, 'system', ['array'], 'a string or an array of text blocks');
  checkArray(node, 'system', 0, limits.partsMax).forEach((block, index) => {
    checkKind(block, `system.${index}`, ['object'], 'a text block (an object)');
  });
}

/** Returns the tally of images and documents in the turns. */
function checkMessages(messages: JsonNode, context: CheckContext, found: StoredReference[]): MediaTally {
  const media: MediaTally = { bytes: 0, parts: 0 };
  checkArray(messages, 'messages', 1, context.limits.messagesMax).forEach((message, index) => {
    const path = `messages.${index}`;
    checkKind(message, path, ['object'], 'a message (an object)');
    const roleNode = member(message, 'role');
    const role = roleNode === undefined ? undefined : stringValue(roleNode);
    if (role === undefined || !MESSAGES_ROLES.includes(role)) {
      throw refuse(`${path}.role`, roleNode ?? null, 'user or assistant (or system, where the model takes it)');
    }
    const content = member(message, 'content');
    if (content === undefined) throw refuse(`${path}.content`, null, 'a string or an array of content blocks');
    if (content.kind === 'string') return;
    checkKind(content, `${path}.content`, ['array'], 'a string or an array of content blocks');
    checkBlocks(content, `${path}.content`, { role, context, media, found });
  });
  return media;
}

interface Place {
  readonly role: string;
  readonly context: CheckContext;
  readonly media: MediaTally;
  readonly found: StoredReference[];
}

function checkBlocks(content: JsonNode, path: string, { role, context, media, found }: Place): void {
  checkArray(content, path, 0, context.limits.partsMax).forEach((block, index) => {
    checkKind(block, `${path}.${index}`, ['object'], 'a content block (an object)');
    const typeNode = member(block, 'type');
    const type = typeNode === undefined ? undefined : stringValue(typeNode);
    if (type !== undefined && MEDIA.has(type)) tallyPart(media, block);
    else if (type === 'tool_result') tallyNested(media, block);
    if (mayNameStored(block, type)) findReferences(block, `${path}.${index}`, found);
    if (context.version === NEWER) checkNewerBlock(block, type, `${path}.${index}`, role);
  });
}

/** Blocks of text, reasoning and calls name nothing stored; the results of the provider's own tools only tell of it. */
const PLAIN: ReadonlySet<string> = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use']);

function mayNameStored(block: JsonNode, type: string | undefined): boolean {
  if (type === undefined) return true;
  if (type === 'tool_result') return mayHoldReference(block, RESULT_MARKS);
  return !PLAIN.has(type) && !type.endsWith('_tool_result');
}

/** Checks the restrictions added in version 2026-10-21. Source: wire reference B.1. */
function checkNewerBlock(block: JsonNode, type: string | undefined, path: string, role: string): void {
  if (role === 'assistant' && type === 'document') {
    throw invalidRequest(
      `${path}: a document directly in an assistant turn is not taken under anthropic-version ${NEWER}; put it into a user turn or a tool result`,
      path,
    );
  }
  const citations = role === 'user' && type === 'text' ? member(block, 'citations') : undefined;
  if (citations?.kind === 'array' && /\S/.test(jsonText(citations).slice(1, -1))) {
    throw invalidRequest(
      `${path}.citations: citations on user text are not taken under anthropic-version ${NEWER}; leave them out`,
      `${path}.citations`,
    );
  }
}

export const messagesClient: GenerationClient = {
  name: 'messages',
  translates: true,
  endpoints: [
    { path: '/messages', countOnly: false },
    { path: '/messages/count_tokens', countOnly: true },
  ],
  versionHeader: 'anthropic-version',
  readVersion,
  prefersApiKeyHeader: true,
  checkRequest,
  readNeeds,
  requestMembers: REQUEST_MEMBERS,
  parseRequest,
  startsWithInputTokens: true,
  startStreamRenderer,
  renderAnswer,
  cutReason: 'max_tokens',
  carriesSeals: true,
  reasoningMember: 'messages[].content[].thinking',
  statusOf,
  renderError,
  renderStreamError,
  keepAlive: KEEP_ALIVE,
  // Source: wire reference B.8.
  limitHeader: (unit, member) => `anthropic-ratelimit-${unit}-${member}`,
  renderReset: (leftMs, nowMs) => momentText(leftMs + nowMs),
};

/** `provider-version` and `anthropic-version` are synonyms; absent means 2023-06-01, any other value is refused. */
function readVersion(headers: Headers): string {
  const found = headers.get('anthropic-version') ?? headers.get('provider-version');
  if (found === null) return '2023-06-01';
  if (found === '2023-06-01' || found === '2026-10-21') return found;
  throw invalidRequest(
    `anthropic-version is ${JSON.stringify(found.slice(0, 80))}; expected 2023-06-01 or 2026-10-21`,
    'anthropic-version',
  );
}

/** RFC 3339 to the second, rounded up. */
function momentText(atMs: number): string {
  return new Date(Math.ceil(atMs / 1_000) * 1_000).toISOString().replace('.000Z', 'Z');
}

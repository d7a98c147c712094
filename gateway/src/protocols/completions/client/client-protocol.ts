/** Assembles the half of the legacy completions format that clients use, and checks its requests. */
import { children, elements, type JsonNode, type JsonOutline, member, memberName } from '../../../wire/json-node.ts';
import { bodyOf, givenNumber, modelOf } from '../../check-members.ts';
import type { DirectClient } from '../../client-protocol.ts';
import { DIRECT_CLIENT, DIRECT_FACTS } from '../../openai/direct-format.ts';
import { findPricedMembers } from '../../request/priced-members.ts';
import {
  type CheckContext,
  checkBoolean,
  checkKind,
  checkText,
  checkType,
  type MemberType,
  mayChangeLimit,
  type RequestFacts,
  readEndUser,
  refuse,
} from '../../request/request-facts.ts';

/** Members for which checking type and range is enough. The number of answers is bounded as for chat (contract, 10.9). */
export const CHECKED_MEMBERS: Readonly<Record<string, MemberType>> = {
  temperature: { type: 'number', isNullable: true, minimum: 0, maximum: 2, default: 1 },
  top_p: { type: 'number', isNullable: true, minimum: 0, maximum: 1, default: 1 },
  stream: { type: 'boolean', isNullable: true, default: false },
  echo: { type: 'boolean', isNullable: true, default: false },
  max_tokens: { type: 'integer', isNullable: true, minimum: 0 },
  n: { type: 'integer', isNullable: true, minimum: 1, maximum: 128 },
  best_of: { type: 'integer', isNullable: true, minimum: 1, maximum: 128 },
};

const PROMPT = 'a string, token ids, or an array of strings or of token ids';
const BYTES_PER_TOKEN_ID = 4;

/** @throws CallFailure `invalid_request` that names the first invalid member. */
function checkRequest(outline: JsonOutline, { limits }: CheckContext): RequestFacts {
  const root = bodyOf(outline);
  let changesLimit = false;
  const members = children(root);
  for (const node of members) {
    const name = memberName(node);
    const type = Object.hasOwn(CHECKED_MEMBERS, name) ? CHECKED_MEMBERS[name] : undefined;
    if (type !== undefined) checkType(node, name, type);
    else if (mayChangeLimit(name)) changesLimit = true;
  }
  const modelNode = modelOf(root);
  const options = member(root, 'stream_options');
  if (options !== undefined) checkStreamOptions(options);
  const user = member(root, 'user');
  if (user !== undefined && user.kind !== 'null') checkText(user, 'user', limits.modelNameMax);
  const prompts = readPrompts(member(root, 'prompt'));
  const outputTokensMax = givenNumber(root, 'max_tokens');
  return {
    ...DIRECT_FACTS,
    model: checkText(modelNode, 'model', limits.modelNameMax, 1),
    stream: member(root, 'stream')?.kind === 'true',
    wantsUsage: options?.kind === 'object' && member(options, 'include_usage')?.kind === 'true',
    endUser: readEndUser(root, ['user']),
    inputBytes: outline.bytes.length - prompts.idBytes + prompts.ids * BYTES_PER_TOKEN_ID,
    outputTokensMax,
    outputLimitMember: outputTokensMax === null ? null : 'max_tokens',
    mayChangeLimit: changesLimit,
    // Every candidate is billed, also those that `best_of` leaves out.
    answers: prompts.count * Math.max(givenNumber(root, 'n') ?? 1, givenNumber(root, 'best_of') ?? 1),
    priced: findPricedMembers(members),
  };
}

function checkStreamOptions(node: JsonNode): void {
  checkKind(node, 'stream_options', ['object', 'null'], 'an object');
  const usage = node.kind === 'object' ? member(node, 'include_usage') : undefined;
  if (usage !== undefined) checkBoolean(usage, 'stream_options.include_usage');
}

interface Prompts {
  /** Each gets answers of its own. */
  readonly count: number;
  readonly ids: number;
  /** The bytes of the ids in the body. */
  readonly idBytes: number;
}

const ONE_TEXT: Prompts = { count: 1, ids: 0, idBytes: 0 };

/** Without a prompt the model begins a document. */
function readPrompts(prompt: JsonNode | undefined): Prompts {
  if (prompt === undefined || prompt.kind === 'null' || prompt.kind === 'string') return ONE_TEXT;
  checkKind(prompt, 'prompt', ['array'], PROMPT);
  const items = elements(prompt);
  if (items.length === 0) throw refuse('prompt', prompt, PROMPT);
  if (items[0]?.kind === 'number') return { count: 1, ids: countIds(items, 'prompt'), idBytes: widthOf(prompt) };
  const tally = { count: items.length, ids: 0, idBytes: 0 };
  for (const [index, item] of items.entries()) {
    checkKind(item, `prompt.${index}`, ['string', 'array'], 'a string or token ids');
    if (item.kind !== 'array') continue;
    tally.ids += countIds(elements(item), `prompt.${index}`);
    tally.idBytes += widthOf(item);
  }
  return tally;
}

function countIds(items: readonly JsonNode[], path: string): number {
  const other = items.find(({ kind }) => kind !== 'number');
  if (other !== undefined) throw refuse(path, other, 'token ids: integers');
  return items.length;
}

function widthOf({ start, end }: JsonNode): number {
  return end - start;
}

export const completionsClient: DirectClient = {
  ...DIRECT_CLIENT,
  name: 'completions',
  endpoints: [{ path: '/completions', countOnly: false }],
  cutReason: 'length',
  checkRequest,
};

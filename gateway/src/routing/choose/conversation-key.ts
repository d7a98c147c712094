/**
 * Finds which conversation a request belongs to: by the session that its client names, else by how its prompt begins.
 */
import { readBodySession } from '../../protocols/named-session.ts';
import {
  children,
  elements,
  isNamed,
  type JsonNode,
  type JsonOutline,
  member,
  stringValue,
} from '../../wire/json-node.ts';
import type { Route } from '../route.ts';
import { hashOf } from './random.ts';

/** Prompts of fewer tokens are not worth a pin: providers do not cache them. */
const PREFIX_TOKENS_MIN = 1_024;

interface ConversationSource {
  readonly workspaceId: string;
  /** The session that a header names; null: none. */
  readonly session: string | null;
  readonly outline: JsonOutline;
  readonly inputTokens: number;
}

/**
 * A number for (workspace, route, conversation), whose length does not depend on the client's ids. Null: affinity is
 * off, or the request names no session and its prompt is short or has no turns, such as texts to embed.
 */
export function conversationKey({ model, routing }: Route, source: ConversationSource): number | null {
  const { workspaceId, session, outline, inputTokens } = source;
  if (routing.affinity === 'off') return null;
  const named = routing.affinity === 'session' ? (session ?? namedSession(outline.root)) : null;
  if (named === null && inputTokens < PREFIX_TOKENS_MIN) return null;
  const owner = hashOf(model, hashOf(workspaceId, 0));
  return named === null ? hashPrefix(outline.root, owner) : hashOf(named, owner);
}

/** The members that hold instructions, and those that hold turns, by format. */
const INSTRUCTIONS = ['tools', 'system', 'instructions', 'systemInstruction', 'system_instruction'];
const TURNS = ['messages', 'input', 'contents'];

/** The session that the body names; null: none. Clients also give the requests of a session one cache key. */
function namedSession(root: JsonNode): string | null {
  const cacheKey = member(root, 'prompt_cache_key');
  const named = cacheKey === undefined ? undefined : stringValue(cacheKey);
  return named || readBodySession(root);
}

/** The tools, the instructions, and the turns up to the first of the user, in the bytes of the client. */
function hashPrefix(root: JsonNode, seed: number): number | null {
  let hash = seed;
  let hasTurn = false;
  for (const name of INSTRUCTIONS) {
    const node = member(root, name);
    if (node !== undefined) hash = hashUnmarked(node, hash);
  }
  const messages = TURNS.map((name) => member(root, name)).find((node) => node !== undefined);
  if (messages?.kind === 'string') return hashNode(messages, hash);
  for (const message of messages === undefined ? [] : elements(messages)) {
    const content = message.kind === 'object' ? (member(message, 'content') ?? member(message, 'parts')) : undefined;
    if (content === undefined) continue;
    hash = hashUnmarked(content, hash);
    hasTurn = true;
    const role = message.kind === 'object' ? member(message, 'role') : undefined;
    if (role !== undefined && stringValue(role) === 'user') break;
  }
  return hasTurn ? hash : null;
}

/** The hash of a value, without the cache marks of its blocks: clients move them from turn to turn. */
function hashUnmarked(node: JsonNode, seed: number): number {
  if (node.kind !== 'array') return hashNode(node, seed);
  let hash = seed;
  for (const block of elements(node)) {
    if (block.kind !== 'object') hash = hashNode(block, hash);
    else for (const value of children(block)) if (!isNamed(value, 'cache_control')) hash = hashNode(value, hash);
  }
  return hash;
}

function hashNode({ outline, start, end }: JsonNode, seed: number): number {
  return hashOf(outline.bytes.subarray(start, end), seed);
}

/**
 * Reads the session that a request names: the conversation, or the run of an agent, that it is a turn of. A header names
 * it, else the body.
 */
import { createHash } from 'node:crypto';
import { type JsonNode, member, stringValue } from '../wire/json-node.ts';

/** As filters and pages take names. */
export const SESSION_CHARS_MAX = 256;

/**
 * As Claude Code, OpenCode and others, Codex, earlier Codex with Pi and Hermes, and Pi for chat send it; the first that
 * is not empty counts. The last two: https://github.com/openai/codex/issues/11732,
 * https://github.com/NousResearch/hermes-agent/pull/65159 (2026-11-28).
 */
const HEADERS = ['x-claude-code-session-id', 'x-session-id', 'session-id', 'session_id', 'x-session-affinity'] as const;

/** Null: no header names one. */
export function readHeaderSession(headers: Headers): string | null {
  for (const name of HEADERS) {
    const session = boundName(headers.get(name));
    if (session !== null) return session;
  }
  return null;
}

/**
 * In this order: `metadata.session_id`, the conversation of the Responses API (`conversation`, a text or an object with
 * `id`), the session in the user id of Claude Code. A value of another type names none. Null: nothing does.
 */
export function readBodySession(root: JsonNode): string | null {
  const metadata = member(root, 'metadata');
  const own = metadata === undefined ? null : nameIn(member(metadata, 'session_id'));
  if (own !== null) return own;
  const conversation = member(root, 'conversation');
  const thread = nameIn(conversation?.kind === 'object' ? member(conversation, 'id') : conversation);
  if (thread !== null || metadata === undefined) return thread;
  const userId = member(metadata, 'user_id');
  return boundName(sessionOfUser((userId?.kind === 'string' ? stringValue(userId) : undefined) ?? ''));
}

function nameIn(node: JsonNode | undefined): string | null {
  return node?.kind === 'string' ? boundName(stringValue(node)) : null;
}

/** An address cannot have such a name as a part of its path. */
const DOTS = /^\.{1,2}$/;

/**
 * Without surrounding spaces. A name of more than 256 characters, or of dots only, becomes `sha256:` and its digest, so
 * that different names remain different. Null: empty.
 */
function boundName(name: string | null | undefined): string | null {
  const text = name?.trim().toWellFormed() ?? '';
  if (text === '') return null;
  return text.length <= SESSION_CHARS_MAX && !DOTS.test(text)
    ? text
    : `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

const SESSION_MARK = '_session_';

/**
 * The session in the user id of Claude Code: `user_…_account_…_session_UUID`, or the JSON text
 * `{"device_id":…,"session_id":…}`. Null: a user id without one.
 */
function sessionOfUser(userId: string): string | null {
  const at = userId.lastIndexOf(SESSION_MARK);
  if (at !== -1) return userId.slice(at + SESSION_MARK.length);
  if (!userId.startsWith('{')) return null;
  try {
    const { session_id } = JSON.parse(userId) as { session_id?: unknown };
    return typeof session_id === 'string' ? session_id : null;
  } catch {
    return null;
  }
}

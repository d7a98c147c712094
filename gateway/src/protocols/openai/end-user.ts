/** Renders the end user of a request as OpenAI's `safety_identifier`. */
import { createHash } from 'node:crypto';
import type { GenerationRequest } from '../../generation/request.ts';

const IDENTIFIER_CHARS_MAX = 128;
const HASH_CHARS = 32;

/**
 * Hashes ids from `metadata.user_id`: Claude Code puts device, account and session ids there, which no other company
 * may get (wire reference C.2). Also hashes ids that are too long.
 */
export function renderEndUser(end_user: string, { named }: Pick<GenerationRequest, 'named'>): string {
  const isPrivate = named.end_user?.startsWith('metadata') ?? false;
  if (!isPrivate && end_user.length <= IDENTIFIER_CHARS_MAX) return end_user;
  return createHash('sha256').update(end_user).digest('hex').slice(0, HASH_CHARS);
}

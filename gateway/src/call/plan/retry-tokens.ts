/**
 * Remembers which provider issued a retry token to a workspace (a token in a refusal that makes the retry on another
 * model cheaper), so that the token goes back only to the account that issued it. Stores only the token's hash; lost at
 * a restart.
 */
import { createHash } from 'node:crypto';

/** The workspace that may present a token, and the provider that issued it. */
export interface TokenOwner {
  readonly workspace: string;
  readonly provider: string;
}

export interface RetryTokens {
  note(token: string, owner: TokenOwner, nowMs: number): void;
  /** Whether the provider issued the token to the workspace within its lifetime. */
  isFrom(token: string, owner: TokenOwner, nowMs: number): boolean;
}

/**
 * Upstream expires them after five minutes: https://platform.claude.com/docs/en/build-with-claude/fallback-credit
 * (2026-11-22).
 */
const LIFE_MS = 5 * 60_000;
const TOKENS_MAX = 10_000;

interface Issued extends TokenOwner {
  readonly untilMs: number;
}

export function createRetryTokens(): RetryTokens {
  const issued = new Map<string, Issued>();
  return {
    note(token, { workspace, provider }, nowMs) {
      if (issued.size >= TOKENS_MAX)
        for (const [oldest] of [...issued].slice(0, TOKENS_MAX / 10)) issued.delete(oldest);
      issued.set(hashOf(token), { workspace, provider, untilMs: nowMs + LIFE_MS });
    },
    isFrom(token, { workspace, provider }, nowMs) {
      const found = issued.get(hashOf(token));
      return (
        found !== undefined && found.workspace === workspace && found.provider === provider && nowMs < found.untilMs
      );
    },
  };
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

/**
 * Lists how agents are told to stop where they show the gateway's words only in a form of their own. Others get the words
 * of their format. Contract, 10.25; measured with Codex 0.169.0 (2026-11-23).
 */
import type { CallFailure } from '../../errors/call-failure.ts';
import type { FailureKind } from '../../errors/failure-kinds.ts';
import type { ClientProtocolName } from '../../protocols/names.ts';

interface AgentStop {
  /** Matches its user agent. */
  readonly agent: RegExp;
  readonly protocol: ClientProtocolName;
  readonly kind: FailureKind;
  /** The type of the error that makes it show the words. */
  readonly type: string;
  /** The header in which it reads the words. */
  readonly header: string;
}

const AGENT_STOPS: readonly AgentStop[] = [
  {
    agent: /^codex/i,
    protocol: 'responses',
    kind: 'quota_exceeded',
    type: 'usage_limit_reached',
    header: 'x-codex-promo-message',
  },
];

interface StopWords {
  /** Members of the error object; `resets_at` in Unix seconds. */
  readonly error: { readonly type: string; readonly resets_at?: number };
  readonly headers: Readonly<Record<string, string>>;
}

/** The words for the agent in place of its format's; null: it reads those. */
export function stopWords(
  userAgent: string | null,
  protocol: ClientProtocolName,
  { kind, message, details }: CallFailure,
): StopWords | null {
  const stop = AGENT_STOPS.find(
    (row) => row.kind === kind && row.protocol === protocol && row.agent.test(userAgent ?? ''),
  );
  if (stop === undefined) return null;
  const resetsAt = details.reason?.resets_at;
  const reset = resetsAt === undefined ? {} : { resets_at: Math.ceil(Date.parse(resetsAt) / 1_000) };
  return { error: { type: stop.type, ...reset }, headers: { [stop.header]: headerWords(message) } };
}

/** The agent shows the header as it is; a header has no characters beyond ASCII. */
function headerWords(message: string): string {
  return message.replaceAll('’', "'").replaceAll(/[^ -~]+/g, '?');
}

/**
 * Lists how agents are told to stop where they do not end, or do not show why, on a 429 in the words of their format.
 * Others get those. Contract, 10.25. Measured on 2026-11-23: Codex 0.169.0, OpenCode 1.18.33, Qwen Code 0.15.10 (by hand);
 * Claude Code 2.1.329 and Gemini CLI 0.61.0 end after one request.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import type { ClientProtocolName } from '../../protocols/names.ts';

interface AgentStop {
  /** Matches its user agent. */
  readonly agent: RegExp;
  /** The format in which it needs this; absent: any. */
  readonly protocol?: ClientProtocolName;
  /** The status on which it ends; absent: that of the format. */
  readonly status?: number;
  /** The type of the error that makes it show the words; absent: that of the format. */
  readonly type?: string;
  /** The header in which it reads the words; absent: it reads the body. */
  readonly header?: string;
}

/** In OpenAI's formats; `rate_limit_exceeded` anywhere in the body makes OpenCode ask again. */
const SPENT = 'insufficient_quota';
const PAYMENT_REQUIRED = 402;
const AGENT_STOPS: readonly AgentStop[] = [
  {
    agent: /^codex/i,
    protocol: 'responses',
    type: 'usage_limit_reached',
    header: 'x-codex-promo-message',
  },
  // They ask again after any 429 for minutes, whatever its code and headers.
  { agent: /^opencode\//i, status: PAYMENT_REQUIRED },
  { agent: /^QwenCode\//i, status: PAYMENT_REQUIRED },
];

function findStop(
  userAgent: string | null,
  protocol: ClientProtocolName,
  { kind }: CallFailure,
): AgentStop | undefined {
  if (kind !== 'quota_exceeded' || userAgent === null) return undefined;
  return AGENT_STOPS.find((row) => (row.protocol ?? protocol) === protocol && row.agent.test(userAgent));
}

/** The call as far as its agent's status depends on it. */
interface AskedCall {
  readonly request: { readonly headers: Headers };
  readonly protocol: ClientProtocol;
}

/** The failure with the status and code on which the client's agent ends, in a stream too; itself if those are the format's. */
export function withAgentStatus({ request, protocol }: AskedCall, failure: CallFailure): CallFailure {
  const { kind, message, details } = failure;
  const status = findStop(request.headers.get('user-agent'), protocol.name, failure)?.status;
  return status === undefined ? failure : new CallFailure(kind, message, { ...details, status, code: SPENT });
}

interface StopWords {
  /** Members of the error object; `resets_at` in Unix seconds. */
  readonly error: { readonly type?: string; readonly resets_at?: number };
  readonly headers: Readonly<Record<string, string>>;
}

/** The words for the agent in place of its format's; null: it reads those. */
export function stopWords(
  userAgent: string | null,
  protocol: ClientProtocolName,
  failure: CallFailure,
): StopWords | null {
  const stop = findStop(userAgent, protocol, failure);
  if (stop === undefined) return null;
  const { type, header } = stop;
  const resetsAt = type === undefined ? undefined : failure.details.reason?.resets_at;
  return {
    error: {
      ...(type !== undefined && { type }),
      ...(resetsAt !== undefined && { resets_at: Math.ceil(Date.parse(resetsAt) / 1_000) }),
    },
    headers: header === undefined ? {} : { [header]: headerWords(failure.message) },
  };
}

/** The agent shows the header as it is; a header has no characters beyond ASCII. */
function headerWords(message: string): string {
  return message.replaceAll('’', "'").replaceAll(/[^ -~]+/g, '?');
}

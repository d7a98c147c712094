/** Loads the stored request that the address names into the playground's prompt. */
import { useEffect, useEffectEvent } from 'react';
import type { ApiError } from '../../lib/api.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import type { CallDetail } from '../logs/call-cost.tsx';
import { exactMembers, readableText } from '../logs/json-text.ts';
import { type BaseRequest, EMPTY_PROMPT, type Prompt } from './body/call-body.ts';

/** The formats that the playground speaks. */
const PROTOCOLS = ['chat', 'messages', 'responses'] as const;

interface StoredRequest {
  /** Null: the address names none, or it is loading. */
  readonly detail: CallDetail | null;
  /** Why the request can't be sent again. */
  readonly problem: string | null;
  readonly error: ApiError | null;
  readonly retry: () => void;
}

export function useStoredRequest(
  requestId: string | undefined,
  prompt: Prompt,
  setPrompt: (prompt: Prompt) => void,
): StoredRequest {
  const { account } = useAccount();
  const { data, error, refetch } = useReply(
    'GET /accounts/{account}/logs/{request}',
    { path: { account, request: requestId ?? '' } },
    { enabled: requestId !== undefined },
  );
  const detail = requestId === undefined || data === undefined ? null : data;
  const base = detail === null ? null : replayOf(detail);
  // Keeps what the user changed in it before a reload.
  const load = useEffectEvent((next: BaseRequest) => {
    if (prompt.base?.requestId !== next.requestId) setPrompt({ ...EMPTY_PROMPT, base: next });
  });
  const readyId = base === null || typeof base === 'string' ? null : base.requestId;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the content of a stored request does not change
  useEffect(() => {
    if (base !== null && typeof base !== 'string') load(base);
  }, [readyId]);
  return {
    detail,
    problem: typeof base === 'string' ? base : null,
    error: requestId === undefined ? null : error,
    retry: () => void refetch(),
  };
}

/** The request as the playground sends it again, or why it can't. */
function replayOf({ call, content, raw }: CallDetail): BaseRequest | string {
  const protocol = PROTOCOLS.find((one) => one === call.protocol);
  if (protocol === undefined) return 'The playground can’t send requests of this format.';
  if (content !== 'shown' || raw === null)
    return 'The prompt of this request isn’t stored, or your role can’t view it.';
  if (raw.truncated) return 'The stored copy of this request is truncated, so it can’t be sent again.';
  if (exactMembers(raw.request) === null) {
    return 'The body of this request isn’t a JSON object that the browser reads exactly, so it can’t be sent again.';
  }
  return { requestId: call.request_id, protocol, text: readableText(raw.request) };
}

/** Sends one call of the crash loop and reports what its client saw. */
import { endsInError, hasTerminal } from '../fault/calls.ts';
import type { Role } from './roles.ts';

/** What a client knows of its call. */
export interface Received {
  readonly status: number;
  readonly requestId: string;
  /**
   * `complete`: the whole answer, by the protocol's own end marker. `refused`: an error, as the whole answer or at the
   * end of a stream. `cut`: neither.
   */
  readonly end: 'complete' | 'refused' | 'cut';
  /** The first call's id if this is a replay of its answer. */
  readonly replayOf: string | null;
  readonly bodyHash: bigint;
  /** The error's message. */
  readonly refusal: string | null;
}

const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const;
const LABEL = /Count the carts of ([\w-]+)\./;

/**
 * Sends the call of the label. The same label has the same body and, if the role names its calls, the same run. `onText`
 * gets the answer so far.
 */
export async function sendCall(
  url: string,
  key: string,
  role: Role,
  label: string,
  onText: (text: string) => void = () => undefined,
): Promise<Received> {
  const response = await fetch(`${url}${PATHS[role.endpoint]}`, {
    method: 'POST',
    keepalive: false,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(role.isNamed ? { 'idempotency-key': label } : {}),
    },
    body: renderBody(role, label),
  });
  const { status, headers } = response;
  const { text, isBroken } = await readText(response, onText);
  const end = isBroken ? 'cut' : endOf(role, status, text);
  return {
    status,
    requestId: headers.get('x-request-id') ?? '',
    end,
    replayOf: headers.get('x-tollgate-replayed-request-id'),
    bodyHash: BigInt(Bun.hash(text)),
    refusal: end === 'refused' ? text.slice(-400) : null,
  };
}

/** Returns the label of a request to an upstream, translated or not; null if it has none. */
export function findLabel(requestBody: Uint8Array): string | null {
  return LABEL.exec(Buffer.from(requestBody).toString('latin1'))?.[1] ?? null;
}

function renderBody({ endpoint, model, stream, max_tokens }: Role, label: string): string {
  const messages = [{ role: 'user', content: `Count the carts of ${label}.` }];
  const caller = endpoint === 'chat' ? { user: label } : { metadata: { user_id: label } };
  return JSON.stringify({ model, messages, stream, max_tokens, ...caller });
}

async function readText(
  response: Response,
  onText: (text: string) => void,
): Promise<{ text: string; isBroken: boolean }> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      onText(text);
    }
  } catch {
    return { text, isBroken: true };
  }
  return { text, isBroken: false };
}

function endOf({ endpoint, stream }: Role, status: number, text: string): Received['end'] {
  if (status !== 200) return isJson(text) ? 'refused' : 'cut';
  if (!stream) return isJson(text) ? 'complete' : 'cut';
  if (hasTerminal(endpoint, text)) return 'complete';
  return endsInError(endpoint, text) ? 'refused' : 'cut';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

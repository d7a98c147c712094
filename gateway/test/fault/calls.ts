/** Calls a gateway over either protocol for the fault suites, and checks whether an answer is complete. */
import type { CallLine, RunningGateway } from '../harness/start-gateway.ts';

export type ProtocolName = 'chat' | 'messages';
export const PROTOCOLS: readonly ProtocolName[] = ['chat', 'messages'];
export const EXHAUSTIVE = process.env.TOLLGATE_EXHAUSTIVE === '1';

/** Parameters of a call. */
export interface Asking {
  readonly protocol: ProtocolName;
  readonly model: string;
  readonly stream: boolean;
  readonly signal?: AbortSignal;
  /** Used instead of the gateway's first key. */
  readonly key?: string;
}

/** A whole answer. `broken` when the connection failed before the end; `text` then has what arrived. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly requestId: string;
  readonly broken: boolean;
}

const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const;

/** The request body of a call. */
export function renderBody({ protocol, model, stream }: Asking): string {
  const messages = [{ role: 'user', content: 'Count the carts.' }];
  return JSON.stringify(
    protocol === 'chat' ? { model, messages, stream } : { model, messages, stream, max_tokens: 500 },
  );
}

/** Sends a call and resolves with its response as soon as the head arrives. */
export function send(gateway: Pick<RunningGateway, 'url' | 'key'>, asking: Asking): Promise<Response> {
  return fetch(`${gateway.url}${PATHS[asking.protocol]}`, {
    method: 'POST',
    // Each gateway would wait for a kept-alive connection when it ends.
    keepalive: false,
    headers: { authorization: `Bearer ${asking.key ?? gateway.key}`, 'content-type': 'application/json' },
    body: renderBody(asking),
    ...(asking.signal === undefined ? {} : { signal: asking.signal }),
  });
}

/** Sends a call and reads its answer to the end, whether complete or broken. Rejects only when no head arrives. */
export async function ask(gateway: Pick<RunningGateway, 'url' | 'key'>, asking: Asking): Promise<Answer> {
  const response = await send(gateway, asking);
  const { status, headers } = response;
  const requestId = headers.get('x-request-id') ?? '';
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  } catch {
    return { status, headers, text, requestId, broken: true };
  }
  return { status, headers, text, requestId, broken: false };
}

/** Whether the text contains the event that marks a stream as complete. */
export function hasTerminal(protocol: ProtocolName, text: string): boolean {
  return protocol === 'chat' ? /^data: ?\[DONE\]/m.test(text) : /^event: ?message_stop/m.test(text);
}

/** Whether the stream ends with an error in the protocol's own form. */
export function endsInError(protocol: ProtocolName, text: string): boolean {
  const last =
    text
      .trimEnd()
      .split(/\r?\n\r?\n/)
      .at(-1) ?? '';
  return protocol === 'chat'
    ? /^data: ?\{"error":/.test(last)
    : /^event: ?error\r?\ndata: ?\{"type":"error"/.test(last);
}

/** Whether the client has its full answer: then the call must be on disk. */
export function isComplete({ protocol, stream }: Asking, { status, text, broken }: Answer): boolean {
  if (broken || status !== 200) return false;
  return stream ? hasTerminal(protocol, text) : true;
}

/** Returns the records on disk by request id. Throws on a duplicate id: that would be a double charge. */
export async function recordsById(gateway: RunningGateway): Promise<Map<string, CallLine>> {
  const records = new Map<string, CallLine>();
  for (const line of await gateway.calls()) {
    if (records.has(line.request_id)) throw new Error(`two records of ${line.request_id}`);
    records.set(line.request_id, line);
  }
  return records;
}

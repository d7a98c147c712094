/** Owns single requests over bare sockets, where fetch would tidy up what is to be seen. Judges nothing. */
import {
  connectRaw,
  type Ended,
  parseRawResponse,
  type RawClient,
  type RawResponse,
} from '../fake-upstream/raw-client.ts';

/** A response, its headers as `Headers`, and how the connection stood when it was whole. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly ended: Ended;
}

/** A request's head as text: the request line, then the lines given, then the blank line. */
export function head(requestLine: string, lines: readonly string[]): string {
  return `${[requestLine, ...lines].join('\r\n')}\r\n\r\n`;
}

/** The lines of a good call's head, without its length. */
export function goodLines(key: string): string[] {
  return ['host: 127.0.0.1', `authorization: Bearer ${key}`, 'content-type: application/json'];
}

/** The next answer on a connection, from byte `from` of what was received; null where it ended without one. */
export async function nextAnswer(
  client: RawClient,
  from = 0,
  timeoutMs = 5_000,
): Promise<(WireAnswer & { readonly next: number }) | null> {
  const look = (): RawResponse | null => parseRawResponse(client.received().subarray(from), client.ended());
  await client.until(() => client.ended() !== 'open' || look()?.whole === true, timeoutMs);
  const response = look();
  if (response === null) return null;
  const headers = new Headers(response.headers.map(([name, value]): [string, string] => [name, value]));
  const { status, body, taken } = response;
  return { status, headers, text: body.toString(), ended: client.ended(), next: from + taken };
}

/** Sends bytes on a fresh connection, takes one answer and leaves. */
export async function sendWire(url: string, bytes: string | Uint8Array): Promise<WireAnswer | null> {
  const client = await connectRaw(url);
  client.send(bytes);
  const answer = await nextAnswer(client);
  client.leave();
  return answer;
}

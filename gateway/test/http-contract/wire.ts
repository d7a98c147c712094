/** Sends single requests over raw sockets, because fetch would normalize what the tests check. */
import {
  connectRaw,
  type Ended,
  parseRawResponse,
  type RawClient,
  type RawResponse,
} from '../fake-upstream/raw-client.ts';

/** A response, its headers as `Headers`, and the state of the connection after it. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly ended: Ended;
}

/** Renders a request head: the request line, the given lines, a blank line. */
export function head(requestLine: string, lines: readonly string[]): string {
  return `${[requestLine, ...lines].join('\r\n')}\r\n\r\n`;
}

/** Returns the header lines of a good call, without its content length. */
export function goodLines(key: string): string[] {
  return ['host: 127.0.0.1', `authorization: Bearer ${key}`, 'content-type: application/json'];
}

/**
 * Returns the next answer on a connection, from byte `from` of the received data; null if the connection ended without
 * one.
 */
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

/** Sends bytes on a new connection, reads one answer and disconnects. */
export async function sendWire(url: string, bytes: string | Uint8Array): Promise<WireAnswer | null> {
  const client = await connectRaw(url);
  client.send(bytes);
  const answer = await nextAnswer(client);
  client.leave();
  return answer;
}

/**
 * Makes a `fetch` that goes through the dialer, for libraries that bring no other way out: the operator's proxy, verified
 * certificates, checked addresses, short time limits, small answers, no redirects followed.
 */
import { parseBaseUrl, type UpstreamFailure } from './connection.ts';
import { Exchange } from './exchange.ts';
import type { ResponseHead } from './response-head.ts';

const LIMITS = {
  connectMs: 5_000,
  firstByteMs: 10_000,
  idleMs: 10_000,
  totalMs: 10_000,
  responseBytesMax: 1024 * 1024,
  mayResend: false,
} as const;
/** Sent as the connection demands; the caller's are dropped. */
const OURS = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding', 'expect']);
const EMPTY = new Set([204, 205, 304]);

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * `isTrusted`: the operator wrote this origin down, so that it may be private or http. All others must be https and have
 * public addresses only. `part`: `head` where only the status matters; then the response has no body, and is there before
 * its end. Rejects with TypeError, as `fetch` does; a redirect is the response.
 */
export function createGuardedFetch(isTrusted: (origin: string) => boolean, part: 'whole' | 'head' = 'whole'): Fetch {
  return async (input, init) => {
    // The types have an overload for each; at run time it takes all three.
    const request = new Request(input as string, init);
    const url = new URL(request.url);
    const isOurs = isTrusted(url.origin);
    if (!isOurs && url.protocol !== 'https:') throw new TypeError(`${url.origin} is not https`);
    const content = await request.blob();
    const body = new Uint8Array(await content.arrayBuffer());
    // The runtime tells the type of a form by its content only (1.4.5).
    if (content.type !== '' && !request.headers.has('content-type')) request.headers.set('content-type', content.type);
    const { origin } = parseBaseUrl(url.origin);
    let head = `${request.method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${origin.authority}\r\naccept-encoding: identity\r\n`;
    for (const [name, value] of request.headers) if (!OURS.has(name)) head += `${name}: ${value}\r\n`;
    head += `content-length: ${body.length}\r\n\r\n`;
    return answerOf(isOurs ? origin : { ...origin, publicOnly: true }, head, body, request.signal, part);
  };
}

function answerOf(
  origin: ConstructorParameters<typeof Exchange>[0],
  head: string,
  body: Uint8Array,
  signal: AbortSignal,
  part: 'whole' | 'head',
): Promise<Response> {
  return new Promise((resolve, reject) => {
    let answer: ResponseHead | null = null;
    const spans: Uint8Array[] = [];
    signal.throwIfAborted();
    const leave = () => {
      exchange.abort();
      reject(signal.reason);
    };
    const end = () => {
      signal.removeEventListener('abort', leave);
      if (answer === null || answer.status > 599) reject(new TypeError(`${origin.key} gave no usable answer`));
      else resolve(render(answer, spans));
    };
    const exchange = new Exchange(origin, head, body, LIMITS, {
      onHead(given) {
        answer = given;
        if (part === 'whole') return;
        exchange.abort();
        end();
      },
      onBody: (span) => void spans.push(span),
      onEnd: end,
      onFailure({ message }: UpstreamFailure) {
        signal.removeEventListener('abort', leave);
        reject(new TypeError(message));
      },
    });
    signal.addEventListener('abort', leave);
  });
}

function render({ status, headers }: ResponseHead, spans: readonly Uint8Array[]): Response {
  const shown = new Headers();
  for (const [name, value] of headers) shown.append(name, value);
  return new Response(EMPTY.has(status) ? null : Buffer.concat(spans), { status, headers: shown });
}

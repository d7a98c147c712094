/** Renders the heads of requests to providers, with the lines that authorize them. */
import type { UpstreamProtocolName } from '../../protocols/names.ts';
import type { ObjectRequest } from '../../protocols/stored/shared-state.ts';
import type { Origin } from '../../upstream/connection.ts';
import type { RequestHead } from '../../upstream/exchange.ts';
import type { Door, FinalRequest, HeaderLine, Operation, RequestCredential } from '../provider.ts';

export const USER_AGENT = 'tollgate';

/** The provider does not have the operation in the format: nothing was sent. */
export class NoEndpoint extends Error {}

export function fixedHeaders(
  door: Door,
  origin: Origin,
  protocol: UpstreamProtocolName,
  operation: Operation,
  ofCredential: readonly HeaderLine[],
): readonly HeaderLine[] {
  return [
    ['host', origin.authority],
    ['user-agent', USER_AGENT],
    ['content-type', 'application/json'],
    ['accept-encoding', 'identity'],
    ...ofCredential,
    ['accept', door.accept?.(protocol, operation) ?? acceptOf(operation)],
  ];
}

function acceptOf(operation: Operation): string {
  return operation === 'stream' ? 'text/event-stream' : 'application/json';
}

/** Tokens and projects come from files and servers: none of them may begin another header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The head of a request after its authorization, which rejects rather than throws. */
export function renderAuthorized(
  authorize: Door['authorize'],
  by: RequestCredential,
  path: string,
  request: FinalRequest,
): RequestHead {
  const render = () => {
    const [name] = request.headers.find(([, value]) => !HEADER_VALUE.test(value)) ?? [];
    if (name !== undefined) throw new Error(`the header ${name} would have characters that no header may have`);
    return `${renderLines(request.method, path, request.headers)}\r\n`;
  };
  try {
    const authorized = authorize?.(request, by);
    return authorized === undefined ? render() : authorized.then(render);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** The path of a stored object, with the query of the format's own path. */
export function objectPath(endpoint: string, { path, query }: ObjectRequest): string {
  const at = endpoint.indexOf('?');
  const [base, own] = at === -1 ? [endpoint, ''] : [endpoint.slice(0, at), endpoint.slice(at + 1)];
  const all = [own, query].filter((part) => part !== '').join('&');
  return all === '' ? base + path : `${base}${path}?${all}`;
}

export function renderLines(method: string, path: string, headers: readonly HeaderLine[]): string {
  return `${method} ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}`;
}

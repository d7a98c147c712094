/**
 * Parses the HTTP proxy for connections to https origins and the list of hosts that it is not used for, as environments
 * write them (`HTTPS_PROXY`, `NO_PROXY`). Decides per origin; connects nothing.
 */
import { type IpRange, parseIpAddress, parseIpRange, rangeHolds } from '../lib/ip-range.ts';
import { Secret } from '../lib/secret.ts';

/** A proxy that is asked to CONNECT. */
export interface EgressProxy {
  readonly host: string;
  readonly port: number;
  /** `user:password`; null: the proxy asks for none. */
  readonly credentials: Secret | null;
  readonly direct: readonly DirectRule[];
}

/** Hosts that are connected to directly. `port` null: any. */
export type DirectRule =
  | { readonly kind: 'all' }
  | { readonly kind: 'range'; readonly range: IpRange; readonly port: number | null }
  /** `name` begins with a dot where only names below it count. */
  | { readonly kind: 'name'; readonly name: string; readonly port: number | null };

type ProxyAddress = Pick<EgressProxy, 'host' | 'port' | 'credentials'>;

/** Parses `http://[user:password@]host[:port]`, the scheme optional as for curl. Null: another scheme, or no address. */
export function parseProxyAddress(text: string): ProxyAddress | null {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || url.protocol !== 'http:' || url.hostname === '') return null;
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') return null;
  const credentials = decode(url.username, url.password);
  if (credentials === null) return null;
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 80 : Number(url.port),
    credentials: credentials === ':' ? null : new Secret(credentials),
  };
}

function decode(user: string, password: string): string | null {
  try {
    return `${decodeURIComponent(user)}:${decodeURIComponent(password)}`;
  } catch {
    return null;
  }
}

const NAME = /^\.?[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?$/;
const PORT = /^(.*?)(?::(\d{1,5}))?$/;

/**
 * Parses one entry of `NO_PROXY`: `*`, a name (`example.com` with all names below it, `.example.com` or `*.example.com`
 * only those), an address or a range (`10.0.0.0/8`), a name or an address with a port. Null: none of these.
 */
export function parseDirectRule(text: string): DirectRule | null {
  if (text === '*') return { kind: 'all' };
  const bare = parseRange(text);
  if (bare !== null) return { kind: 'range', range: bare, port: null };
  const [, host = '', portText] = PORT.exec(text) ?? [];
  const port = portText === undefined ? null : Number(portText);
  if (port !== null && (port < 1 || port > 65_535)) return null;
  const range = parseRange(host.replace(/^\[(.*)\]$/, '$1'));
  if (range !== null) return { kind: 'range', range, port };
  const name = host.toLowerCase().replace(/^\*\./, '.');
  return NAME.test(name) ? { kind: 'name', name, port } : null;
}

function parseRange(text: string): IpRange | null {
  try {
    return parseIpRange(text);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Whether a rule exempts the host (a name, or an address without brackets). Names are not resolved. */
export function isDirect(rules: readonly DirectRule[], host: string, port: number): boolean {
  const address = parseIpAddress(host);
  const name = host.toLowerCase().replace(/\.$/, '');
  return rules.some((rule) => {
    if (rule.kind === 'all') return true;
    if (rule.port !== null && rule.port !== port) return false;
    if (rule.kind === 'range') return address !== null && rangeHolds(rule.range, address);
    if (rule.name.startsWith('.')) return name.endsWith(rule.name);
    return name === rule.name || name.endsWith(`.${rule.name}`);
  });
}

const RESPONSE_HEAD_BYTES_MAX = 16 * 1024;

/** The request for a tunnel to a host and port, which `authority` names. */
export function renderConnect({ credentials }: EgressProxy, authority: string): string {
  const lines = [`CONNECT ${authority} HTTP/1.1`, `host: ${authority}`];
  if (credentials !== null) {
    lines.push(`proxy-authorization: Basic ${Buffer.from(credentials.reveal(), 'utf8').toString('base64')}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/**
 * Reads the proxy's answer to CONNECT from all bytes that have come: `wait` for more, its status, or null where it is
 * not HTTP, or sends bytes of its own into the tunnel, in which the origin speaks only after us.
 */
export function readConnectAnswer(bytes: Buffer): number | 'wait' | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return bytes.length > RESPONSE_HEAD_BYTES_MAX ? null : 'wait';
  const status = Number(
    /^HTTP\/1\.[01] ([1-9]\d\d)(?: [^\r\n]*)?(?:\r\n|$)/.exec(bytes.toString('latin1', 0, end))?.[1],
  );
  if (!Number.isInteger(status)) return null;
  return status >= 200 && status < 300 && end + 4 < bytes.length ? null : status;
}

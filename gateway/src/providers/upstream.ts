/**
 * Opens upstreams: over HTTP, with the head of each request rendered once up to what varies by call, or inside the
 * gateway. Binds the credentials to their origin; nothing that a client sends can change the destination.
 */
import { Secret } from '../lib/secret.ts';
import type { UpstreamProtocolName } from '../protocols/names.ts';
import { chooseUpstreamProtocols } from '../protocols/registry.ts';
import { parseBaseUrl } from '../upstream/connection.ts';
import { Exchange, type ExchangeLimits, type ExchangeListener, type RequestHead } from '../upstream/exchange.ts';
import type {
  FinalRequest,
  HeaderLine,
  LocalProvider,
  Operation,
  RemoteProvider,
  TargetConfig,
  Timeouts,
  Upstream,
  UpstreamRequest,
} from './provider.ts';

const USER_AGENT = 'tollgate';
const OPERATIONS: readonly Operation[] = ['plain', 'stream', 'count_tokens'];
const NO_BODY = new Uint8Array();

/** Opens the upstream of a target. Throws if the credentials are bound to another origin than the provider's address. */
export function openUpstream({ provider, model, timeouts }: TargetConfig): Upstream {
  const { name, kind, provenLimits } = provider;
  const exchanges =
    provider.baseUrl === null
      ? openLocally(provider, model)
      : openOverHttp(provider, model, timeouts ?? provider.timeouts);
  return {
    provider: name,
    model,
    protocols: kind.protocols,
    protocolFor: chooseUpstreamProtocols(kind.protocols),
    framing: kind.framing,
    takesUsageOption: provider.quirks.streamUsage === 'on_request',
    provenLimits,
    alwaysHonorsLimits: kind.local !== null,
    ...exchanges,
  };
}

type Exchanges = Pick<Upstream, 'key' | 'secrets' | 'openExchange'>;

function openLocally({ name, kind }: LocalProvider, model: string): Exchanges {
  return {
    key: `${name} ${kind.name} ${model}`,
    secrets: [],
    openExchange: (request, _responseBytesMax, listener) => kind.local.openExchange(request, listener),
  };
}

/** Where a request goes, and its head up to the headers that vary by call, with the credential. */
interface Endpoint {
  readonly path: string;
  readonly start: Secret;
}

function openOverHttp(provider: RemoteProvider, model: string, timeouts: Timeouts): Exchanges {
  const { name, kind, credentials } = provider;
  const { origin, basePath } = addressOf(provider);
  const endpoints = new Map<UpstreamProtocolName, Map<Operation, Endpoint>>();
  for (const protocol of kind.protocols) {
    const paths = OPERATIONS.map((operation) => [operation, kind.endpoint(protocol, operation, model)] as const);
    const offered = paths.flatMap(([operation, endpoint]): [Operation, Endpoint][] => {
      if (endpoint === null) return [];
      const path = basePath + endpoint;
      return [[operation, { path, start: new Secret(renderLines('POST', path, fixedHeaders(operation))) }]];
    });
    endpoints.set(protocol, new Map(offered));
  }

  function fixedHeaders(operation: Operation): readonly HeaderLine[] {
    return [
      ['host', origin.authority],
      ['user-agent', USER_AGENT],
      ['content-type', 'application/json'],
      ['accept-encoding', 'identity'],
      ...kind.headers(credentials.secrets),
      ['accept', operation === 'stream' ? 'text/event-stream' : 'application/json'],
    ];
  }

  function renderHead({ protocol, operation, headers, body }: UpstreamRequest): RequestHead {
    const endpoint = endpoints.get(protocol)?.get(operation);
    if (endpoint === undefined) throw new Error(`${name} has no endpoint for ${operation} in ${protocol}`);
    if (kind.authorize !== undefined) {
      const length: HeaderLine = ['content-length', String(body.length)];
      const all = [...fixedHeaders(operation), ...headers, length];
      const request = { method: 'POST', url: origin.key + endpoint.path, headers: all, body } as const;
      return renderAuthorized(provider, endpoint.path, request);
    }
    let head = endpoint.start.reveal();
    for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
    return `${head}content-length: ${body.length}\r\n\r\n`;
  }

  const { firstByteMs, firstBytePlainMs } = timeouts;
  return {
    key: `${name} ${origin.key} ${model}`,
    secrets: Object.values(credentials.secrets),
    openExchange(request, responseBytesMax, listener) {
      const limits = {
        connectMs: timeouts.connectMs,
        firstByteMs: request.operation === 'stream' ? firstByteMs : firstBytePlainMs,
        idleMs: timeouts.idleMs,
        totalMs: timeouts.totalMs,
        responseBytesMax,
        mayResend: request.once !== true,
      };
      return new Exchange(origin, renderHead(request), request.body, limits, listener);
    },
  };
}

/** Requests the list of a provider's models. Throws as `openUpstream` does. */
export function openListing(provider: RemoteProvider, limits: ExchangeLimits, listener: ExchangeListener): Exchange {
  const { origin, basePath } = addressOf(provider);
  const { kind, credentials } = provider;
  const headers: HeaderLine[] = [
    ['host', origin.authority],
    ['user-agent', USER_AGENT],
    ['accept', 'application/json'],
    ['accept-encoding', 'identity'],
    ...kind.listing.headers,
    ...kind.headers(credentials.secrets),
  ];
  const path = basePath + kind.listing.path;
  const request = { method: 'GET', url: origin.key + path, headers, body: NO_BODY } as const;
  return new Exchange(origin, renderAuthorized(provider, path, request), NO_BODY, limits, listener);
}

/** The destination of a provider's requests. Throws if its credentials are bound to another origin. */
function addressOf({ name, baseUrl, credentials, publicOnly }: RemoteProvider) {
  const { origin, basePath } = parseBaseUrl(baseUrl);
  if (credentials.origin !== origin.key) {
    throw new Error(`the credentials of ${name} are bound to ${credentials.origin}, not ${origin.key}`);
  }
  return { origin: publicOnly === true ? { ...origin, publicOnly } : origin, basePath };
}

/** The head of a request after its authorization, which rejects rather than throws. */
function renderAuthorized({ kind, credentials }: RemoteProvider, path: string, request: FinalRequest): RequestHead {
  const render = () => `${renderLines(request.method, path, request.headers)}\r\n`;
  try {
    const authorized = kind.authorize?.(request, credentials.secrets);
    return authorized === undefined ? render() : authorized.then(render);
  } catch (error) {
    return Promise.reject(error);
  }
}

function renderLines(method: string, path: string, headers: readonly HeaderLine[]): string {
  return `${method} ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}`;
}

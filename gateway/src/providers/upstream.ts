/**
 * Opens upstreams: over HTTP, with the head of each request rendered once up to what varies by call, or inside the
 * gateway. Binds the credentials to their origin; nothing that a client sends can change the destination.
 */
import { Secret } from '../lib/secret.ts';
import type { UpstreamProtocolName } from '../protocols/names.ts';
import { type Origin, parseBaseUrl } from '../upstream/connection.ts';
import {
  Exchange,
  type ExchangeLimits,
  type ExchangeListener,
  type RequestHead,
  type UpstreamTap,
} from '../upstream/exchange.ts';
import type {
  FinalRequest,
  HeaderLine,
  LocalProvider,
  Operation,
  RemoteProvider,
  Target,
  Timeouts,
  Upstream,
  UpstreamRequest,
} from './provider.ts';

const USER_AGENT = 'tollgate';
const OPERATIONS: readonly Operation[] = ['plain', 'stream', 'count_tokens'];
const NO_BODY = new Uint8Array();

/** Opens the upstream of a target. Throws if the credentials are bound to another origin than the provider's address. */
export function openUpstream({ provider, model, timeouts }: Target): Upstream {
  return provider.baseUrl === null
    ? openLocalUpstream(provider, model)
    : new HttpUpstream(provider, model, timeouts ?? provider.timeouts);
}

function openLocalUpstream({ name, kind }: LocalProvider, model: string): Upstream {
  return {
    provider: name,
    model,
    protocols: kind.protocols,
    framing: kind.framing,
    key: `${name} ${kind.name} ${model}`,
    secrets: [],
    takesUsageOption: kind.quirks.streamUsage === 'on_request',
    provenLimits: [],
    alwaysHonorsLimits: true,
    openExchange: (request, _responseBytesMax, listener) => kind.local.openExchange(request, listener),
  };
}

/** Where a request goes, and its head up to the headers that vary by call, with the credential. */
interface Endpoint {
  readonly path: string;
  readonly start: Secret;
}

class HttpUpstream implements Upstream {
  readonly provider: string;
  readonly model: string;
  readonly protocols;
  readonly framing;
  readonly key: string;
  readonly secrets: readonly Secret[];
  readonly takesUsageOption: boolean;
  readonly provenLimits;
  readonly alwaysHonorsLimits = false;
  readonly #provider: RemoteProvider;
  readonly #origin: Origin;
  readonly #timeouts: Timeouts;
  readonly #endpoints = new Map<UpstreamProtocolName, Map<Operation, Endpoint>>();

  constructor(provider: RemoteProvider, model: string, timeouts: Timeouts) {
    const { kind, credentials } = provider;
    const { origin, basePath } = addressOf(provider);
    this.provider = provider.name;
    this.model = model;
    this.protocols = kind.protocols;
    this.framing = kind.framing;
    this.key = `${provider.name} ${origin.key} ${model}`;
    this.secrets = Object.values(credentials.secrets);
    this.takesUsageOption = provider.quirks.streamUsage === 'on_request';
    this.provenLimits = provider.provenLimits;
    this.#provider = provider;
    this.#origin = origin;
    this.#timeouts = timeouts;
    for (const protocol of kind.protocols) {
      const endpoints = new Map<Operation, Endpoint>();
      for (const operation of OPERATIONS) {
        const endpoint = kind.endpoint(protocol, operation, model);
        if (endpoint === null) continue;
        const path = basePath + endpoint;
        const start = renderLines('POST', path, this.#fixedHeaders(operation));
        endpoints.set(operation, { path, start: new Secret(start) });
      }
      this.#endpoints.set(protocol, endpoints);
    }
  }

  openExchange(request: UpstreamRequest, responseBytesMax: number, listener: ExchangeListener): UpstreamTap {
    const { connectMs, firstByteMs, firstBytePlainMs, idleMs, totalMs } = this.#timeouts;
    const limits = {
      connectMs,
      firstByteMs: request.operation === 'stream' ? firstByteMs : firstBytePlainMs,
      idleMs,
      totalMs,
      responseBytesMax,
    };
    return new Exchange(this.#origin, this.#renderHead(request), request, limits, listener);
  }

  #fixedHeaders(operation: Operation): readonly HeaderLine[] {
    const { kind, credentials } = this.#provider;
    return [
      ['host', this.#origin.authority],
      ['user-agent', USER_AGENT],
      ['content-type', 'application/json'],
      ['accept-encoding', 'identity'],
      ...kind.headers(credentials.secrets),
      ['accept', operation === 'stream' ? 'text/event-stream' : 'application/json'],
    ];
  }

  #renderHead({ protocol, operation, headers, body }: UpstreamRequest): RequestHead {
    const endpoint = this.#endpoints.get(protocol)?.get(operation);
    if (endpoint === undefined) throw new Error(`${this.provider} has no endpoint for ${operation} in ${protocol}`);
    if (this.#provider.kind.authorize !== undefined) {
      const length: HeaderLine = ['content-length', String(body.length)];
      const all = [...this.#fixedHeaders(operation), ...headers, length];
      const request = { method: 'POST', url: this.#origin.key + endpoint.path, headers: all, body } as const;
      return renderAuthorized(this.#provider, endpoint.path, request);
    }
    let head = endpoint.start.reveal();
    for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
    return `${head}content-length: ${body.length}\r\n\r\n`;
  }
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
  return new Exchange(origin, renderAuthorized(provider, path, request), request, limits, listener);
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

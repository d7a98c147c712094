/**
 * Opens upstreams: over HTTP, with the head of each request rendered once per credential up to what varies by call, or
 * inside the gateway. Binds the credentials to their origin; nothing that a client sends can change the destination.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { Secret } from '../lib/secret.ts';
import { formatsOfModel } from '../protocols/model-formats.ts';
import type { UpstreamProtocolName } from '../protocols/names.ts';
import { chooseUpstreamProtocols } from '../protocols/registry.ts';
import {
  COLLECTIONS,
  type Collection,
  type ObjectRequest,
  type ProviderState,
} from '../protocols/stored/shared-state.ts';
import { type Origin, parseBaseUrl } from '../upstream/connection.ts';
import {
  Exchange,
  type ExchangeLimits,
  type ExchangeListener,
  type RequestHead,
  type UpstreamTap,
} from '../upstream/exchange.ts';
import { headersOfForm } from '../upstream/request-form.ts';
import {
  fixedHeaders,
  NoEndpoint,
  objectPath,
  renderAuthorized,
  renderLines,
  USER_AGENT,
} from './exchanges/request-head.ts';
import { FILES } from './kinds/openai-compatible.ts';
import {
  type AttemptTools,
  type Credential,
  type CredentialPool,
  type Door,
  type HeaderLine,
  type Listing,
  type LocalProvider,
  type Operation,
  type Provider,
  type ProviderModel,
  type RemoteProvider,
  type RequestCredential,
  singleCredential,
  type Timeouts,
  type Upstream,
  type UpstreamCredential,
  type UpstreamRequest,
} from './provider.ts';

const OPERATIONS: readonly Operation[] = ['plain', 'stream', 'count_tokens'];
const NO_BODY = new Uint8Array();

/**
 * Opens the upstream of a target. Throws if the credentials are bound to another origin than the provider's address, or
 * none of them may be used for the model.
 */
export function openUpstream(target: ProviderModel): Upstream {
  const { provider, model, timeouts } = target;
  const { name, kind, provenLimits } = provider;
  const protocols = protocolsOf(provider, target);
  const exchanges =
    provider.baseUrl === null
      ? openLocally(provider, model)
      : openOverHttp(provider, model, protocols, timeouts ?? provider.timeouts);
  return {
    provider: name,
    model,
    region: provider.baseUrl === null ? undefined : provider.kind.regionOf?.(provider.settings),
    protocols,
    protocolFor: chooseUpstreamProtocols(protocols),
    framing: (protocol, operation) => kind.framing(protocol, operation, model),
    takesUsageOption: provider.quirks.streamUsage === 'on_request',
    answersAsOther: provider.quirks.answersAsOther,
    state: stateOf(provider, model, protocols),
    provenLimits,
    alwaysHonorsLimits: kind.local !== null,
    ...exchanges,
  };
}

function stateOf(provider: Provider, model: string, protocols: readonly UpstreamProtocolName[]): ProviderState {
  const { quirks, kind, shared = [] } = provider;
  const isKept = quirks.keepsState === true;
  const paths = kind.local === null ? kind.objects : undefined;
  const settings = provider.baseUrl === null ? {} : provider.settings;
  const isOn: { readonly [collection in Collection]: boolean } = {
    files: settings[FILES.name] === 'on',
    batches: settings[FILES.name] === 'on',
    conversations: isKept && protocols.includes('responses'),
  };
  const creates = COLLECTIONS.filter((one) => isOn[one] && (paths?.pathOf(one, model, settings) ?? null) !== null);
  return { isKept, shared, creates, format: paths?.format ?? 'responses' };
}

/** By the client's format, the format of requests to the model; null: it serves none of the format. */
export function protocolsFor(target: ProviderModel): Upstream['protocolFor'] {
  return chooseUpstreamProtocols(protocolsOf(target.provider, target));
}

function protocolsOf(provider: Provider, { model, endpoints = null }: ProviderModel): readonly UpstreamProtocolName[] {
  const { kind, quirks } = provider;
  const ofKind = kind.protocolsOf?.(model, provider.baseUrl === null ? {} : provider.settings) ?? kind.protocols;
  return formatsOfModel([...ofKind, ...(quirks.alsoSpeaks ?? [])], quirks, model, endpoints);
}

type Exchanges = Pick<Upstream, 'key' | 'origin' | 'timeouts' | 'credentials' | 'secrets' | 'openExchange'>;

function openLocally({ name, kind }: LocalProvider, model: string): Exchanges {
  const key = `${name} ${kind.name}`;
  return {
    key: `${key} ${model}`,
    origin: name,
    timeouts: null,
    credentials: describePool(singleCredential({}), key),
    secrets: [],
    openExchange: (request, _credential, _responseBytesMax, listener) => kind.local.openExchange(request, listener),
  };
}

/** The credentials of the provider that may be used for the model; null: none may. */
export function credentialsFor({ credentials }: Provider, model: string): CredentialPool | null {
  const pool = credentials?.pool ?? singleCredential({});
  const [first, ...others] = pool.filter(({ models }) => models?.includes(model) ?? true);
  return first === undefined ? null : [first, ...others];
}

function needCredentials(provider: Provider, model: string): CredentialPool {
  const credentials = credentialsFor(provider, model);
  if (credentials === null) throw new Error(`no credential of ${provider.name} may be used for ${model}`);
  return credentials;
}

/** Where a request goes, and its head up to the headers that vary by call, by credential. */
interface Endpoint {
  readonly path: string;
  readonly starts: readonly Secret[];
}

/** A door at its address. */
interface OpenDoor {
  readonly origin: Origin;
  readonly basePath: string;
  readonly endpoints: ReadonlyMap<UpstreamProtocolName, ReadonlyMap<Operation, Endpoint>>;
}

function openOverHttp(
  provider: RemoteProvider,
  model: string,
  protocols: readonly UpstreamProtocolName[],
  timeouts: Timeouts,
): Exchanges {
  const { name, kind, settings } = provider;
  const address = addressOf(provider);
  const place = [name, provider.baseUrl, ...Object.entries(settings).map((one) => one.join('='))].join(' ');
  const key = `${place} ${model}`;
  const credentials = needCredentials(provider, model);
  const secrets = provider.credentials.pool.flatMap((credential) => Object.values(credential.secrets));
  const authorizing = credentials.map((credential) => ({
    headers: kind.headers(credential.secrets, settings),
    by: authorizingBy(provider, credential, secrets),
  }));
  const doors = new Map<Door, OpenDoor>([[kind, openDoor(kind)]]);

  function openDoor(door: Door): OpenDoor {
    const { origin, basePath } = doorAddress(provider, door);
    const endpoints = new Map<UpstreamProtocolName, Map<Operation, Endpoint>>();
    for (const protocol of protocols) {
      const paths = OPERATIONS.map(
        (operation) => [operation, door.endpoint(protocol, operation, model, settings)] as const,
      );
      const offered = paths.flatMap(([operation, endpoint]): [Operation, Endpoint][] => {
        if (endpoint === null) return [];
        const path = basePath + endpoint;
        const starts = authorizing.map(({ headers }) => {
          return new Secret(renderLines('POST', path, fixedHeaders(door, origin, protocol, operation, headers)));
        });
        return [[operation, { path, starts }]];
      });
      endpoints.set(protocol, new Map(offered));
    }
    return { origin, basePath, endpoints };
  }

  function doorOf(door: Door): OpenDoor {
    let open = doors.get(door);
    if (open === undefined) {
      open = openDoor(door);
      doors.set(door, open);
    }
    return open;
  }

  function collectionPath(collection: Collection): string {
    const path = kind.objects?.pathOf(collection, model, settings) ?? null;
    if (path === null) throw new Error(`${name} has no ${collection}`);
    return path;
  }

  function renderHead(
    door: Door,
    { origin, basePath, endpoints }: OpenDoor,
    { protocol, operation, below, headers, body, object, form = null }: UpstreamRequest,
    index: number,
    authorize: Door['authorize'],
  ): RequestHead {
    const endpoint = endpoints.get(protocol)?.get(operation);
    if (endpoint === undefined) throw new NoEndpoint(`${name} has no endpoint for ${operation} in ${protocol}`);
    const credential = authorizing[index];
    const start = endpoint.starts[index];
    if (credential === undefined || start === undefined) throw new Error(`${name} has no credential ${index}`);
    const about: ObjectRequest | null =
      object ?? (below === undefined ? null : { method: 'POST', path: below, query: '' });
    if (authorize !== undefined || about !== null || form !== null) {
      const base = about?.collection === undefined ? endpoint.path : basePath + collectionPath(about.collection);
      const path = about === null ? base : objectPath(base, about);
      const length: HeaderLine = ['content-length', String((form?.upload ?? body).length)];
      const fixed = fixedHeaders(door, origin, protocol, operation, credential.headers);
      const all = [...headersOfForm(fixed, form), ...headers, length];
      const request = { method: about?.method ?? 'POST', url: origin.key + path, headers: all, body } as const;
      return renderAuthorized(authorize, credential.by, path, request);
    }
    let head = start.reveal();
    for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
    return `${head}content-length: ${body.length}\r\n\r\n`;
  }

  const { firstByteMs, firstBytePlainMs } = timeouts;

  function send(
    door: Door,
    request: UpstreamRequest,
    credential: number,
    responseBytesMax: number,
    listener: ExchangeListener,
    authorize = door.authorize,
  ): UpstreamTap {
    const limits = {
      connectMs: timeouts.connectMs,
      firstByteMs: request.operation === 'stream' ? firstByteMs : firstBytePlainMs,
      idleMs: timeouts.idleMs,
      totalMs: request.endMs == null ? timeouts.totalMs : Math.max(1, request.endMs - performance.now()),
      responseBytesMax,
      // The provider may have read the request: whether one that it may bill goes out again, its call decides.
      mayResend: request.operation === 'count_tokens' || request.object?.method === 'GET',
      fresh: request.fresh === true,
    };
    const prepared = door.prepare === undefined ? request : door.prepare(request, model, settings);
    const open = doorOf(door);
    const head = renderHead(door, open, prepared, credential, authorize);
    const body = prepared.form?.upload ?? prepared.body;
    return new Exchange(open.origin, head, body, limits, listener);
  }

  /** The time of the call is that of all exchanges of the attempt. */
  function openAttempt(
    request: UpstreamRequest,
    credential: number,
    responseBytesMax: number,
    listener: ExchangeListener,
  ): UpstreamTap | null {
    const by = authorizing[credential]?.by;
    if (kind.openAttempt === undefined || by === undefined) return null;
    const endMs = request.endMs ?? performance.now() + timeouts.totalMs;
    const tools: AttemptTools = {
      key,
      model,
      credential: by,
      responseBytesMax,
      send: (door, next, authorize) => (inner) =>
        send(door, { ...next, endMs }, credential, responseBytesMax, inner, authorize),
    };
    return kind.openAttempt(request, tools, listener);
  }

  return {
    key,
    origin: address.origin.key,
    timeouts,
    credentials: describePool(credentials, place),
    secrets,
    openExchange: (request, credential, responseBytesMax, listener) =>
      openAttempt(request, credential, responseBytesMax, listener) ??
      send(kind, request, credential, responseBytesMax, listener),
  };
}

function describePool([first, ...others]: CredentialPool, address: string): Upstream['credentials'] {
  const describe = ({ name, weight, organisation, secrets }: Credential): UpstreamCredential => ({
    name,
    weight,
    organisation,
    key: `${address} ${name} ${digestOf(secrets)}`,
  });
  return [describe(first), ...others.map(describe)];
}

/** Of this process only, so that a digest tells nothing about its secrets. */
const DIGEST_KEY = randomBytes(32);

/** All upstreams of a provider share its credentials, and there may be thousands. */
const digests = new WeakMap<Credential['secrets'], string>();

/** Equal for equal secrets, so that a credential that stays is known again after a reload. */
function digestOf(secrets: Credential['secrets']): string {
  const known = digests.get(secrets);
  if (known !== undefined) return known;
  const entries = Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]);
  const digest = createHmac('sha256', DIGEST_KEY).update(JSON.stringify(entries)).digest('base64url').slice(0, 22);
  digests.set(secrets, digest);
  return digest;
}

/** A late answer may still contain the token before the current one. */
const TOKENS_HIDDEN = 2;

/** `hidden`: the secrets of the upstream; the last tokens of this credential join them. */
function authorizingBy(
  { settings }: RemoteProvider,
  { secrets, source }: Credential,
  hidden: Secret[],
): RequestCredential {
  const tokens: Secret[] = [];
  return {
    secrets,
    source,
    settings,
    hide(token) {
      if (tokens.includes(token)) return;
      tokens.push(token);
      hidden.push(token);
      const [oldest] = tokens;
      if (tokens.length <= TOKENS_HIDDEN || oldest === undefined) return;
      tokens.shift();
      hidden.splice(hidden.indexOf(oldest), 1);
    },
  };
}

/** The list of a provider's models that one of its credentials may see. */
export function listingOf({ kind, settings }: RemoteProvider, credential: Credential): Listing {
  return kind.listingOf?.(credential, settings) ?? kind.listing;
}

/**
 * Requests a page of the list of a provider's models with one of its credentials, whose token joins `hidden`. `page`: the
 * query member of the page; null: the first. Throws as `openUpstream` does.
 */
export function openListing(
  provider: RemoteProvider,
  credential: Credential,
  hidden: Secret[],
  limits: ExchangeLimits,
  listener: ExchangeListener,
  page: readonly [name: string, cursor: string] | null = null,
): Exchange {
  const { kind, settings } = provider;
  const listing = listingOf(provider, credential);
  const door = listing.door ?? kind;
  const { origin, basePath } = doorAddress(provider, door);
  const headers: HeaderLine[] = [
    ['host', origin.authority],
    ['user-agent', USER_AGENT],
    ['accept', 'application/json'],
    ['accept-encoding', 'identity'],
    ...listing.headers,
    ...kind.headers(credential.secrets, settings),
  ];
  const join = listing.path.includes('?') ? '&' : '?';
  const query = page === null ? '' : `${join}${page[0]}=${encodeURIComponent(page[1])}`;
  const path = basePath + listing.path + query;
  const request = { method: 'GET', url: origin.key + path, headers, body: NO_BODY } as const;
  const by = authorizingBy(provider, credential, hidden);
  return new Exchange(origin, renderAuthorized(door.authorize, by, path, request), NO_BODY, limits, listener);
}

/** The destination of a provider's requests. Throws if its credentials are bound to another origin. */
function addressOf({ name, baseUrl, credentials, publicOnly }: RemoteProvider) {
  const { origin, basePath } = parseBaseUrl(baseUrl);
  if (credentials.origin !== origin.key) {
    throw new Error(`the credentials of ${name} are bound to ${credentials.origin}, not ${origin.key}`);
  }
  return { origin: publicOnly === true ? { ...origin, publicOnly } : origin, basePath };
}

/** The address of a door: a configured one, or its own. The credentials may go to all doors of their kind. */
function doorAddress(provider: RemoteProvider, door: Door): ReturnType<typeof addressOf> {
  const { kind, settings, baseUrl, publicOnly } = provider;
  const own = kind.addressOf?.(settings) ?? null;
  const other = door === kind || own === null ? null : (door.addressOf?.(settings) ?? null);
  if (other === null || baseUrl !== kind.completeBaseUrl(own ?? '')) return addressOf(provider);
  const { origin, basePath } = parseBaseUrl(other);
  return { origin: publicOnly === true ? { ...origin, publicOnly } : origin, basePath };
}

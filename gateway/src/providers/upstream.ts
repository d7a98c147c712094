/**
 * Builds the part of a provider request before its body: path, headers, credential. Binds each credential to its
 * origin; nothing that a client sends can change the destination.
 */
import type { ProviderConfig, TargetConfig, Timeouts, UpstreamProvider } from '../config/config.ts';
import type { Framing } from '../framing/framing.ts';
import { SSE } from '../framing/sse-decoder.ts';
import { Secret } from '../lib/secret.ts';
import type { UpstreamProtocolName } from '../protocols/names.ts';
import { UPSTREAM_PROTOCOLS } from '../protocols/registry.ts';
import type { OutputLimitMember } from '../protocols/request/output-limit.ts';
import { type Origin, parseBaseUrl } from '../upstream/origin.ts';

/** An upstream over HTTP: provider, its name of the model, and credential. */
export interface HttpUpstream {
  readonly kind: 'http';
  readonly provider: string;
  readonly model: string;
  /** The formats it speaks; a call in another one is translated. */
  readonly protocols: readonly UpstreamProtocolName[];
  /** How its streams are cut into records. */
  readonly framing: Framing;
  readonly origin: Origin;
  readonly timeouts: Timeouts;
  /** The provider accepts `stream_options.include_usage`. */
  readonly takesUsageOption: boolean;
  /** Output limits that the provider is known to honor before any response has shown it. */
  readonly provenLimits: readonly OutputLimitMember[];
  readonly credential: Secret | null;
  /** By path: the head of a request up to the headers that vary by call; contains the credential. */
  readonly headStart: ReadonlyMap<string, Secret>;
}

/** The built-in demo model: no origin, no credential. */
export interface DemoUpstream {
  readonly kind: 'demo';
  readonly provider: string;
  readonly model: string;
  readonly protocols: readonly UpstreamProtocolName[];
  readonly framing: Framing;
}

export type Upstream = HttpUpstream | DemoUpstream;

const USER_AGENT = 'tollgate';

/** Builds the upstream of one target. Throws if a credential is bound to another origin than the provider's address. */
export function buildUpstream(target: TargetConfig): Upstream {
  const { provider } = target;
  const { protocols } = provider;
  if (provider.kind === 'demo')
    return { kind: 'demo', provider: provider.name, model: target.model, protocols, framing: SSE };
  const { origin, basePath } = addressOf(provider);
  const headStart = new Map<string, Secret>();
  for (const protocol of protocols) {
    const { answer, count } = UPSTREAM_PROTOCOLS[protocol].paths;
    headStart.set(answer, renderStart(provider, origin, basePath, answer));
    if (count !== null) headStart.set(count, renderStart(provider, origin, basePath, count));
  }
  return {
    kind: 'http',
    provider: provider.name,
    model: target.model,
    protocols,
    framing: SSE,
    origin,
    timeouts: target.timeouts ?? provider.timeouts,
    provenLimits: provider.provenLimits,
    takesUsageOption: provider.quirks.streamUsage === 'asked',
    credential: provider.credential?.secret ?? null,
    headStart,
  };
}

/** The destination of a provider's calls. Throws if its credential is bound to another origin. */
function addressOf({ name, baseUrl, credential, publicOnly }: UpstreamProvider) {
  const { origin, basePath } = parseBaseUrl(baseUrl);
  if (credential !== null && credential.origin !== origin.key) {
    throw new Error(`the credential of ${name} is bound to ${credential.origin}, not ${origin.key}`);
  }
  return { origin: publicOnly === true ? { ...origin, publicOnly } : origin, basePath };
}

function renderStart(provider: UpstreamProvider, origin: Origin, basePath: string, path: string): Secret {
  const lines = [
    `POST ${basePath}/${path} HTTP/1.1`,
    `host: ${origin.authority}`,
    `user-agent: ${USER_AGENT}`,
    'content-type: application/json',
    'accept-encoding: identity',
    ...credentialLines(provider),
  ];
  return new Secret(`${lines.join('\r\n')}\r\n`);
}

function credentialLines(provider: ProviderConfig): string[] {
  if (provider.kind === 'demo' || provider.credential === null) return [];
  const key = provider.credential.secret.reveal();
  return provider.kind === 'anthropic' ? [`x-api-key: ${key}`] : [`authorization: Bearer ${key}`];
}

/** The complete head of the request that lists a provider's models, and its origin. Throws as `buildUpstream` does. */
export function renderModelsRequest(provider: UpstreamProvider): { readonly origin: Origin; readonly head: Secret } {
  const { origin, basePath } = addressOf(provider);
  const lines = [
    `GET ${basePath}/models HTTP/1.1`,
    `host: ${origin.authority}`,
    `user-agent: ${USER_AGENT}`,
    'accept: application/json',
    'accept-encoding: identity',
    ...(provider.kind === 'anthropic' ? ['anthropic-version: 2023-06-01'] : []),
    ...credentialLines(provider),
  ];
  return { origin, head: new Secret(`${lines.join('\r\n')}\r\n\r\n`) };
}

/**
 * The complete head of one request. `forwarded`: the client's header lines that the upstream may see, each already
 * validated.
 */
export function renderRequestHead(
  upstream: HttpUpstream,
  path: string,
  forwarded: ReadonlyArray<readonly [name: string, value: string]>,
  stream: boolean,
  bodyBytes: number,
): string {
  const start = upstream.headStart.get(path);
  if (start === undefined) throw new Error(`${upstream.provider} does not speak ${path}`);
  let head = `${start.reveal()}accept: ${stream ? 'text/event-stream' : 'application/json'}\r\n`;
  for (const [name, value] of forwarded) head += `${name}: ${value}\r\n`;
  return `${head}content-length: ${bodyBytes}\r\n\r\n`;
}

/** Connects telemetry with the running gateway: reads its states for a scrape, and posts exports through its dialer. */
import manifest from '../../package.json' with { type: 'json' };
import type { CallDeps } from '../call/deps.ts';
import type { Config } from '../config/config.ts';
import type { TargetSnapshot } from '../routing/health/routing-state.ts';
import type { Target } from '../routing/route.ts';
import type { StoreHealth } from '../store/ports/store.ts';
import type { ProcessLog } from '../telemetry/log.ts';
import type { GatewayState } from '../telemetry/metrics/gateway-metrics.ts';
import type { RoutingView } from '../telemetry/metrics/routing-metrics.ts';
import { openTelemetry, type Telemetry } from '../telemetry/telemetry.ts';
import { parseBaseUrl } from '../upstream/connection.ts';
import { Exchange } from '../upstream/exchange.ts';
import { headerOf, type ResponseHead } from '../upstream/response-head.ts';

/** The conventions' names of vendors that differ from the catalog's (semantic-conventions-genai, 2026-11-22). */
const VENDORS: { readonly [provider: string]: string } = {
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  moonshotai: 'moonshot_ai',
  moonshot: 'moonshot_ai',
  xai: 'x_ai',
  'amazon-bedrock': 'aws.bedrock',
  azure: 'azure.ai.openai',
  'google-vertex': 'gcp.vertex_ai',
};

/** `config`: the configuration now. */
export function startTelemetry(
  config: () => Config,
  startedAtMs: number,
  { log, lines }: ProcessLog,
): Promise<Telemetry> {
  return openTelemetry({
    config: config().telemetry,
    version: manifest.version,
    startedAtMs,
    log,
    lines,
    vendorOf(provider) {
      const vendor = config().providers.get(provider)?.catalogProvider ?? provider;
      return VENDORS[vendor] ?? vendor;
    },
    post: postBytes,
  });
}

const RESPONSE_BYTES_MAX = 1024 * 1024;
const CONNECT_MS = 5_000;

/** Sends one export over the gateway's own dialer, so that the rules about proxies hold. */
function postBytes(
  url: string,
  headers: readonly (readonly [string, string])[],
  body: Uint8Array,
  timeoutMs: number,
): Promise<{ status: number; retryAfterMs: number | null; body: Uint8Array }> {
  const { origin, basePath } = parseBaseUrl(url);
  const lines = [['host', origin.authority], ['user-agent', 'tollgate'], ...headers, ['content-length', body.length]];
  const head = `POST ${basePath || '/'} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  const limits = {
    connectMs: Math.min(CONNECT_MS, timeoutMs),
    firstByteMs: timeoutMs,
    idleMs: timeoutMs,
    totalMs: timeoutMs,
    responseBytesMax: RESPONSE_BYTES_MAX,
    mayResend: true,
  };
  return new Promise((resolve, reject) => {
    let answer: ResponseHead | null = null;
    const chunks: Uint8Array[] = [];
    new Exchange(origin, head, body, limits, {
      onHead(given) {
        answer = given;
      },
      onBody: (span) => void chunks.push(span),
      onEnd() {
        if (answer === null) reject(new Error('no answer'));
        else resolve({ status: answer.status, retryAfterMs: readRetryAfter(answer), body: Buffer.concat(chunks) });
      },
      onFailure: ({ message }) => reject(new Error(message)),
    });
  });
}

/** Dates are not read: collectors send seconds. */
function readRetryAfter(head: ResponseHead): number | null {
  const text = headerOf(head, 'retry-after');
  return text !== null && /^\d{1,5}$/.test(text) ? Number(text) * 1_000 : null;
}

/** What one scrape reads. */
export function readGatewayState(deps: CallDeps, store: StoreHealth): GatewayState {
  const { capacity, protocolViolations } = deps;
  const { received, withheld } = protocolViolations;
  const violations = (counts: { readonly [protocol: string]: number }, direction: string) =>
    Object.entries(counts).map(([protocol, count]) => ({ direction, protocol, count }));
  return {
    openRequests: capacity.openCalls,
    openWebSockets: capacity.webSockets.held,
    openStreams: deps.openCalls.items().filter((call) => call.isStream === true).length,
    overloadShare: capacity.overload.share,
    bodyBytes: { held: capacity.bodyBytes.held, max: deps.settings.config.limits.bodyBytesInFlightMax },
    isReady: deps.ready,
    isServing: !deps.draining && deps.recorder.writable(),
    violations: [...violations(received, 'received'), ...violations(withheld, 'withheld')],
    store,
    routing: readRouting(deps, performance.now()),
  };
}

function readRouting({ settings, routing, choice }: CallDeps, nowMs: number): RoutingView {
  const { targets, limping, credentials: seen } = routing.snapshot(nowMs);
  const states = new Map(targets.map((target) => [target.key, target]));
  const byLabels = new Map<string, Target>();
  for (const route of settings.routes.values()) {
    for (const target of route.targets) {
      const { provider, model } = target.upstream;
      byLabels.set([provider, target.name, model].join('\u0000'), target);
    }
  }
  const served = [...byLabels.values()];
  const credentials = new Map<string, { provider: string; credential: string; key: string }>();
  const headroom = new Map<string, RoutingView['headroom'][number]>();
  for (const { upstream } of served) {
    const { provider, model } = upstream;
    for (const [index, { name: credential, key }] of upstream.credentials.entries()) {
      credentials.set(key, { provider, credential, key });
      const share = choice.headroom.statedShareOf(upstream, index, nowMs);
      if (share !== null) headroom.set(`${upstream.key}\u0000${credential}`, { provider, credential, model, share });
    }
  }
  const known = new Map(seen.map((one) => [one.key, one]));
  return {
    targets: served.map((target) =>
      viewTarget(target, states.get(target.upstream.key), choice.queues.waitingAt(target)),
    ),
    credentials: [...credentials.values()].map(({ provider, credential, key }) => ({
      provider,
      credential,
      state: known.get(key)?.state ?? 'usable',
    })),
    headroom: [...headroom.values()],
    limping: limping.map(({ route }) => route),
    pins: choice.affinity.size,
    pinMoves: choice.affinity.moves,
  };
}

/** A target that was never called is closed. */
function viewTarget({ name, upstream }: Target, found: TargetSnapshot | undefined, waiting: number) {
  const { state = 'closed', open = 0, overdue = 0, retriesLeft = null } = found ?? {};
  const { provider, model } = upstream;
  return { provider, target: name, model, state, open, overdue, retriesLeft, waiting };
}

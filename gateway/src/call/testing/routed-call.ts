/** Creates a call for tests that has a route and has not been sent. */

import { parseConfigPrice } from '../../billing/config-price.ts';
import type { Price } from '../../billing/price.ts';
import { bookOf } from '../../billing/price-book.ts';
import { DEFAULT_ROUTING, type Defaults } from '../../config/config.ts';
import { buildRemoteProvider } from '../../config/resolve-providers.ts';
import { chooseRouting, plainTarget } from '../../config/resolve-routing.ts';
import { resolveDefaults } from '../../config/resolve-settings.ts';
import { compileModelPatterns, newKeyUse, type Principal } from '../../identity/principal.ts';
import { chatClient } from '../../protocols/chat/client/client-protocol.ts';
import type { RequestFacts } from '../../protocols/request/request-facts.ts';
import { demo, localProvider } from '../../providers/kinds/demo.ts';
import { openaiCompatible } from '../../providers/kinds/openai-compatible.ts';
import { singleCredential, type Upstream } from '../../providers/provider.ts';
import { openUpstream } from '../../providers/upstream.ts';
import type { Target } from '../../routing/route.ts';
import { traitsOf } from '../../routing/upstream-traits.ts';
import type { HoldMode } from '../../store/ports/records.ts';
import type { JsonOutline } from '../../wire/json-node.ts';
import { startJsonScan } from '../../wire/json-scan.ts';
import { type Arrived, openCall, type Routed, setFacts, setPrincipal, setRoute } from '../call.ts';
import type { CallDeps } from '../deps.ts';
import type { BillingDeps } from '../money/billing-deps.ts';

export interface CallPlan {
  readonly facts?: Partial<RequestFacts>;
  readonly headers?: Record<string, string>;
  readonly mode?: 'postpaid' | 'prepaid';
  readonly markUpPpm?: number;
  /** Null: unknown. Default: one nano-dollar per token. */
  readonly price?: Price | null;
  /** The model's maximum; null: unknown. */
  readonly outputTokensMax?: number | null;
  /** The name of a provider without a preset; default: the demo answers. */
  readonly host?: string;
  readonly billing?: BillingDeps;
  /** The body; default: the model alone. */
  readonly body?: string;
  /** The hold mode of the key or its account; default: none set. */
  readonly holds?: HoldMode;
  readonly hiddenReasoning?: Target['hiddenReasoning'];
  readonly defaults?: Partial<Defaults>;
  /** Called for log lines about models without a price. */
  readonly onUnpriced?: (model: string) => void;
}

/** Telemetry that is off. */
const UNSEEN: Partial<CallDeps> = {
  observer: { ended: () => undefined, counted: () => undefined, turnedAway: () => undefined },
  sampleTrace: null,
};

/** A call in the chat format that has just arrived. */
export function arrivedCall(headers: Record<string, string> = {}, deps: Partial<CallDeps> = {}): Arrived {
  const request = new Request('http://gateway/v1/chat/completions', { method: 'POST', headers });
  const origin = { address: () => null, replyReady: () => undefined };
  return openCall(request, chatClient, origin, { ...UNSEEN, ...deps } as CallDeps);
}

/** A call of key_1 for the model `m`, in the chat format. Its dependencies are `deps` and what money needs. */
export function routedCall(plan: CallPlan, deps: Partial<CallDeps> = {}): Routed {
  const outline = outlineOf(plan.body ?? '{"model":"m"}');
  const call = arrivedCall(plan.headers, { ...depsOf(plan), ...deps });
  setPrincipal(call, principalOf(plan));
  setFacts(call, outline, {
    model: 'm',
    stream: false,
    wantsUsage: false,
    endUser: null,
    inputBytes: 400,
    mediaParts: 0,
    outputTokensMax: 1_000,
    outputLimitMember: null,
    otherLimit: null,
    mayChangeLimit: false,
    answers: 1,
    extras: undefined,
    ...plan.facts,
  });
  const target = targetOf(plan);
  const routing = chooseRouting(DEFAULT_ROUTING, [target]);
  const names = ['m', 'alias'];
  setRoute(call, { model: 'm', names, protocols: ['chat', 'messages'], routing, targets: [target] }, target);
  return call;
}

/** The dependencies that money needs. */
function depsOf({ billing, defaults, onUnpriced }: CallPlan): Partial<CallDeps> {
  const config = { defaults: { ...resolveDefaults(undefined), ...defaults } };
  const log = {
    unpriced: (_: string, model: string) => onUnpriced?.(model),
    fault: () => undefined,
    upstream: () => undefined,
  };
  const deps = { settings: { config }, log } as unknown as Pick<CallDeps, 'settings' | 'log'>;
  return billing === undefined ? deps : { ...deps, billing };
}

function principalOf({ mode = 'postpaid', markUpPpm = 0, holds }: CallPlan): Principal {
  const all = compileModelPatterns(null);
  return {
    keyId: 'key_1',
    keyName: 'first',
    accountId: 'default',
    account: { id: 'default', name: 'Default', mode, markUpPpm, timeZone: 'UTC', holds: null, createdAtMs: 0 },
    workspaceId: 'default',
    scopes: ['inference'],
    strict: false,
    holds: holds ?? null,
    ranges: null,
    use: newKeyUse(),
    keyModels: null,
    workspaceModels: null,
    keyAllows: all,
    workspaceAllows: all,
    requiredTags: [],
    bodies: null,
    cache: null,
  };
}

function targetOf({ price, outputTokensMax = null, hiddenReasoning = 'never', host }: CallPlan): Target {
  const config = plainTarget(localProvider('lab', demo), 'm-upstream');
  return {
    ...config,
    upstream: host === undefined ? openUpstream(config) : hostOf(host),
    traits: { ...traitsOf(config, null), outputTokensMax },
    hiddenReasoning,
    catalog: null,
    prices: bookOf(price === undefined ? parseConfigPrice({ input: '0.001', output: '0.001' }) : price),
  };
}

function hostOf(name: string): Upstream {
  const address = { url: 'http://127.0.0.1:9/v1', origin: 'http://127.0.0.1:9' };
  const timeouts = { connectMs: 1, firstByteMs: 1, firstBytePlainMs: 1, idleMs: 1, totalMs: 1 };
  const provider = buildRemoteProvider({
    name,
    kind: openaiCompatible,
    preset: null,
    address,
    pool: singleCredential({}),
    timeouts,
  });
  return openUpstream({ provider, model: 'm-upstream', timeouts: null });
}

function outlineOf(text: string): JsonOutline {
  const outline = startJsonScan(Buffer.from(text), { depthMax: 2, keysPerObjectMax: 9, outlineDepth: 1 }).step(
    text.length,
  );
  if (outline === 'more' || !outline.ok) throw new Error('the body must be JSON');
  return outline;
}

/** Creates routes, targets, requests and states for tests of the choice, on a clock of their own. */
import { parseConfigPrice } from '../../../billing/config-price.ts';
import { bookOf } from '../../../billing/price-book.ts';
import { DEFAULT_ROUTING } from '../../../config/config.ts';
import type { UpstreamProtocolName } from '../../../protocols/names.ts';
import { chooseUpstreamProtocols } from '../../../protocols/registry.ts';
import { demo, localProvider } from '../../../providers/kinds/demo.ts';
import type { Timeouts, Upstream, UpstreamCredential } from '../../../providers/provider.ts';
import { openUpstream } from '../../../providers/upstream.ts';
import type { Route, Target } from '../../route.ts';
import { traitsOf } from '../../upstream-traits.ts';
import type { HealthView, TargetHealthView } from '../candidate.ts';
import { ChoiceState } from '../choose.ts';
import type { RoutedRequest } from '../routed-request.ts';

const DEMO = { provider: localProvider('demo', demo), model: 'm', timeouts: null };

export interface TargetPlan extends Partial<Omit<Target, 'upstream' | 'traits' | 'prices'>> {
  readonly name: string;
  /** Default: the target's name. */
  readonly provider?: string;
  readonly model?: string;
  readonly timeouts?: Timeouts;
  readonly credentials?: readonly Partial<UpstreamCredential>[];
  readonly takes?: Partial<Target['traits']['takes']>;
  readonly inputTokensMax?: number | null;
  readonly firstParty?: boolean;
  /** The only format that it speaks; default: both. */
  readonly speaks?: UpstreamProtocolName;
  /** USD per million tokens of input, cache reads and output; null: no price. Default: 1, 0.1 and 5. */
  readonly price?: readonly [input: number, cacheRead: number, output: number] | null;
}

export function makeTarget(plan: TargetPlan): Target {
  const { name, model = 'm', credentials = [{}], takes, inputTokensMax = null, firstParty = false, speaks } = plan;
  const { provider = name, timeouts = null, price = [1, 0.1, 5], ...given } = plan;
  const opened = openUpstream({ ...DEMO, model });
  const [first = credentialOf(provider, {}, 0), ...others] = credentials.map((one, index) =>
    credentialOf(provider, one, index),
  );
  const upstream: Upstream = {
    ...opened,
    provider,
    key: `${provider} ${model}`,
    origin: `https://${provider}`,
    timeouts,
    credentials: [first, ...others],
    ...(speaks === undefined ? {} : { protocols: [speaks], protocolFor: chooseUpstreamProtocols([speaks]) }),
  };
  const traits = traitsOf(DEMO, null);
  return {
    priority: 1,
    weight: null,
    maxConcurrency: null,
    tags: [],
    hiddenReasoning: 'never',
    catalog: null,
    ...given,
    upstream,
    traits: {
      ...traits,
      inputTokensMax,
      takes: { ...traits.takes, ...takes },
      messages: { ...traits.messages, firstParty },
    },
    prices: bookOf(
      price === null ? null : parseConfigPrice({ input: price[0], cache_read: price[1], output: price[2] }),
    ),
  };
}

function credentialOf(provider: string, given: Partial<UpstreamCredential>, index: number): UpstreamCredential {
  const name = given.name ?? `key-${index}`;
  return { weight: 1, organisation: null, key: `${provider} ${name}`, ...given, name };
}

export function makeRoute(plans: readonly TargetPlan[], routing: Partial<Route['routing']> = {}): Route {
  const [first, ...others] = plans.map(makeTarget);
  if (first === undefined) throw new Error('a route needs a target');
  return {
    model: 'm',
    names: ['m'],
    protocols: ['chat', 'messages'],
    routing: { ...DEFAULT_ROUTING, strategy: 'order', ...routing },
    targets: [first, ...others],
  };
}

export const NO_NEEDS: NonNullable<RoutedRequest['needs']> = {
  tools: false,
  image: false,
  audio: false,
  pdf: false,
  serverTool: null,
  logprobs: false,
  storedItem: null,
  ownFormat: null,
  reasoning: false,
  schema: false,
};

export const NO_MARKS: RoutedRequest['marks'] = { signed: false, marksCache: false, longCache: false };

/** A chat request of 1,000 tokens without a conversation. */
export function makeRequest(given: Partial<RoutedRequest> = {}): RoutedRequest {
  return {
    workspaceId: 'w',
    keyId: 'k',
    protocol: 'chat',
    needs: NO_NEEDS,
    marks: NO_MARKS,
    tags: [],
    inputTokens: 1_000,
    outputTokensMax: null,
    conversation: null,
    mustBePriced: false,
    atMs: 0,
    ...given,
  };
}

type Verdict = ReturnType<TargetHealthView['verdict']>;

/** The health of a target that a test sets. */
export class SetHealth implements TargetHealthView {
  /** By credential; the last one applies to those after it. */
  verdicts: readonly Verdict[] = ['usable'];
  until = 0;
  sharePart = 1;
  closedMs = Number.POSITIVE_INFINITY;
  faults = 0;
  expected: number | null = null;
  open = 0;

  verdict(credential: number): Verdict {
    return this.verdicts[Math.min(credential, this.verdicts.length - 1)] ?? 'usable';
  }

  untilMs(): number {
    return this.until;
  }

  share(): number {
    return this.sharePart;
  }

  closedForMs(): number {
    return this.closedMs;
  }

  faultShare(): number {
    return this.faults;
  }

  expectedMs(): number | null {
    return this.expected;
  }
}

/** States by the name of their target; a target without one is healthy. */
export class SetStates implements HealthView {
  readonly #states = new Map<string, SetHealth>();

  of({ name }: Pick<Target, 'name'>): SetHealth {
    const state = this.#states.get(name) ?? new SetHealth();
    this.#states.set(name, state);
    return state;
  }

  set(name: string, given: Partial<Omit<SetHealth, 'verdict' | 'untilMs'>>): void {
    Object.assign(this.of({ name }), given);
  }
}

export function makeState(): { readonly health: SetStates; readonly state: ChoiceState } {
  const health = new SetStates();
  return { health, state: new ChoiceState(health) };
}

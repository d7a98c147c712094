/** Starts a gateway whose models have two targets: a primary and a second one of the other format. */

import type { Scenario } from '../fake-upstream/scenario.ts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';

const PRICE = { input: 1, cache_read: 0.1, cache_write: 1.25, cache_write_1h: 2, output: 5, reasoning: 5 };
const KEPT_MAX = 1_000_000;

/** How a primary dies. Some upstreams answer with an error in a stream only. */
export const DEATHS = {
  reset: { cut: { at: 'before-headers', how: 'rst' } },
  stall: { cut: { at: 'before-headers', how: 'stall' } },
  status: { status: 503 },
  hollow: { hollow: true },
  error_first: { errorEvent: 1 },
} as const satisfies Readonly<Record<string, Scenario>>;

export type Death = keyof typeof DEATHS;
/** One model for each death, and one whose targets both die. */
export const DYING = Object.keys(DEATHS) as Death[];
export const BOTH = 'both';
export const PLAIN: ReadonlySet<string> = new Set(['reset', 'status', 'hollow', BOTH]);

const HEALTHY: Scenario = { answer: 'ok' };

export interface TwoTargets {
  readonly gateway: RunningGateway;
  readonly primary: FakeUpstream;
  readonly second: FakeUpstream;
  stop(): Promise<void>;
}

export async function startTwoTargets(): Promise<TwoTargets> {
  const primary = await startFakeUpstream({ keepCallsMax: KEPT_MAX });
  const second = await startFakeUpstream({ keepCallsMax: KEPT_MAX });
  const names = [...DYING, BOTH];
  for (const name of names) for (const fake of [primary, second]) fake.script(name, HEALTHY);
  const targets = (model: string) => [
    { provider: 'primary', model },
    { provider: 'second', model },
  ];
  const gateway = await startGateway({
    config: {
      providers: {
        primary: { kind: 'openai-compatible', base_url: `${primary.url}/v1`, api_key: 'none' },
        second: { kind: 'anthropic', base_url: `${second.url}/v1`, api_key: 'none' },
      },
      models: Object.fromEntries(names.map((name) => [name, { targets: targets(name), price: PRICE }])),
    },
  });
  return {
    gateway,
    primary,
    second,
    async stop() {
      await gateway.stop();
      await primary.stop();
      await second.stop();
    },
  };
}

export function kill(fake: FakeUpstream, model: string, death: Scenario): void {
  fake.script(model, death);
}

export function heal(fake: FakeUpstream, model: string): void {
  fake.script(model, HEALTHY);
}

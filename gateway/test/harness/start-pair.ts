/** Starts and stops a gateway together with the fake upstream that it uses. */
import { atEndOfRun } from '../../scripts/test-runner/end-of-run.ts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { type GatewayPlan, type RunningGateway, startGateway } from './start-gateway.ts';

/** A pair that runs until the end of the run. */
export interface SharedPair {
  readonly fake: FakeUpstream;
  readonly gateway: RunningGateway;
}

export interface Pair extends SharedPair {
  stop(): Promise<void>;
}

/** Returns the gateway's configuration, given the fake's address. */
type Configure = (fakeUrl: string) => object;

/** Starts both. */
export async function startPair(configure: Configure, plan: Omit<GatewayPlan, 'config'> = {}): Promise<Pair> {
  const fake = await startFakeUpstream();
  try {
    const gateway = await startGateway({ ...plan, config: configure(fake.url) });
    return {
      fake,
      gateway,
      async stop() {
        await gateway.stop();
        await fake.stop();
      },
    };
  } catch (error) {
    await fake.stop();
    throw error;
  }
}

const sharedPairs = new Map<string, Promise<Pair>>();

/**
 * Starts both once for all suites of the process with this configuration, because a start costs half a second of CPU
 * time. A suite that shares changes no settings, and compares counts of calls with those before.
 */
export function sharePair(configure: Configure): Promise<SharedPair> {
  const config = JSON.stringify(configure('http://fake'));
  const known = sharedPairs.get(config);
  if (known !== undefined) return known;
  const pair = startPair(configure);
  sharedPairs.set(config, pair);
  atEndOfRun(async () => (await pair).stop());
  return pair;
}

/** Returns the bodies that upstream received for a model, as text. */
export function sentTexts({ fake }: Pick<Pair, 'fake'>, model: string): string[] {
  return fake.served(model).map(({ requestBody }) => Buffer.from(requestBody).toString());
}

/** Starts and stops a gateway together with the fake upstream that it uses. */
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { type GatewayPlan, type RunningGateway, startGateway } from './start-gateway.ts';

export interface Pair {
  readonly fake: FakeUpstream;
  readonly gateway: RunningGateway;
  stop(): Promise<void>;
}

/** Starts both; `configure` gets the fake's address and returns the gateway's configuration. */
export async function startPair(
  configure: (fakeUrl: string) => object,
  plan: Omit<GatewayPlan, 'config'> = {},
): Promise<Pair> {
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

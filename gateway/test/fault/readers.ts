/** Starts the bench's upstream behind a gateway, for suites that measure memory. */
import type { StreamTarget } from '../../../bench/memory/open-stream.ts';
import { startUpstream } from '../../../bench/upstream/start-upstream.ts';
import { pointAt } from '../harness/point-at.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';

export interface MeasuredGateway {
  readonly gateway: RunningGateway;
  readonly target: StreamTarget;
  stop(): Promise<void>;
}

/** The collector runs every 100 ms instead of every second, so that measurements show retained memory, not garbage. */
const COLLECTOR = { BUN_GC_TIMER_INTERVAL: '100' };

/** Starts the upstream, and the gateway with this environment. */
export async function startMeasured(environment: Readonly<Record<string, string>> = {}): Promise<MeasuredGateway> {
  const upstream = startUpstream(0);
  try {
    const models = ['bench', 'bench-slow', 'bench-endless'];
    const gateway = await startGateway({
      config: pointAt(`http://127.0.0.1:${upstream.port}`, { chat: models }),
      environment: { ...COLLECTOR, ...environment },
    });
    const headers = { authorization: `Bearer ${gateway.key}` };
    return {
      gateway,
      target: { port: Number(new URL(gateway.url).port), path: '/v1/chat/completions', headers },
      async stop() {
        await gateway.stop();
        upstream.stop();
      },
    };
  } catch (error) {
    upstream.stop();
    throw error;
  }
}

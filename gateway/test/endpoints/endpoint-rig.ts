/** Starts a gateway with an upstream of set answers, and posts to it, for the suites of endpoints without translation. */
import { type Answer, ask } from '../harness/ask.ts';
import { type CallLine, type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { type SetUpstream, startSetUpstream } from './set-upstream.ts';

export interface EndpointRig {
  readonly gateway: RunningGateway;
  readonly upstream: SetUpstream;
  post(path: string, body: object | string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  recordOf(answer: Pick<Answer, 'headers'>): Promise<CallLine | undefined>;
  stop(): Promise<void>;
}

/** `configure` gets upstream's address. */
export async function startEndpointRig(configure: (url: string) => object): Promise<EndpointRig> {
  const upstream = startSetUpstream();
  const gateway = await startGateway({ config: configure(upstream.url) });
  return {
    gateway,
    upstream,
    post: (path, body, headers = {}) => ask(gateway.url + path, { key: gateway.key, body, headers }),
    async recordOf({ headers }) {
      const id = headers.get('x-request-id');
      return (await gateway.calls()).find(({ request_id }) => request_id === id);
    },
    async stop() {
      await gateway.stop();
      await upstream.stop();
    },
  };
}

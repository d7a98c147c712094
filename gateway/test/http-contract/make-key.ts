/** Creates and changes keys for tests over the running server's control socket, as the commands do. */
import { callControl } from '../../src/control/control-client.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';

export interface MadeKey {
  readonly id: string;
  readonly key: string;
}

type Administered = Pick<RunningGateway, 'dataDir'>;

/** Runs an administrative command in the running server. Throws if it fails. */
export async function control({ dataDir }: Administered, name: string, given: object): Promise<unknown> {
  const reply = await callControl(dataDir, name, given);
  if (reply === 'no-server' || !reply.ok) throw new Error(`${name} ${JSON.stringify(given)}: ${JSON.stringify(reply)}`);
  return reply.result;
}

/**
 * Creates a key; `given` as the command `keys.create` takes it: `models`, `ips`, `scopes`, `workspace`,
 * `expires_in_ms`.
 */
export async function createKey(gateway: Administered, given: object = {}): Promise<MadeKey> {
  return (await control(gateway, 'keys.create', { name: 'a test', ...given })) as MadeKey;
}

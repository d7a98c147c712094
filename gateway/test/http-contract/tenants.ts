/** Creates keys of the tenants that the matrices of stored state have: the same workspace, another one, another account. */
import type { RunningGateway } from '../harness/start-gateway.ts';
import { control, createKey } from './make-key.ts';

export interface TenantKeys {
  /** The gateway's first key. */
  readonly own: string;
  /** Of the same workspace. */
  readonly colleague: string;
  /** Of the workspace `team` of the same account. */
  readonly workspace: string;
  /** Of the account `acme`. */
  readonly account: string;
}

export async function createTenantKeys(gateway: Pick<RunningGateway, 'dataDir' | 'key'>): Promise<TenantKeys> {
  await control(gateway, 'workspaces.create', { id: 'team', account: 'default' });
  await control(gateway, 'accounts.create', { id: 'acme' });
  await control(gateway, 'workspaces.create', { id: 'acme-main', account: 'acme' });
  const keyOf = async (given: object) => (await createKey(gateway, given)).key;
  return {
    own: gateway.key,
    colleague: await keyOf({}),
    workspace: await keyOf({ workspace: 'team' }),
    account: await keyOf({ workspace: 'acme-main' }),
  };
}

/** Owns filling a directory from the store. */
import type { Secret } from '../lib/secret.ts';
import type { PolicyReader } from '../store/policy-port.ts';
import { createKeyDirectory, type KeyDirectory, type MakerRights } from './key-directory.ts';
import { createKeyHasher } from './key-hash.ts';

/**
 * The directory of all keys, workspaces and accounts of a store. `masterKey`: 64 hex characters, the one that they were made
 * under. `makers`: what people may do; nothing where no call is answered by the directory.
 */
export async function loadKeyDirectory(
  policies: Pick<PolicyReader, 'readKeys' | 'readWorkspaces' | 'readAccounts'>,
  masterKey: Secret,
  makers: ReadonlyMap<string, MakerRights> = new Map(),
): Promise<KeyDirectory> {
  const [accounts, workspaces, keys] = await Promise.all([
    policies.readAccounts(),
    policies.readWorkspaces(),
    policies.readKeys(),
  ]);
  return createKeyDirectory(createKeyHasher(masterKey), { accounts, workspaces, keys, makers });
}

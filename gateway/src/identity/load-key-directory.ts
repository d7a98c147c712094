/** Owns filling a directory from the store. */
import type { Secret } from '../lib/secret.ts';
import type { PolicyStore } from '../store/ports.ts';
import { createKeyDirectory, type KeyDirectory } from './key-directory.ts';
import { createKeyHasher } from './key-hash.ts';

/** The directory of all keys and workspaces of a store. `masterKey`: 64 hex characters, the one that they were made under. */
export async function loadKeyDirectory(
  policies: Pick<PolicyStore, 'readKeys' | 'readWorkspaces'>,
  masterKey: Secret,
): Promise<KeyDirectory> {
  const [workspaces, keys] = await Promise.all([policies.readWorkspaces(), policies.readKeys()]);
  return createKeyDirectory(createKeyHasher(masterKey), workspaces, keys);
}

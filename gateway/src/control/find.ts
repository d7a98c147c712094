/** Owns looking up what a command names, and what is said where it is not there. */
import { maskKeys } from '../lib/mask-keys.ts';
import type { StoredAccount } from '../store/policy-port.ts';
import type { StoredKey, StoredWorkspace } from '../store/ports.ts';
import { CommandFailure, type ControlContext } from './command.ts';

/** @throws CommandFailure where there is no such key. */
export function findKey({ directory }: ControlContext, id: string): StoredKey {
  const key = directory.keys.get(id);
  if (key === undefined)
    throw new CommandFailure(
      `There is no key with the id ${JSON.stringify(maskKeys(id))}. List them: tollgate keys list`,
    );
  return key;
}

/** A key that can still be changed. @throws CommandFailure where there is none, or it is revoked. */
export function findLivingKey(context: ControlContext, id: string): StoredKey {
  const key = findKey(context, id);
  if (key.status === 'revoked') {
    throw new CommandFailure(
      `The key ${id} is revoked, which is for good. Create another one: tollgate keys create --name NAME`,
    );
  }
  return key;
}

/** @throws CommandFailure where there is no such workspace. */
export function findWorkspace({ directory }: ControlContext, id: string): StoredWorkspace {
  const workspace = directory.workspaces.get(id);
  if (workspace === undefined) {
    throw new CommandFailure(
      `There is no workspace with the id ${JSON.stringify(id)}. List them: tollgate workspaces list; or make it: tollgate workspaces create ID`,
    );
  }
  return workspace;
}

/** @throws CommandFailure where there is no such account. */
export function findAccount({ directory }: ControlContext, id: string): StoredAccount {
  const account = directory.accounts.get(id);
  if (account === undefined) {
    throw new CommandFailure(
      `There is no account with the id ${JSON.stringify(id)}. List them: tollgate accounts list; or make it: tollgate accounts create ID`,
    );
  }
  return account;
}

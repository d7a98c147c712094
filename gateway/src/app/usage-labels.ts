/** Owns the names that pages about usage show for ids of an account. */
import type { UsageLabels } from '../console-api/usage-parts.ts';
import type { KeyDirectory } from '../identity/key-directory.ts';

const NOBODY: ReadonlyMap<string, string> = new Map();

/** `owners`: key → member; `memberNames`: member → name. */
export function usageLabels(
  { keys }: Pick<KeyDirectory, 'keys'>,
  account: string,
  owners: ReadonlyMap<string, string> = NOBODY,
  memberNames: ReadonlyMap<string, string> = NOBODY,
): UsageLabels {
  return {
    keyName(keyId) {
      const key = keys.get(keyId);
      return key?.accountId === account ? key.name : null;
    },
    owners,
    memberName: (memberId) => memberNames.get(memberId) ?? null,
    hasKeys(workspaces) {
      for (const { accountId, workspaceId } of keys.values()) {
        if (accountId === account && (workspaces === null || workspaces.includes(workspaceId))) return true;
      }
      return false;
    },
  };
}

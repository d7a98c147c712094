/** Owns the names that pages about usage show for ids of an account. */
import type { UsageLabels } from '../console-api/usage-parts.ts';
import type { KeyDirectory } from '../identity/key-directory.ts';
import type { PersonNames } from '../people/person-names.ts';

/** The account's keys belong to who made them, by the names that these people have now. */
export async function usageLabels(
  { keys }: Pick<KeyDirectory, 'keys'>,
  personNames: PersonNames,
  account: string,
): Promise<UsageLabels> {
  const own = [...keys.values()].filter(({ accountId }) => accountId === account);
  const owners = new Map(own.flatMap(({ id, createdBy }) => (createdBy === null ? [] : [[id, createdBy]])));
  const memberNames = await personNames([...owners.values()]);
  return {
    keyName(keyId) {
      const key = keys.get(keyId);
      return key?.accountId === account ? key.name : null;
    },
    owners,
    memberName: (memberId) => memberNames.get(memberId) ?? null,
    hasKeys: (workspaces) => own.some(({ workspaceId }) => workspaces === null || workspaces.includes(workspaceId)),
  };
}

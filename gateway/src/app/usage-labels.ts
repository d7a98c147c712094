/** Owns the names that pages about usage show for ids of an account. */
import type { FilterLabel, UsageLabels } from '../console-api/usage-parts.ts';
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
    namesOfAsked({ key, member }, workspaces) {
      const seen = own.filter(isIn(workspaces));
      const makers = new Set(seen.flatMap(({ id }) => owners.get(id) ?? []));
      return [
        ...labelOf('key', key, new Map(seen.map(({ id, name }) => [id, name]))),
        ...labelOf('member', member, new Map([...memberNames].filter(([id]) => makers.has(id)))),
      ];
    },
    namesToChoose(workspaces) {
      const seen = own.filter(isIn(workspaces));
      const makers = new Set(seen.flatMap(({ id }) => owners.get(id) ?? []));
      return [
        ...labelsOf('key', new Map(seen.map(({ id, name }) => [id, name]))),
        ...labelsOf('member', new Map([...memberNames].filter(([id]) => makers.has(id)))),
      ];
    },
    hasKeys: (workspaces) => own.some(isIn(workspaces)),
  };
}

function isIn(workspaces: readonly string[] | null) {
  return ({ workspaceId }: { readonly workspaceId: string }) => workspaces === null || workspaces.includes(workspaceId);
}

/** None where it is not asked for or has no name. */
function labelOf(
  filter: FilterLabel['filter'],
  value: string | undefined,
  names: ReadonlyMap<string, string>,
): FilterLabel[] {
  const name = value === undefined ? undefined : names.get(value);
  if (value === undefined || name === undefined) return [];
  const isShared = [...names.values()].filter((one) => one === name).length > 1;
  return [{ filter, value, label: isShared ? `${name} (${value})` : name }];
}

function labelsOf(filter: FilterLabel['filter'], names: ReadonlyMap<string, string>): FilterLabel[] {
  const counts = new Map<string, number>();
  for (const name of names.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...names]
    .map(([value, name]) => ({ filter, value, label: (counts.get(name) ?? 0) > 1 ? `${name} (${value})` : name }))
    .sort((one, other) => (one.label < other.label ? -1 : 1));
}

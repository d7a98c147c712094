/** Implements the policy store in memory, for tests. */
import type { NewAuditEntry } from '../ports/audit.ts';
import type { ImportedObject } from '../ports/books/imports.ts';
import { type Caps, layerOf, type Subject } from '../ports/limits.ts';
import type { LimitRule, PolicyChange, PolicyStore, StoredAccount } from '../ports/policy.ts';
import type { StoredKey, StoredWorkspace } from '../ports/records.ts';
import { ConstraintViolation } from '../ports/store-errors.ts';

interface Tables {
  readonly accounts: Map<string, StoredAccount>;
  readonly workspaces: Map<string, StoredWorkspace>;
  readonly keys: Map<string, StoredKey>;
  readonly rules: Map<string, LimitRule>;
  readonly imports: Map<string, ImportedObject>;
}

/** New data, as every store's. `onKept` gets the audit entries of each change. */
export function createMemoryPolicy(onKept: (entries: readonly NewAuditEntry[]) => void = () => undefined): PolicyStore {
  const account: StoredAccount = {
    id: 'default',
    name: 'default',
    mode: 'postpaid',
    markUpPpm: 0,
    timeZone: 'UTC',
    holds: null,
    createdAtMs: 0,
  };
  const workspace: StoredWorkspace = {
    id: 'default',
    accountId: 'default',
    models: null,
    bodies: null,
    bodiesDays: null,
    createdAtMs: 0,
  };
  let tables: Tables = {
    accounts: new Map([['default', account]]),
    workspaces: new Map([['default', workspace]]),
    keys: new Map(),
    rules: new Map(),
    imports: new Map(),
  };
  return {
    readImported: async (source, foreignIds) =>
      [...tables.imports]
        .sort(([one], [two]) => (one < two ? -1 : 1))
        .flatMap(([, each]) => (each.source === source && foreignIds.includes(each.foreignId) ? [each] : [])),
    readAccounts: async () => byCreation(tables.accounts),
    readWorkspaces: async () => byCreation(tables.workspaces),
    readKeys: async () => byCreation(tables.keys),
    readLimitRules: async () => [...tables.rules].sort(([one], [two]) => (one < two ? -1 : 1)).map(([, rule]) => rule),
    async save(changes, entries = []) {
      const { accounts, workspaces, keys, rules, imports } = tables;
      const next: Tables = {
        accounts: new Map(accounts),
        workspaces: new Map(workspaces),
        keys: new Map(keys),
        rules: new Map(rules),
        imports: new Map(imports),
      };
      for (const change of changes) apply(next, change);
      tables = next;
      onKept(entries);
    },
  };
}

function apply(tables: Tables, change: PolicyChange): void {
  const { accounts, workspaces, keys, rules, imports } = tables;
  switch (change.of) {
    case 'account':
      put(accounts, change.account, change.isNew, ['createdAtMs']);
      return;
    case 'workspace':
      if (change.isNew && !accounts.has(change.workspace.accountId)) throw invalid('an unknown account');
      put(workspaces, change.workspace, change.isNew, ['createdAtMs', 'accountId']);
      return;
    case 'key': {
      const { key, isNew } = change;
      const others = [...keys.values()].filter(({ id }) => id !== key.id);
      const isTaken = ({ hash, previousHash }: StoredKey) =>
        hash === key.hash || (previousHash !== null && previousHash === key.previousHash);
      if (others.some(isTaken)) throw conflict('the hash is taken');
      put(keys, key, isNew, ['createdAtMs', 'createdBy']);
      if (!accounts.has(key.accountId) || !workspaces.has(key.workspaceId)) throw invalid('an unknown workspace');
      return;
    }
    case 'rule': {
      const { subject, caps } = change;
      const name = JSON.stringify([subject.kind, subject.id, layerOf(subject)]);
      if (caps === null) {
        if (!rules.delete(name)) throw conflict('there is no such rule');
        return;
      }
      checkCaps(subject, caps);
      rules.set(name, { subject, caps });
      return;
    }
    case 'import': {
      const { source, kind, foreignId } = change.imported;
      const name = JSON.stringify([source, kind, foreignId]);
      const importedAtMs = imports.get(name)?.importedAtMs ?? change.imported.importedAtMs;
      if (change.imported.spent < 0n) throw invalid('a spend below 0');
      imports.set(name, { ...change.imported, importedAtMs });
    }
  }
}

/** Creates the item, or replaces all of it but the members named. */
function put<Item extends { readonly id: string }>(
  items: Map<string, Item>,
  item: Item,
  isNew: boolean,
  fixed: readonly (keyof Item)[],
): void {
  const before = items.get(item.id);
  if (isNew !== (before === undefined)) throw conflict(`${item.id} ${isNew ? 'exists already' : 'does not exist'}`);
  const kept = Object.fromEntries(fixed.flatMap((member) => (before === undefined ? [] : [[member, before[member]]])));
  items.set(item.id, { ...item, ...kept });
}

function checkCaps({ kind, layer }: Subject, { budget, ...counts }: Caps): void {
  const given = Object.values(counts).filter((count) => count !== null);
  if (given.length === 0 && budget === null) throw invalid('a rule without a cap');
  if (given.some((count) => !Number.isInteger(count) || count < 1)) throw invalid('a cap below 1');
  if (budget !== null && budget.amount < 0n) throw invalid('a budget below 0');
  if (kind === 'model' && layer === 'account') throw invalid('a rule of an account for a model');
}

function byCreation<Item extends { readonly id: string; readonly createdAtMs: number }>(
  items: ReadonlyMap<string, Item>,
): Item[] {
  return [...items.values()].sort(
    (one, two) => one.createdAtMs - two.createdAtMs || (one.id < two.id ? -1 : Number(one.id > two.id)),
  );
}

function invalid(message: string): ConstraintViolation {
  return new ConstraintViolation('invalid', message);
}

function conflict(message: string): ConstraintViolation {
  return new ConstraintViolation('conflict', message);
}

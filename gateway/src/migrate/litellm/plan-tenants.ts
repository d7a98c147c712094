/**
 * Plans the import of LiteLLM's tenants: organizations become accounts, teams become workspaces, and so do users, for the
 * keys that belong to no team. Keys keep their secrets: LiteLLM stores their SHA-256.
 */
import { createHash } from 'node:crypto';
import { HIDDEN_IN_NAME } from '../../lib/hidden-characters.ts';
import { type PlannedCaps, type PlannedSpend, planCaps } from './caps.ts';
import { noteColumns } from './columns.ts';
import type { Notes } from './notes.ts';
import type { Tables } from './read-export.ts';
import { flagOf, listOf, type Row, textOf, timeOf } from './table-row.ts';

/** An object by its id there; null: one of this gateway. */
interface Reference {
  readonly foreign_id: string | null;
  readonly id: string;
}

interface Planned extends PlannedCaps, PlannedSpend {
  readonly foreign_id: string;
  readonly digest: string;
}

export interface TenantPlan {
  readonly accounts: readonly (Planned & { readonly id: string; readonly name: string })[];
  readonly workspaces: readonly (Planned & { readonly id: string; readonly models: readonly string[] | null })[];
  readonly keys: readonly (Planned & { readonly name: string; readonly models: readonly string[] | null })[];
  readonly end_users: readonly (Planned & { readonly id: string })[];
}

export interface TenantSource {
  readonly tables: Tables;
  /** Models by the access groups of the configuration. */
  readonly accessGroups: ReadonlyMap<string, readonly string[]>;
  /** The budget of the whole proxy, as columns of a row; null: none. */
  readonly proxyBudget: Row | null;
  readonly timeZone: string;
  readonly nowMs: number;
  readonly notes: Notes;
}

const DEFAULT: Reference = { foreign_id: null, id: 'default' };
/** The user of keys that the master key created, and the row with the spend of the whole proxy. */
const ADMIN_USER = 'default_user_id';
const PROXY_BUDGET_USER = 'litellm-proxy-budget';
/** The team of the keys with which its console calls its API. */
const CONSOLE_TEAM = 'litellm-dashboard';
const TOKEN = /^[0-9a-f]{64}$/;

export function planTenants(source: TenantSource): TenantPlan {
  const planner = new Planner(source);
  const { tables, notes } = source;
  noteColumns(tables, (table, row) => planner.nameOf(table, row), notes);
  const accounts = planner.planAccounts();
  const teams = planner.planTeams();
  const users = planner.planUsers();
  const keys = planner.planKeys();
  return { accounts, workspaces: [...teams, ...users], keys, end_users: planner.planEndUsers() };
}

class Planner {
  readonly #budgets: ReadonlyMap<string, Row>;
  readonly #organizations: readonly Row[];
  readonly #teams: ReadonlyMap<string, Row>;
  readonly #users: ReadonlyMap<string, Row>;
  readonly #keys: readonly Row[];
  readonly #ids = new Map<string, string>();
  readonly #taken = new Set<string>(['account default', 'workspace default']);

  constructor(readonly source: TenantSource) {
    const rows = (table: string): readonly Row[] => source.tables.get(table) ?? [];
    const byId = (table: string, column: string) =>
      new Map(rows(table).flatMap((row) => (textOf(row, column) === null ? [] : [[textOf(row, column) ?? '', row]])));
    this.#budgets = byId('LiteLLM_BudgetTable', 'budget_id');
    this.#organizations = rows('LiteLLM_OrganizationTable');
    this.#teams = byId('LiteLLM_TeamTable', 'team_id');
    this.#users = byId('LiteLLM_UserTable', 'user_id');
    this.#keys = rows('LiteLLM_VerificationToken').filter((row) => this.#isImported(row));
  }

  nameOf(table: string, row: Row): string {
    const of = (...columns: string[]) => columns.map((column) => textOf(row, column)).find((text) => text !== null);
    if (table === 'LiteLLM_VerificationToken') return keyName(row);
    if (table === 'LiteLLM_TeamTable') return of('team_alias', 'team_id') ?? '?';
    if (table === 'LiteLLM_OrganizationTable') return of('organization_alias', 'organization_id') ?? '?';
    return of('user_alias', 'user_id', 'budget_id', 'id') ?? '?';
  }

  planAccounts(): TenantPlan['accounts'] {
    const { proxyBudget, timeZone, notes, nowMs } = this.source;
    const accounts = this.#organizations.map((row) => {
      const id = textOf(row, 'organization_id') ?? '';
      const name = this.nameOf('LiteLLM_OrganizationTable', row);
      const planned = this.#plan(row, name, `organization ${id}`);
      const shape = { id: this.#chooseId('account', id, name), name: plainName(name), time_zone: timeZone };
      return finish({ ...planned, ...shape, created_at: this.#createdAt(row) });
    });
    if (proxyBudget === null) return accounts;
    if (accounts.length > 0) {
      const why = 'the budget of the whole proxy; with several accounts set one for each';
      notes.add('dropped', 'litellm_settings.max_budget', why);
      return accounts;
    }
    const spend = this.#users.get(PROXY_BUDGET_USER)?.spend ?? '0';
    const { caps, spend: spent } = planCaps({ ...proxyBudget, spend }, null, { name: 'the proxy', nowMs, notes });
    const shape = { id: 'default', name: 'default', time_zone: timeZone, created_at: new Date(nowMs).toISOString() };
    return [finish({ foreign_id: 'proxy', ...caps, ...spent, ...shape })];
  }

  planTeams(): TenantPlan['workspaces'] {
    return [...this.#teams].flatMap(([id, row]) => {
      if (id === CONSOLE_TEAM) return [];
      const name = this.nameOf('LiteLLM_TeamTable', row);
      const organization = this.#organizationOf(textOf(row, 'organization_id'), name);
      const planned = this.#plan(row, name, `team ${id}`);
      const models = this.#teamModels(row, organization, name);
      const account = this.#accountOf(organization);
      const shape = { id: this.#chooseId('workspace', `team ${id}`, name), account, models };
      return [finish({ ...planned, ...shape, created_at: this.#createdAt(row) })];
    });
  }

  /** Users have a workspace where they have keys without a team, whose budget is the user's. */
  planUsers(): TenantPlan['workspaces'] {
    const ids = new Set(this.#keys.filter((row) => textOf(row, 'team_id') === null).map((row) => this.#userOf(row)));
    for (const [id, row] of this.#users) if (!ids.has(id) && id !== PROXY_BUDGET_USER) this.#noteUserLimits(row);
    return [...ids].flatMap((id) => {
      const row = id === null ? undefined : this.#users.get(id);
      if (id === null || row === undefined) return [];
      const name = this.nameOf('LiteLLM_UserTable', row);
      const planned = this.#plan(row, name, `user ${id}`);
      const organization = this.#organizationOf(textOf(row, 'organization_id'), name);
      const models = this.#modelsOf(listOf(row, 'models'), name);
      const account = this.#accountOf(organization);
      const shape = { id: this.#chooseId('workspace', `user ${id}`, `user-${name}`), account, models };
      return [finish({ ...planned, ...shape, created_at: this.#createdAt(row) })];
    });
  }

  /** Limits of a user apply to keys without a team only, there and here. */
  #noteUserLimits(row: Row): void {
    const limits = ['max_budget', 'rpm_limit', 'tpm_limit', 'max_parallel_requests'];
    if (limits.every((column) => textOf(row, column) === null) && listOf(row, 'models').length === 0) return;
    const why = 'the user has no workspace here, because no key of theirs is without a team; set limits of the keys';
    this.source.notes.add('dropped', 'limits of users', why, this.nameOf('LiteLLM_UserTable', row));
  }

  planKeys(): TenantPlan['keys'] {
    const previous = this.#previousTokens();
    return this.#keys.map((row) => {
      const { notes } = this.source;
      const name = keyName(row);
      const token = tokenOf(row);
      const { isBlocked, ...planned } = this.#planned(row, name, token);
      const team = textOf(row, 'team_id');
      const isTeamBlocked = team !== null && flagOf(this.#teams.get(team) ?? {}, 'blocked');
      if (isBlocked)
        notes.add('changed', 'a limit of 0', 'it blocks every request there; the key is disabled here', name);
      if (isTeamBlocked)
        notes.add('changed', 'blocked', 'workspaces are not blocked here; the keys are disabled', name);
      const expires = timeOf(row, 'expires');
      const status = flagOf(row, 'blocked') || isTeamBlocked || isBlocked ? 'disabled' : 'active';
      return finish({
        ...planned,
        name: plainName(name),
        last4: /(.{4})$/.exec(textOf(row, 'key_name') ?? '')?.[1]?.replace(/[^\x20-\x7e]/g, '') ?? '',
        workspace: this.#workspaceOf(row),
        models: this.#modelsOf(listOf(row, 'models'), name),
        status,
        created_at: this.#createdAt(row),
        expires_at: expires === null ? null : new Date(expires).toISOString(),
        previous: previous.get(token) ?? null,
      });
    });
  }

  planEndUsers(): TenantPlan['end_users'] {
    const rows = this.source.tables.get('LiteLLM_EndUserTable') ?? [];
    const { notes } = this.source;
    return rows.flatMap((row) => {
      const id = textOf(row, 'user_id');
      if (id === null) return [];
      const planned = this.#plan(row, id, id);
      if (!hasLimits(planned)) {
        if (planned.spent_usd !== '0')
          notes.add('dropped', 'spend of end users', 'they have no limit that it counts in', id);
        return [];
      }
      if (this.#organizations.length === 0) return [finish({ ...planned, id, account: DEFAULT })];
      const why = 'end users belong to an account here; with several accounts set their limits in each';
      notes.add('dropped', 'LiteLLM_EndUserTable', why, id);
      return [];
    });
  }

  #isImported(row: Row): boolean {
    const { notes } = this.source;
    if (textOf(row, 'team_id') === CONSOLE_TEAM) {
      notes.add(
        'dropped',
        'keys of its console',
        'sign-ins to the console of LiteLLM; they call no models',
        keyName(row),
      );
      return false;
    }
    if (TOKEN.test(tokenOf(row))) return true;
    notes.add('dropped', 'LiteLLM_VerificationToken.token', 'not the SHA-256 of a key; create a new key', keyName(row));
    return false;
  }

  #planned(row: Row, name: string, foreign_id: string) {
    const { notes, nowMs } = this.source;
    const budgetId = textOf(row, 'budget_id');
    const budget = budgetId === null ? null : (this.#budgets.get(budgetId) ?? null);
    if (budgetId !== null && budget === null) {
      notes.add('dropped', 'budget_id', 'LiteLLM_BudgetTable has no such row; export that table too', name);
    }
    const { caps, spend, isBlocked } = planCaps(row, budget, { name, nowMs, notes });
    return { foreign_id, ...caps, ...spend, isBlocked };
  }

  /** Objects other than keys have no status: a limit of 0 is left out. */
  #plan(row: Row, name: string, foreignId: string) {
    const { isBlocked, ...planned } = this.#planned(row, name, foreignId);
    if (isBlocked) this.source.notes.add('dropped', 'a limit of 0', 'limits begin at 1 here; disable the keys', name);
    return planned;
  }

  #createdAt(row: Row): string {
    return new Date(timeOf(row, 'created_at') ?? this.source.nowMs).toISOString();
  }

  #organizationOf(id: string | null, name: string): Row | null {
    if (id === null) return null;
    const found = this.#organizations.find((row) => textOf(row, 'organization_id') === id);
    if (found !== undefined) return found;
    this.source.notes.add(
      'changed',
      'organization_id',
      'the export has no such organization; it is in the account default',
      name,
    );
    return null;
  }

  #accountOf(organization: Row | null): Reference {
    if (organization === null) return DEFAULT;
    const id = textOf(organization, 'organization_id') ?? '';
    const name = this.nameOf('LiteLLM_OrganizationTable', organization);
    return { foreign_id: `organization ${id}`, id: this.#chooseId('account', id, name) };
  }

  /** The user of a key without a team; null: the workspace `default`. */
  #userOf(row: Row): string | null {
    const id = textOf(row, 'user_id');
    return id === null || id === ADMIN_USER || !this.#users.has(id) ? null : id;
  }

  #workspaceOf(row: Row): Reference {
    const team = textOf(row, 'team_id');
    const found = team === null ? undefined : this.#teams.get(team);
    if (team !== null && found !== undefined) {
      const name = this.nameOf('LiteLLM_TeamTable', found);
      return { foreign_id: `team ${team}`, id: this.#chooseId('workspace', `team ${team}`, name) };
    }
    if (team !== null) {
      const why = 'the export has no such team; the key is in the workspace default, without the limits of its team';
      this.source.notes.add('changed', 'team_id', why, keyName(row));
      return DEFAULT;
    }
    const user = this.#userOf(row);
    const organization = textOf(row, 'organization_id');
    if (organization !== null) {
      const why = 'the key has no team, so its workspace is not in the account of its organization';
      this.source.notes.add('changed', 'organization_id', why, keyName(row));
    }
    if (user === null) return DEFAULT;
    const name = this.nameOf('LiteLLM_UserTable', this.#users.get(user) ?? {});
    return { foreign_id: `user ${user}`, id: this.#chooseId('workspace', `user ${user}`, `user-${name}`) };
  }

  /** An organization's models apply to its teams that have none of their own: an account has no list here. */
  #teamModels(row: Row, organization: Row | null, name: string): readonly string[] | null {
    const own = listOf(row, 'models');
    return this.#modelsOf(own.length === 0 && organization !== null ? listOf(organization, 'models') : own, name);
  }

  /** Null: all models. */
  #modelsOf(models: readonly string[], name: string): readonly string[] | null {
    if (models.length === 0 || models.some((model) => model === 'all-proxy-models' || model === '*')) return null;
    if (models.every((model) => model === 'all-team-models')) return null;
    const { accessGroups, notes } = this.source;
    const named = models.filter((model) => model !== 'all-team-models' && model !== 'no-default-models');
    if (named.length < models.length && models.includes('all-team-models')) return null;
    if (named.length === 0) notes.add('changed', 'no-default-models', 'no model is allowed until you list some', name);
    return [...new Set(named.flatMap((model) => accessGroups.get(model) ?? [model]))];
  }

  /** The former token of a rotated key, while it still works. */
  #previousTokens(): ReadonlyMap<string, { readonly sha256: string; readonly until: string }> {
    const { tables, nowMs, notes } = this.source;
    const found = new Map<string, { readonly sha256: string; readonly until: string }>();
    for (const row of tables.get('LiteLLM_DeprecatedVerificationToken') ?? []) {
      const [sha256, active] = [textOf(row, 'token') ?? '', textOf(row, 'active_token_id') ?? ''];
      const until = timeOf(row, 'revoke_at') ?? 0;
      if (until <= nowMs || !TOKEN.test(sha256)) continue;
      const why = 'a key keeps one former secret here, the one that ends last';
      if (found.has(active)) notes.add('dropped', 'LiteLLM_DeprecatedVerificationToken', why, active.slice(0, 8));
      const before = found.get(active);
      if (before === undefined || Date.parse(before.until) < until) {
        found.set(active, { sha256, until: new Date(until).toISOString() });
      }
    }
    return found;
  }

  /** An id from the name, the same for the same object; another object of the same name gets a part of its own id. */
  #chooseId(kind: 'account' | 'workspace', foreignId: string, name: string): string {
    const place = `${kind} ${foreignId}`;
    const known = this.#ids.get(place);
    if (known !== undefined) return known;
    const slug = name
      .toLowerCase()
      .replace(/[^a-z0-9_]+/g, '-')
      .replace(/^[-_]+|-+$/g, '')
      .slice(0, 48);
    const base = slug || kind;
    const id = this.#taken.has(`${kind} ${base}`) ? `${base}-${sha256Of(foreignId).slice(0, 8)}` : base;
    this.#taken.add(`${kind} ${id}`);
    this.#ids.set(place, id);
    return id;
  }
}

function hasLimits({ budget_usd, rpm, tpm, concurrency }: PlannedCaps): boolean {
  return [budget_usd, rpm, tpm, concurrency].some((cap) => cap !== undefined);
}

/** Older versions stored some keys as they are. */
function tokenOf(row: Row): string {
  const token = textOf(row, 'token') ?? '';
  return token.startsWith('sk-') ? sha256Of(token) : token;
}

function keyName(row: Row): string {
  return textOf(row, 'key_alias') ?? textOf(row, 'key_name') ?? `key ${tokenOf(row).slice(0, 8)}`;
}

/** As names are accepted here. */
function plainName(name: string): string {
  return name.replace(HIDDEN_IN_NAME, ' ').trim().slice(0, 128) || 'imported';
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Adds the digest of everything but what changes by itself: spend and times. */
function finish<Item extends PlannedSpend & { readonly created_at?: string; readonly previous?: unknown }>(
  item: Item,
): Item & { readonly digest: string } {
  const { spent_usd: _, created_at: __, previous: ___, ...rest } = item;
  return { ...item, digest: sha256Of(JSON.stringify(rest)) };
}

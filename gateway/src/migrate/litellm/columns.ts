/**
 * Says what becomes of each column of LiteLLM's tables.
 * https://github.com/BerriAI/litellm/blob/main/schema.prisma (read 2026-11-23)
 */

import type { Notes } from './notes.ts';
import type { Tables } from './read-export.ts';
import { hasContent, type Row, textOf } from './table-row.ts';

/** `carried`: read elsewhere. `record`: tells when something was done, and changes no request. */
type Fate = 'carried' | 'record' | { readonly why: string };

const why = (text: string): Fate => ({ why: text });

const RECORDS = ['created_at', 'created_by', 'updated_at', 'updated_by', 'last_active', 'model_spend', 'total_spend'];
const PER_MODEL = why('limits here apply to a key, a workspace, an account or a model, not to a model of one key');
const SOFT = why('an alert, not a limit; the log has a line at 50, 80 and 100% of each budget');
const PERMISSIONS = why('vector stores, MCP servers and agents are not served here');
const POLICIES = why('guardrails are not taken over; create them here: "tollgate guardrails create"');
const ROUTER = why('routes are set for all callers here');
const METADATA = why('metadata of keys and teams is not kept; their tags, callbacks and guardrails end');
const ROTATION = why('keys are not rotated automatically; rotate with "tollgate keys rotate"');
const GROUPS = why('access groups of the database are not exported with their models; list the models');

const COMMON: Readonly<Record<string, Fate>> = {
  ...Object.fromEntries(RECORDS.map((column) => [column, 'record'] as const)),
  ...Object.fromEntries(
    ['spend', 'models', 'max_budget', 'budget_duration', 'budget_reset_at', 'budget_id', 'tpm_limit', 'rpm_limit'].map(
      (column) => [column, 'carried'] as const,
    ),
  ),
  max_parallel_requests: 'carried',
  blocked: 'carried',
  soft_budget: SOFT,
  soft_budget_cooldown: 'record',
  model_max_budget: PER_MODEL,
  budget_limits: PER_MODEL,
  object_permission_id: PERMISSIONS,
  policies: POLICIES,
  router_settings: ROUTER,
  metadata: METADATA,
  access_group_ids: GROUPS,
  allowed_cache_controls: why(
    'its response cache is not taken over; turn one on here: "tollgate workspaces set ID --cache all"',
  ),
};

const TABLES: Readonly<Record<string, Readonly<Record<string, Fate>>>> = {
  LiteLLM_VerificationToken: {
    ...COMMON,
    token: 'carried',
    key_name: 'carried',
    key_alias: 'carried',
    expires: 'carried',
    user_id: 'carried',
    team_id: 'carried',
    organization_id: 'carried',
    aliases: why('aliases of models are set for all callers here'),
    config: why('a key has no configuration of its own here'),
    permissions: why('permissions of a key are its scopes here; the key may call models'),
    allowed_routes: why('a key may call all endpoints of its models here'),
    agent_id: why('agents have no table here; give each its own key or workspace'),
    project_id: why('there is no level between workspace and key; its own budget and models end'),
    rotation_count: 'record',
    last_rotation_at: 'record',
    auto_rotate: ROTATION,
    rotation_interval: ROTATION,
    key_rotation_at: ROTATION,
  },
  LiteLLM_TeamTable: {
    ...COMMON,
    team_id: 'carried',
    team_alias: 'carried',
    organization_id: 'carried',
    admins: why('people are invited here: "tollgate setup-link", then Members in the console'),
    members: why('people are invited here: "tollgate setup-link", then Members in the console'),
    members_with_roles: why('people are invited here: "tollgate setup-link", then Members in the console'),
    team_member_permissions: why('roles of members are set for workspaces here'),
    default_team_member_models: why('members have no models of their own here; keys have'),
    model_id: why('aliases of models are set for all callers here'),
    allow_team_guardrail_config: POLICIES,
  },
  LiteLLM_OrganizationTable: { ...COMMON, organization_id: 'carried', organization_alias: 'carried' },
  LiteLLM_UserTable: {
    ...COMMON,
    user_id: 'carried',
    user_alias: 'carried',
    user_email: why('people are invited here: "tollgate setup-link", then Members in the console'),
    user_role: why('people are invited here: "tollgate setup-link", then Members in the console'),
    team_id: 'record',
    teams: 'record',
    organization_id: 'carried',
    sso_user_id: why('people sign in again, with a service of server.oidc'),
    password: why('people set a new password'),
  },
  LiteLLM_EndUserTable: {
    ...COMMON,
    user_id: 'carried',
    alias: 'record',
    blocked: why('end users are not blocked here; give them a budget of 0'),
    allowed_model_region: why('where data may go is required by data tags of keys and workspaces here'),
    default_model: why('a request names its model here'),
  },
  LiteLLM_BudgetTable: {
    ...COMMON,
    budget_id: 'carried',
    allowed_models: why('members have no models of their own here; keys have'),
  },
  LiteLLM_DeprecatedVerificationToken: Object.fromEntries(
    ['id', 'token', 'active_token_id', 'revoke_at', 'created_at'].map((column) => [column, 'carried'] as const),
  ),
};

/** Tables that are not imported, with the reason, as far as they have rows. */
const NOT_IMPORTED: readonly (readonly [table: RegExp, why: string])[] = [
  [
    /Logs?$|^LiteLLM_Daily|HealthCheck|^LiteLLM_Cron/,
    'history stays in LiteLLM; keep its database for as long as you need it',
  ],
  [/^LiteLLM_Deleted/, 'deleted objects are not imported'],
  [/^LiteLLM_TeamMembership$/, 'members have no budget within a workspace here; give each member a key with a budget'],
  [
    /Membership$|InvitationLink|UserNotifications/,
    'people are invited here: "tollgate setup-link", then Members in the console',
  ],
  [/^LiteLLM_TagTable$/, 'tags have no budgets here'],
  [/^LiteLLM_ProjectTable$/, 'there is no level between workspace and key; its own budget and models end'],
  [/MCP/, 'MCP servers are not served here'],
  [/Agent|Skill|Tool/, 'agents and their tools are not served here'],
  [
    /VectorStore|ManagedFile|ManagedObject/,
    'state at providers is not taken over; open it with shared_state of the provider',
  ],
  [/Guardrail|Polic/, 'guardrails are not taken over; create them here: "tollgate guardrails create"'],
  [/Prompt/, 'prompts are not kept here'],
  [/^LiteLLM_CredentialsTable$/, 'credentials are encrypted with a key of LiteLLM; enter them again'],
  [/^LiteLLM_ModelTable$/, 'aliases of models are set for all callers here'],
  [
    /^LiteLLM_Config$|SSO|CacheConfig|UISettings/,
    'settings that were entered in its console are not imported; compare docs/configuration.md',
  ],
  [/AccessGroup/, 'access groups of the database are not imported; list the models of each key or workspace'],
  [/JWT/, 'tokens of an identity provider are not accepted instead of keys here'],
];

const ENTERED_MODEL =
  'a model that was entered in its console, encrypted with a key of LiteLLM; add it to the new file or in the console here';
const UNKNOWN = 'this version does not know it; check what it does for your requests';

/** Notes everything of the tables that is not carried over. `nameOf`: of a row, for the report. */
export function noteColumns(tables: Tables, nameOf: (table: string, row: Row) => string, notes: Notes): void {
  for (const [table, rows] of tables) {
    if (rows.length === 0) continue;
    if (table === 'LiteLLM_ProxyModelTable') {
      for (const row of rows) notes.add('dropped', table, ENTERED_MODEL, textOf(row, 'model_name') ?? '?');
      continue;
    }
    const fates = TABLES[table];
    if (fates === undefined) {
      const reason = NOT_IMPORTED.find(([pattern]) => pattern.test(table))?.[1] ?? UNKNOWN;
      const isHistory = rows.length === 1 && Object.keys(rows[0] ?? {}).length === 0;
      notes.add('dropped', `${table} (${isHistory ? 'history' : `${rows.length} rows`})`, reason);
      continue;
    }
    for (const row of rows) {
      for (const [column, value] of Object.entries(row)) {
        const fate = Object.hasOwn(fates, column) ? fates[column] : why(UNKNOWN);
        if (fate === undefined || fate === 'carried' || fate === 'record' || !hasContent(value)) continue;
        notes.add('dropped', `${table}.${column}`, fate.why, nameOf(table, row));
      }
    }
  }
}

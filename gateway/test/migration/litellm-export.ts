/** Writes a LiteLLM configuration with 20 models, and an export of a database with tenants, budgets and 100 keys. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const MODELS = Array.from({ length: 20 }, (_, n) => `model-${n}`);
export const KEYS = Array.from({ length: 100 }, (_, n) => ({
  text: `sk-litellm-key-${n}-abcdefgh${n % 10}`,
  alias: `key ${n}`,
}));

/** Keys with a special state, by their place in the list. */
export const BLOCKED = 7;
export const EXPIRED = 13;
/** Its own budget is used up; its team's is not. */
export const SPENT = 21;
/** Its row in the budget table allows less than it has spent. */
export const OVER_BUDGET = 40;
/** May use `model-1` only. */
export const NARROW = 30;
/** Belongs to the team whose budget is used up. */
export const OF_SPENT_TEAM = 4;

/** Its deployments state no price. */
export const UNPRICED = 'model-19';
const PRICES = `
      input_cost_per_token: 2.5e-06
      output_cost_per_token: 0.00001`;

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** `deadUrl`: an address without a server, which the even models try first. */
export function writeConfig(folder: string, fakeUrl: string, deadUrl: string): string {
  const deployment = (name: string, base: string, more = '') => `
  - model_name: ${name}
    litellm_params:
      model: openai/ok
      api_base: ${base}/v1
      api_key: os.environ/FAKE_KEY${name === UNPRICED ? '' : PRICES}${more}`;
  const even = MODELS.filter((_, n) => n % 2 === 0);
  const text = `model_list:${MODELS.map((name, n) =>
    n % 2 === 0
      ? deployment(name, deadUrl, '\n      rpm: 60')
      : deployment(name, fakeUrl) + deployment(name, fakeUrl, '\n      api_key_2: x'),
  ).join('')}
  - model_name: anything/*
    litellm_params: { model: 'openai/*', api_key: os.environ/OPENAI_API_KEY }
  - model_name: exotic
    litellm_params: { model: sagemaker/my-endpoint }
litellm_settings:
  fallbacks: [${even.map((name) => `{ ${name}: [model-1] }`).join(', ')}]
  success_callback: [langfuse]
  surprising_setting: 1
router_settings:
  routing_strategy: simple-shuffle
  num_retries: 2
  model_group_alias: { smallest: model-1 }
general_settings:
  master_key: sk-1234
  database_url: os.environ/DATABASE_URL
`;
  const path = join(folder, 'config.yaml');
  writeFileSync(path, text);
  return path;
}

type Cell = string | number | boolean | null;

/** As `COPY … TO … CSV HEADER` writes a table. */
function csv(rows: readonly Readonly<Record<string, Cell>>[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const field = (value: Cell | undefined) => {
    if (value === null || value === undefined) return '';
    if (typeof value === 'boolean') return value ? 't' : 'f';
    const text = String(value);
    return text === '' || /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns.join(','), ...rows.map((row) => columns.map((column) => field(row[column])).join(','))].join('\n');
}

function stamp(atMs: number): string {
  return new Date(atMs).toISOString().replace('T', ' ').replace('Z', '');
}

/** `spentOfKey`: what each key has spent, in USD. */
export function writeExport(folder: string, nowMs: number, spentOfKey = 1.25): string {
  const path = join(folder, `export-${spentOfKey}`);
  mkdirSync(path, { recursive: true });
  const reset = stamp(nowMs + 86_400_000);
  const created = stamp(nowMs - 40 * 86_400_000);
  const put = (table: string, rows: readonly Readonly<Record<string, Cell>>[]) =>
    writeFileSync(join(path, `LiteLLM_${table}.csv`), csv(rows));
  const budget = { budget_duration: '30d', budget_reset_at: reset };
  put('OrganizationTable', [
    {
      organization_id: 'org-1',
      organization_alias: 'Acme, Inc.',
      budget_id: 'b-org',
      models: '{}',
      spend: 12.5,
      created_at: created,
    },
  ]);
  put('BudgetTable', [
    { budget_id: 'b-org', max_budget: 500, tpm_limit: null, ...budget },
    { budget_id: 'b-small', max_budget: 1, tpm_limit: 100_000, ...budget },
  ]);
  put('TeamTable', [
    {
      team_id: 't-0',
      team_alias: 'Red',
      organization_id: 'org-1',
      max_budget: 100,
      spend: 40.000000001,
      models: '{}',
      rpm_limit: 6000,
      blocked: false,
      members_with_roles: '[{"role":"admin","user_id":"u-0"}]',
      created_at: created,
      ...budget,
    },
    {
      team_id: 't-1',
      team_alias: 'Blue',
      organization_id: null,
      max_budget: 10,
      spend: 10,
      models: '{}',
      rpm_limit: null,
      blocked: false,
      members_with_roles: '{}',
      created_at: created,
      ...budget,
    },
    {
      team_id: 't-2',
      team_alias: 'Red',
      organization_id: null,
      max_budget: null,
      spend: 3,
      models: '{model-1,model-2,"model-3"}',
      rpm_limit: null,
      blocked: false,
      members_with_roles: '{}',
      created_at: created,
      budget_duration: null,
      budget_reset_at: null,
    },
  ]);
  put('UserTable', [
    {
      user_id: 'u-0',
      user_alias: 'Ada',
      user_email: 'ada@example.com',
      max_budget: 20,
      spend: 5.5,
      models: '{}',
      created_at: created,
      ...budget,
    },
  ]);
  put('SpendLogs', [{ request_id: 'x', spend: 1 }]);
  put('MCPServerTable', [{ server_id: 'm', url: 'http://mcp' }]);
  put(
    'VerificationToken',
    KEYS.map(({ text, alias }, n) => ({
      token: sha256(text),
      key_name: `sk-...${text.slice(-4)}`,
      key_alias: alias,
      spend: n === SPENT ? 2 : spentOfKey,
      expires: n === EXPIRED ? stamp(nowMs - 1_000) : null,
      models: n === NARROW ? '{model-1}' : '{}',
      user_id: n % 10 === 5 ? 'u-0' : 'default_user_id',
      team_id: n % 10 === 0 || n % 10 === 1 ? 't-0' : n === OF_SPENT_TEAM ? 't-1' : null,
      blocked: n === BLOCKED ? true : null,
      max_budget: n === SPENT ? 1.5 : null,
      budget_id: n === OVER_BUDGET ? 'b-small' : null,
      budget_duration: n === SPENT ? '30d' : null,
      budget_reset_at: n === SPENT ? reset : null,
      rpm_limit: n === 50 ? 600 : null,
      metadata: n === 60 ? '{"tags":["x"]}' : '{}',
      created_at: created,
      brand_new_column: n === 70 ? 'yes' : null,
    })),
  );
  return path;
}

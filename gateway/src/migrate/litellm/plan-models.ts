/**
 * Plans the models and providers of a LiteLLM configuration: deployments of one name become the targets of one model, and
 * its fallbacks targets of later priorities.
 */
import type { Notes } from './notes.ts';
import { CONNECTION_MEMBERS, type Params, type Provider, planProvider } from './providers.ts';
import { noteSettings } from './settings.ts';

export interface Target {
  readonly provider: string;
  readonly model: string;
  readonly priority?: number;
  readonly weight?: number;
  readonly max_concurrency?: number;
  readonly timeouts?: Readonly<Record<string, string>>;
  readonly price?: Readonly<Record<string, string>>;
}

export interface Model {
  readonly alias?: readonly string[];
  readonly routing?: Readonly<Record<string, string | number | readonly string[]>>;
  readonly targets: readonly Target[];
}

export interface ModelPlan {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly models: ReadonlyMap<string, Model>;
  /** Variables for secrets that the configuration had as texts. */
  readonly variables: readonly string[];
  /** Models by access group. */
  readonly accessGroups: ReadonlyMap<string, readonly string[]>;
}

/** The parsed `config.yaml`. */
export type LiteLlmConfig = Params;

interface Deployment {
  readonly target: Target;
  /** Its share, as LiteLLM's simple shuffle computes it; null: none stated. */
  readonly share: number | null;
}

const WEIGHT_MAX = 1_000;
const PRIORITY_MAX = 100;
const EXTRA_ATTEMPTS_MAX = 10;
/** LiteLLM's names of strategies, ours, and what is different. */
const STRATEGIES: Readonly<Record<string, readonly [ours: string, change: string | null]>> = {
  'simple-shuffle': ['weight', null],
  'latency-based-routing': ['latency', null],
  'cost-based-routing': ['price', null],
  'least-busy': ['weight', 'targets share by weight; set max_concurrency to bound each'],
  'usage-based-routing': ['weight', 'targets share by weight; limits of providers are learned from their answers'],
  'usage-based-routing-v2': ['weight', 'targets share by weight; limits of providers are learned from their answers'],
};
const PRICES: Readonly<Record<string, string>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cache_read',
  cache_creation_input_token_cost: 'cache_write',
};

export function planModels(config: LiteLlmConfig, notes: Notes): ModelPlan {
  const router = section(config, 'router_settings');
  const settings = section(config, 'litellm_settings');
  const providers = new Map<string, Provider>();
  const variables = new Set<string>();
  const groups = new Map<string, Deployment[]>();
  const accessGroups = new Map<string, string[]>();
  for (const entry of list(config.model_list)) {
    if (!isMapping(entry)) continue;
    const name = typeof entry.model_name === 'string' ? entry.model_name : '';
    const info = section(entry, 'model_info');
    for (const group of list(info.access_groups)) {
      if (typeof group === 'string') accessGroups.set(group, [...(accessGroups.get(group) ?? []), name]);
    }
    const deployment = planDeployment(name, entry, { providers, variables, notes });
    if (deployment !== null) groups.set(name, joinDeployment(name, groups.get(name) ?? [], deployment, notes));
  }
  const routed = { router, settings, notes, aliases: aliasesOf(router, groups, notes) };
  const models = new Map([...groups].map(([name, own]) => [name, planModel(name, own, groups, routed)]));
  noteSettings(config, notes);
  return { providers, models, variables: [...variables].sort(), accessGroups };
}

interface Shared {
  readonly providers: Map<string, Provider>;
  readonly variables: Set<string>;
  readonly notes: Notes;
}

function planDeployment(name: string, entry: Params, { providers, variables, notes }: Shared): Deployment | null {
  if (name === '' || name.includes('*')) {
    notes.add('dropped', 'model_list: a pattern', 'list the models that you serve, each with its target', name || '?');
    return null;
  }
  const params = section(entry, 'litellm_params');
  const plan = planProvider(params);
  if ('why' in plan) {
    notes.add('dropped', 'model_list: a deployment', plan.why, `${name} (${String(params.model)})`);
    return null;
  }
  for (const variable of plan.variables) variables.add(variable);
  noteParams(name, params, section(entry, 'model_info'), notes);
  const provider = nameProvider(plan.name, plan.provider, providers);
  const priority = whole(params.order);
  const seconds = (value: Params[string] | undefined) =>
    typeof value === 'number' ? `${Math.ceil(value * 1_000)}ms` : null;
  const [total, first] = [seconds(params.timeout), seconds(params.stream_timeout)];
  const price = priceOf({ ...section(entry, 'model_info'), ...params });
  const concurrency = whole(params.max_parallel_requests);
  const target: Target = {
    provider,
    model: plan.model,
    ...(priority === null || priority < 1 ? {} : { priority: Math.min(priority, PRIORITY_MAX) }),
    ...(concurrency === null || concurrency < 1 ? {} : { max_concurrency: concurrency }),
    ...(total === null && first === null
      ? {}
      : { timeouts: { ...(total === null ? {} : { total }), ...(first === null ? {} : { first_byte: first }) } }),
    ...(price === null ? {} : { price }),
  };
  const share = [params.weight, params.rpm, params.tpm].find((value) => typeof value === 'number');
  return { target, share: typeof share === 'number' ? share : null };
}

/** Deployments of the same model with the same credential are one target, with their shares together. */
function joinDeployment(name: string, before: readonly Deployment[], next: Deployment, notes: Notes): Deployment[] {
  const same = before.find(({ target }) => isSame(target, next.target));
  if (same === undefined) return [...before, next];
  notes.add('changed', 'model_list: the same deployment twice', 'one target here, with both shares', name);
  const share = (same.share ?? 1) + (next.share ?? 1);
  return before.map((each) => (each === same ? { ...same, share } : each));
}

/** Deployments with the same credential and address share a provider. */
function nameProvider(wanted: string, provider: Provider, providers: Map<string, Provider>): string {
  const text = JSON.stringify(Object.entries(provider).sort());
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}-${n}`;
    const known = providers.get(name);
    if (known === undefined) providers.set(name, provider);
    if (known === undefined || JSON.stringify(Object.entries(known).sort()) === text) return name;
  }
}

interface Routed {
  readonly router: Params;
  readonly settings: Params;
  readonly notes: Notes;
  readonly aliases: ReadonlyMap<string, readonly string[]>;
}

function planModel(
  name: string,
  own: readonly Deployment[],
  groups: ReadonlyMap<string, readonly Deployment[]>,
  { router, settings, notes, aliases }: Routed,
): Model {
  const named = (member: string) =>
    fallbacksOf(name, [...list(router[member]), ...list(settings[member])]).filter((other): other is string => {
      if (!isText(other)) notes.add('dropped', member, 'a fallback here is a model, without members of its own', name);
      return isText(other);
    });
  const [always, overflow, policy] = [
    named('fallbacks'),
    named('context_window_fallbacks'),
    named('content_policy_fallbacks'),
  ];
  const byDefault = [...list(router.default_fallbacks), ...list(settings.default_fallbacks)].filter(isText);
  const general = always.length > 0 ? always : byDefault.filter((other) => other !== name);
  const others = [...new Set([...general, ...overflow, ...policy])].filter((other) => other !== name);
  const targets = weighted(own, 0);
  let priority = Math.max(1, ...targets.map((target) => target.priority ?? 1));
  for (const other of others) {
    const deployments = groups.get(other);
    if (deployments === undefined) {
      notes.add('dropped', 'fallbacks', `there is no model ${JSON.stringify(other)} to fall back to`, name);
      continue;
    }
    const placed = weighted(deployments, priority).filter((target) => !targets.some((each) => isSame(each, target)));
    targets.push(...placed);
    priority = Math.max(priority, ...placed.map((target) => target.priority ?? 1));
  }
  const isSpecial = [...overflow, ...policy].some((other) => !general.includes(other));
  if (isSpecial) {
    const why = 'a target for long or refused requests also answers when the others fail';
    notes.add('changed', 'context_window_fallbacks, content_policy_fallbacks', why, name);
  }
  if (priority > PRIORITY_MAX) notes.add('dropped', 'fallbacks', `more than ${PRIORITY_MAX} priorities`, name);
  const kinds = [...(overflow.length > 0 ? ['overflow'] : []), ...(policy.length > 0 ? ['policy'] : [])];
  const routing = {
    ...strategyOf(own.length > 1 ? router.routing_strategy : undefined, notes),
    ...attemptsOf({ ...settings, ...router }),
    ...(kinds.length === 0 ? {} : { fallback_on: kinds }),
  };
  const alias = aliases.get(name) ?? [];
  return {
    ...(alias.length === 0 ? {} : { alias }),
    ...(Object.keys(routing).length === 0 ? {} : { routing }),
    targets: targets.filter((target) => (target.priority ?? 1) <= PRIORITY_MAX),
  };
}

/** Targets share evenly unless shares are stated: LiteLLM shuffles, we would keep the order. */
function weighted(deployments: readonly Deployment[], after: number): Target[] {
  const shares = deployments.map(({ share }) => share ?? 1);
  const most = Math.max(...shares);
  return deployments.map(({ target }, at) => {
    const share = Math.round(((shares[at] ?? 1) * (most > WEIGHT_MAX ? WEIGHT_MAX : most)) / (most || 1));
    const priority = after + (target.priority ?? 1);
    return {
      ...target,
      ...(priority === 1 ? {} : { priority }),
      ...(deployments.length === 1 ? {} : { weight: Math.max(shares[at] === 0 ? 0 : 1, share) }),
    };
  });
}

function isSame(one: Target, other: Target): boolean {
  return one.provider === other.provider && one.model === other.model;
}

function fallbacksOf(name: string, rows: readonly Params[string][]): readonly Params[string][] {
  return rows.flatMap((row) => (isMapping(row) ? [...list(row[name]), ...list(row['*'])] : []));
}

function aliasesOf(
  router: Params,
  groups: ReadonlyMap<string, unknown>,
  notes: Notes,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [alias, group] of Object.entries(section(router, 'model_group_alias'))) {
    const model = isMapping(group) ? group.model : group;
    if (!isText(model)) {
      notes.add('dropped', 'model_group_alias', 'an alias is for one model here', alias);
      continue;
    }
    if (!groups.has(model)) {
      notes.add('dropped', 'model_group_alias', `there is no model ${JSON.stringify(model)} here`, alias);
      continue;
    }
    if (isMapping(group) && group.hidden === true) {
      notes.add('changed', 'model_group_alias.hidden', 'aliases are listed here', alias);
    }
    found.set(model, [...(found.get(model) ?? []), alias]);
  }
  return found;
}

function strategyOf(strategy: Params[string] | undefined, notes: Notes): { readonly strategy?: string } {
  if (typeof strategy !== 'string') return {};
  const row = Object.hasOwn(STRATEGIES, strategy) ? STRATEGIES[strategy] : undefined;
  if (row === undefined)
    notes.add('changed', `routing_strategy ${strategy}`, 'not known here; targets share by weight');
  else if (row[1] !== null) notes.add('changed', `routing_strategy ${strategy}`, row[1]);
  return { strategy: row?.[0] ?? 'weight' };
}

function attemptsOf({ num_retries }: Params): { readonly max_extra_attempts?: number } {
  return typeof num_retries === 'number' && Number.isInteger(num_retries) && num_retries >= 0
    ? { max_extra_attempts: Math.min(num_retries, EXTRA_ATTEMPTS_MAX) }
    : {};
}

/** USD per token is USD per million here. Null: no price of its own. */
function priceOf(params: Params): Readonly<Record<string, string>> | null {
  const found = Object.entries(PRICES).flatMap(([member, ours]) => {
    const value = params[member];
    return typeof value === 'number' || isText(value) ? [[ours, perMillion(String(value))] as const] : [];
  });
  const price = Object.fromEntries(found);
  return price.input === undefined || price.output === undefined ? null : price;
}

/** Moves the point six places, at most six decimals. */
function perMillion(written: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(written) ?? [];
  const shift = Number(exponent) + 6 - fraction.length;
  const digits = BigInt(`${whole}${fraction}` || '0');
  const millionths = shift + 6 >= 0 ? digits * 10n ** BigInt(shift + 6) : digits / 10n ** BigInt(-shift - 6);
  const padded = millionths.toString().padStart(7, '0');
  return `${padded.slice(0, -6)}.${padded.slice(-6)}`.replace(/\.?0+$/, '');
}

const READ_PARAMS = new Set([
  ...CONNECTION_MEMBERS,
  ...Object.keys(PRICES),
  'order',
  'weight',
  'timeout',
  'stream_timeout',
  'max_parallel_requests',
]);

/** Members that no client can send. The first row that matches counts. */
const REASONS: readonly (readonly [member: RegExp, why: string])[] = [
  [
    /^aws_|_token_path$|^azure_(ad|scope|username|password)/,
    'its requests would go out with another login: give the provider that of the role, the profile or the token here',
  ],
  [/^litellm_credential_name$/, 'credentials by name are not read; write what it names in each litellm_params'],
  [/^(extra_)?headers$/, 'the gateway sends headers of its own only; check what the provider needs'],
  [/^organization$/, 'use an API key of that organization or project'],
  [/^(max_retries|num_retries)$/, 'set max_extra_attempts of the routing of a model'],
  [/^model_id$/, 'write it as the model of the target, if requests are to name it'],
  [/cost|price/, 'set it in the price of the model, if it has a row there'],
  [
    /^(tags|max_budget|budget_duration|region_name|mock_response|use_in_pass_through|rpd|tpd)$/,
    'a target has none here',
  ],
];

function noteParams(name: string, params: Params, info: Params, notes: Notes): void {
  for (const member of Object.keys(params)) {
    if (READ_PARAMS.has(member)) continue;
    if (member === 'rpm' || member === 'tpm') {
      const why = 'a share of the requests here; limits of providers are learned from their answers';
      notes.add('changed', `litellm_params.${member}`, why, name);
    } else {
      const why = REASONS.find(([pattern]) => pattern.test(member))?.[1] ?? 'clients send it here';
      notes.add('dropped', `litellm_params.${member}`, why, name);
    }
  }
  for (const member of Object.keys(info)) {
    if (['id', 'mode', 'access_groups', 'base_model', 'db_model', ...Object.keys(PRICES)].includes(member)) continue;
    notes.add(
      'dropped',
      `model_info.${member}`,
      'the catalogue describes models here; see capabilities of a model',
      name,
    );
  }
}

export function section(parent: Params, member: string): Params {
  const value = parent[member];
  return isMapping(value) ? value : {};
}

function list(value: Params[string] | undefined): readonly Params[string][] {
  return Array.isArray(value) ? value : [];
}

function isMapping(value: Params[string] | undefined): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: Params[string] | undefined): value is string {
  return typeof value === 'string';
}

function whole(value: Params[string] | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

/** Assembles the console: the dependencies of its API handlers, the policy routes, and its files. Contains no rules. */

import { readFileSync } from 'node:fs';
import manifest from '../../package.json';
import type { BillingDeps } from '../call/money/billing-deps.ts';
import type { BodyTimeLimits } from '../call/request/read-body.ts';
import { createIdentify } from '../console-api/kernel/actor.ts';
import { createConsoleApi } from '../console-api/kernel/console-api.ts';
import { createContentOf } from '../console-api/logs/call-content.ts';
import { logHandlers } from '../console-api/logs/logs.ts';
import { reasonHandlers } from '../console-api/logs/reasons.ts';
import { whatIfHandlers } from '../console-api/logs/what-if.ts';
import { dryRunHandlers } from '../console-api/models/dry-run.ts';
import { type ExplainParts, explainHandlers } from '../console-api/models/explain.ts';
import type { ModelDeps } from '../console-api/models/model-deps.ts';
import { modelHandlers } from '../console-api/models/models.ts';
import { providerHandlers } from '../console-api/models/providers.ts';
import { routeHandlers } from '../console-api/models/routes.ts';
import { stateHandlers } from '../console-api/models/routing-states.ts';
import { type StatusParts, statusHandlers } from '../console-api/models/status.ts';
import { meHandlers, passkeyHandlers } from '../console-api/people/me.ts';
import { invitationHandlers, memberHandlers, resetHandlers } from '../console-api/people/members.ts';
import type { PeopleParts } from '../console-api/people/people-parts.ts';
import { sessionHandlers, setUpHandlers, signInHandlers } from '../console-api/people/sign-in.ts';
import { policyHandlers } from '../console-api/policy/policy-handlers.ts';
import type { PolicyParts } from '../console-api/policy/policy-parts.ts';
import { sessionListHandlers } from '../console-api/sessions/sessions.ts';
import { overviewHandlers } from '../console-api/usage/overview.ts';
import { usageHandlers } from '../console-api/usage/usage.ts';
import type { AccountBudget, FilterLabel, UsageLabels } from '../console-api/usage/usage-parts.ts';
import type { KeyDirectory } from '../identity/key-directory.ts';
import { DISTRIBUTION } from '../lib/package/distribution.ts';
import { type Files, readFolder, unpackFiles } from '../lib/package/packed-files.ts';
import { createMemberAddresses, createPersonNames, type PersonNames } from '../people/members/members.ts';
import { type ConsoleServer, createConsoleServer } from '../server/console-files.ts';
import type { ContentStore } from '../store/ports/content.ts';
import type { BindingCaps } from '../store/ports/limits.ts';
import type { Store } from '../store/ports/store.ts';
import type { Log } from '../telemetry/log.ts';
import { buildConsole } from './build-console.ts';

interface ConsoleParts {
  readonly directory: KeyDirectory;
  readonly people: PeopleParts;
  readonly policy: PolicyParts;
  readonly log: Log;
  readonly usage: Store['usage'];
  readonly billing: BillingDeps;
  readonly models: ModelDeps;
  readonly explain: ExplainParts;
  /** Time limits for a request body. */
  bodyTimes(): BodyTimeLimits;
  readonly status: Omit<StatusParts, 'models' | 'timeZoneOf'>;
  readonly content: ContentStore;
}

/** Builds the console for a running gateway. */
export function openConsole({
  log,
  directory,
  people,
  policy,
  usage,
  billing,
  models,
  explain,
  content,
  status,
  bodyTimes,
}: ConsoleParts): ConsoleServer {
  const { nowMs } = people;
  const usageParts = {
    usage,
    readHealth: models.readHealth,
    nowMs,
    timeZoneOf: billing.timeZoneOf,
    labelsOf: (account: string) => usageLabels(directory, people.personNames, account),
    ...accountMoney(billing, directory, nowMs),
  };
  const onUnreadable = (request_id: string, cause: unknown) =>
    log.error({ request_id, cause: String(cause) }, 'stored prompts and responses of a request cannot be read');
  const contentOf = createContentOf(content, onUnreadable);
  const api = createConsoleApi({
    handlers: {
      ...sessionHandlers(people),
      ...setUpHandlers(people),
      ...signInHandlers(people),
      ...meHandlers(people),
      ...passkeyHandlers(people),
      ...invitationHandlers(people),
      ...resetHandlers(people),
      ...memberHandlers(people),
      ...overviewHandlers({ ...usageParts, views: policy.views }),
      ...usageHandlers(usageParts),
      ...logHandlers({ ...usageParts, content, contentOf }),
      ...reasonHandlers(usageParts),
      ...sessionListHandlers({ ...usageParts, content, onUnreadable }),
      ...whatIfHandlers({
        ...usageParts,
        routes: () => models.running().settings.routes,
        priced: billing.priced,
        directory,
      }),
      ...modelHandlers(models),
      ...dryRunHandlers(models, explain.deps),
      ...providerHandlers(models),
      ...routeHandlers({ models, control: policy.control }),
      ...stateHandlers(explain.states),
      ...explainHandlers(explain),
      ...statusHandlers({ models, timeZoneOf: usageParts.timeZoneOf, ...status }),
      ...policyHandlers(policy),
    },
    identify: createIdentify({ sessions: people.sessions, directory, nowMs }),
    hasAccount: (account) => directory.accounts.has(account),
    publicUrl: people.publicUrl,
    bodyTimes,
    onFault: (route, cause) => log.error({ route, cause: String(cause) }, 'a console request failed'),
  });
  return createConsoleServer(api, builtConsole, (cause) =>
    log.error({ cause: String(cause) }, 'the console could not be built and is not served; API requests are'),
  );
}

/** A package carries the built files, a clone builds them. */
async function builtConsole(): Promise<Files> {
  const packed = DISTRIBUTION.console;
  return packed === null ? readFolder(await buildConsole()) : unpackFiles(readFileSync(packed));
}

/** Labels the account's keys with their creators, by the creators' present names. */
export async function usageLabels(
  { keys }: Pick<KeyDirectory, 'keys'>,
  personNames: PersonNames,
  account: string,
): Promise<UsageLabels> {
  const own = [...keys.values()].filter(({ accountId }) => accountId === account);
  const owners = new Map(own.flatMap(({ id, createdBy }) => (createdBy === null ? [] : [[id, createdBy]])));
  const memberNames = await personNames([...owners.values()]);
  function namesToChoose(workspaces: readonly string[] | null): FilterLabel[] {
    const seen = own.filter(isIn(workspaces));
    const makers = new Set(seen.flatMap(({ id }) => owners.get(id) ?? []));
    return [
      ...labelsOf('key', new Map(seen.map(({ id, name }) => [id, name]))),
      ...labelsOf('member', new Map([...memberNames].filter(([id]) => makers.has(id)))),
    ];
  }
  return {
    keyName(keyId) {
      const key = keys.get(keyId);
      return key?.accountId === account ? key.name : null;
    },
    owners,
    memberName: (memberId) => memberNames.get(memberId) ?? null,
    namesOfIds: (query, workspaces) => namesToChoose(workspaces).filter(({ filter, value }) => query[filter] === value),
    namesToChoose,
    tagged: (tag, workspaces) =>
      new Map(
        own.filter(isIn(workspaces)).flatMap(({ id, tags = {} }) => {
          const value = Object.hasOwn(tags, tag) ? tags[tag] : undefined;
          return value === undefined ? [] : [[id, value]];
        }),
      ),
    tagNames: (workspaces) =>
      [...new Set(own.filter(isIn(workspaces)).flatMap(({ tags = {} }) => Object.keys(tags)))].sort(),
    hasKeys: (workspaces) => own.some(isIn(workspaces)),
  };
}

function isIn(workspaces: readonly string[] | null) {
  return ({ workspaceId }: { readonly workspaceId: string }) => workspaces === null || workspaces.includes(workspaceId);
}

function labelsOf(filter: FilterLabel['filter'], names: ReadonlyMap<string, string>): FilterLabel[] {
  const counts = new Map<string, number>();
  for (const name of names.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...names]
    .map(([value, name]) => ({ filter, value, label: (counts.get(name) ?? 0) > 1 ? `${name} (${value})` : name }))
    .sort((one, other) => (one.label < other.label ? -1 : 1));
}

interface AccountMoney {
  /** Null: the account has no budget of its own. */
  readBudget(account: string): Promise<AccountBudget | null>;
  /** Nano-USD; null: the account is postpaid. */
  readBalance(account: string): Promise<bigint | null>;
}

/** No rules are requested for another subject. */
const NO_SUBJECT = '';

export function accountMoney(
  { limits, rules, ledger, budgetZoneOf }: Pick<BillingDeps, 'limits' | 'rules' | 'ledger' | 'budgetZoneOf'>,
  { accounts }: Pick<KeyDirectory, 'accounts'>,
  nowMs: () => number,
): AccountMoney {
  return {
    async readBudget(accountId) {
      const subjects = { keyId: NO_SUBJECT, workspaceId: NO_SUBJECT, accountId, endUser: null, models: [] };
      const bindings = rules
        .bindingCapsOf(subjects, budgetZoneOf, nowMs())
        .filter(({ subject, caps }) => subject.kind === 'account' && caps.budget !== null);
      const budgets = await Promise.all(bindings.map((binding) => readOne(limits, binding)));
      // The budget with less left applies: the operator's or the account's own.
      return budgets.reduce<AccountBudget | null>(
        (tightest, one) => (tightest === null || leftOf(one) < leftOf(tightest) ? one : tightest),
        null,
      );
    },
    async readBalance(accountId) {
      if (accounts.get(accountId)?.mode !== 'prepaid') return null;
      const balance = (await ledger.readBalances()).find(({ account }) => account === accountId);
      return balance?.available ?? 0n;
    },
  };
}

async function readOne({ store, seeds }: BillingDeps['limits'], binding: BindingCaps): Promise<AccountBudget> {
  const { caps, subject } = binding;
  if ((await store.readBudget(binding)) === null) await seeds.seedBudget(binding);
  const state = await store.readBudget(binding);
  if (state === null || caps.budget === null)
    throw new Error(`the budget of account ${subject.id} is unknown although it was read`);
  return { window: caps.budget.window, limit: caps.budget.amount, used: state.settled, held: state.held };
}

function leftOf({ limit, used, held }: AccountBudget): bigint {
  return limit - used - held;
}

interface PolicySources extends Pick<PolicyParts, 'control' | 'deps'> {
  readonly store: Pick<
    Store,
    | 'policies'
    | 'ledger'
    | 'audit'
    | 'spends'
    | 'usage'
    | 'statements'
    | 'people'
    | 'reconciliations'
    | 'alerts'
    | 'views'
    | 'guardrails'
  >;
  /** Unix ms. */
  nowMs(): number;
}

export function openPolicy({ store, control, deps, nowMs }: PolicySources): PolicyParts {
  const { policies, ledger, audit, usage, statements, people, reconciliations, alerts, views, guardrails } = store;
  return {
    control,
    deps,
    policies,
    ledger,
    audit,
    readSpends: (bindings) =>
      store.spends.readSpends(bindings, (model) => deps.settings.routes.get(model)?.names ?? [model]),
    usage,
    statements,
    personNames: createPersonNames(people),
    reconciliations,
    alerts,
    readMemberAddresses: createMemberAddresses(people),
    views,
    guardrails,
    readFacts: () => describeInstallation(deps),
    nowMs,
  };
}

function describeInstallation({ settings }: PolicyParts['deps']): ReturnType<PolicyParts['readFacts']> {
  const { file, dataDir, providersFrom } = settings.config;
  return [
    { name: 'Version', text: manifest.version },
    { name: 'Configuration', text: file ?? `no file; providers: ${providersFrom}` },
    { name: 'Data folder', text: dataDir },
  ];
}

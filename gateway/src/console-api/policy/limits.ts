/**
 * Serves the routes about limits: lists every rule of an account with its gauges, changes a rule, and simulates a call.
 */

import { explainCall } from '../../call/explain-call.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { chooseNearName } from '../../errors/near-name.ts';
import { normalizeEndUser } from '../../lib/end-user-id.ts';
import { maskKeys } from '../../lib/secret.ts';
import {
  type BindingCaps,
  type BudgetState,
  EVERY_END_USER,
  endUserSubject,
  inLayer,
  layerOf,
  type Subject,
} from '../../store/ports/limits.ts';
import type { Reply } from '../contract/contract.ts';
import { requireWholeAccount, type Tenancy } from '../kernel/actor.ts';
import type { ConsoleCall, Handlers } from '../kernel/handlers.ts';
import { capsArguments, showLayers } from './caps.ts';
import { findAccount, findKey, findWorkspace, type PolicyParts, runCommand, seesWorkspace } from './policy-parts.ts';

type ShownNode = Reply<'GET /accounts/{account}/limits'>['nodes'][number];

/** A node of the tree. */
interface Place {
  readonly subject: Subject;
  readonly name: string;
  readonly parent: string | null;
}

const PUT = 'PUT /accounts/{account}/limits/{kind}/{subject}';

export function limitHandlers(parts: PolicyParts) {
  const { deps, control } = parts;
  return {
    'GET /accounts/{account}/limits': async ({ tenancy }) => {
      findAccount(parts, tenancy);
      return { nodes: await showPlaces(parts, tenancy, await listPlaces(parts, tenancy)) };
    },
    [PUT]: async (call) => {
      const place = findPlace(parts, call);
      const { kind, id } = place.subject;
      const { layer } = call.body;
      const caps = { ...capsArguments(call.body.caps), ...(layer === undefined ? {} : { layer }) };
      if (kind === 'key') await runCommand(control, call, 'keys.set', { id, ...caps });
      else await runCommand(control, call, 'limits.set', { ...subjectArguments(call.tenancy, place.subject), ...caps });
      const [node] = await showPlaces(parts, call.tenancy, [place]);
      if (node === undefined) throw new Error(`the limits of ${kind} ${id} are gone after they were set`);
      return node;
    },
    'POST /accounts/{account}/limits/simulate': async ({ body, tenancy }) => {
      const simulated = {
        key: findKey(parts, tenancy, body.key),
        model: body.model,
        protocol: null,
        endUser: body.end_user === null ? null : normalizeEndUser(maskKeys(body.end_user)),
        inputTokens: body.input_tokens,
        outputTokensMax: body.max_tokens,
        stream: body.stream,
      };
      const { admitted, hold, steps } = await explainCall(deps, simulated, parts.nowMs());
      return { admitted, hold_nano_usd: hold.toString(), steps: [...steps] };
    },
  } satisfies Partial<Handlers>;
}

/** The account, its workspaces, their keys that are not revoked, and its end users; for operators also the models. */
async function listPlaces({ deps, policies }: PolicyParts, tenancy: Tenancy): Promise<readonly Place[]> {
  const { account } = tenancy;
  const { directory } = deps;
  const places: Place[] = [];
  const add = (subject: Subject, name: string, parent: string | null) => void places.push({ subject, name, parent });
  add({ kind: 'account', id: account }, account, null);
  for (const { id, accountId } of directory.workspaces.values()) {
    if (accountId === account && seesWorkspace(tenancy, id)) add({ kind: 'workspace', id }, id, account);
  }
  for (const { id, name, accountId, workspaceId, status } of directory.keys.values()) {
    if (accountId !== account || status === 'revoked' || !seesWorkspace(tenancy, workspaceId)) continue;
    add({ kind: 'key', id }, name, workspaceId);
  }
  const ofOperatorAccount = tenancy.may('operator.read');
  const listed = new Set<string>();
  for (const { subject } of await policies.readLimitRules()) {
    // An end user may have a rule in each layer.
    const place = `${subject.kind} ${subject.id}`;
    if (listed.has(place)) continue;
    listed.add(place);
    const isShown =
      subject.kind === 'model'
        ? ofOperatorAccount
        : subject.kind === 'end_user' && tenancy.workspaces === null && subject.id.startsWith(`${account}/`);
    if (isShown) add({ kind: subject.kind, id: subject.id }, showSubject(subject).id, null);
  }
  return places;
}

async function showPlaces(parts: PolicyParts, tenancy: Tenancy, places: readonly Place[]): Promise<ShownNode[]> {
  const { rules, budgetZoneOf } = parts.deps.billing;
  const nowMs = parts.nowMs();
  const bindings = new Map<Place, readonly BindingCaps[]>();
  for (const place of places) {
    if (isEveryone(place.subject)) continue;
    const both = (['operator', 'account'] as const)
      .map((layer) => rules.bindingOf(inLayer(place.subject, layer), tenancy.account, budgetZoneOf, nowMs))
      .filter((binding) => binding !== null);
    if (both.length > 0) bindings.set(place, both);
  }
  const states = await readBudgetStates(parts, [...bindings.values()].flat());
  return Promise.all(
    places.map(async (place) => {
      const both = bindings.get(place) ?? [];
      return {
        subject: showSubject(place.subject),
        name: place.name,
        parent: place.parent,
        ...showLayers(rules, place.subject, tenancy),
        binds: place.subject.kind !== 'model' || parts.deps.settings.routes.has(place.subject.id),
        gauges: (await Promise.all(both.map((binding) => readGauges(parts, binding, states, nowMs)))).flat(),
      };
    }),
  );
}

/**
 * A rule for every end user without their own applies to each of them separately, so there is no shared usage to show.
 */
function isEveryone({ kind, id }: Subject): boolean {
  return kind === 'end_user' && id.endsWith(`/${EVERY_END_USER}`);
}

/**
 * Throws `not_found` for a subject that does not exist in this account; `forbidden` for one that the caller may not
 * change.
 */
function findPlace(parts: PolicyParts, { path, tenancy }: ConsoleCall<typeof PUT>): Place {
  const { account } = findPayer(parts, tenancy);
  const { kind, subject: id } = path;
  switch (kind) {
    case 'key': {
      const key = findKey(parts, tenancy, id);
      if (key.status === 'revoked') {
        throw new ConsoleFailure('conflict', 'this key is revoked permanently, so limits have no effect', {
          page: '/app/keys',
        });
      }
      return { subject: { kind, id }, name: key.name, parent: key.workspaceId };
    }
    case 'workspace':
      return { subject: { kind, id: findWorkspace(parts, tenancy, id).id }, name: id, parent: account };
    case 'account':
      if (id !== account) break;
      requireWholeAccount(tenancy);
      return { subject: { kind, id }, name: id, parent: null };
    case 'end_user':
      requireWholeAccount(tenancy);
      return { subject: endUserSubject(account, normalizeEndUser(id)), name: id, parent: null };
    case 'model':
      return { subject: findModel(parts, tenancy, id), name: id, parent: null };
  }
  throw new ConsoleFailure(
    'not_found',
    `there is no ${JSON.stringify(kind.slice(0, 40))} with this id; expected a key, workspace, account, end_user or model`,
    { page: '/app/limits' },
  );
}

function findPayer(parts: PolicyParts, tenancy: Tenancy): { readonly account: string } {
  return { account: findAccount(parts, tenancy).id };
}

/** A model's rule applies to all accounts together, under the model's own name. */
function findModel({ deps }: PolicyParts, tenancy: Tenancy, id: string): Subject {
  const subject = { kind: 'model', id } as const;
  if (!tenancy.may('operator.write')) {
    throw new ConsoleFailure(
      'forbidden',
      'the limits of a model apply to all accounts together; setting them needs the permission operator.write. Ask the operator of this gateway',
    );
  }
  // A rule outlives its model and must stay removable; a rule for an alias may come from the command line.
  if (deps.billing.rules.get(subject) !== null) return subject;
  const route = deps.settings.routes.get(id);
  if (route !== undefined && route.model !== id) {
    throw new ConsoleFailure('invalid', `subject: found an alias of the model ${route.model}, expected its main name`, {
      member: 'subject',
      page: '/app/models',
    });
  }
  if (route !== undefined) return subject;
  const near = chooseNearName(id, [...deps.settings.routes.keys()]);
  const found = `found ${JSON.stringify(maskKeys(id))}, expected the name of a model that is served`;
  throw new ConsoleFailure(
    'not_found',
    `subject: ${found}; ${near === null ? 'see the list of models' : `did you mean ${JSON.stringify(near)}?`}`,
    { member: 'subject', page: '/app/models' },
  );
}

function subjectArguments({ account }: Tenancy, subject: Subject): object {
  const { id } = showSubject(subject);
  return subject.kind === 'end_user' ? { account, end_user: id } : { [subject.kind]: id };
}

type ShownGauge = Reply<'GET /accounts/{account}/limits'>['nodes'][number]['gauges'][number];

/** The settled and held amounts of budgets, by `nameOf` their subject. */
export type BudgetStates = ReadonlyMap<string, BudgetState>;

export function nameOf(subject: Subject): string {
  return `${layerOf(subject)} ${subject.kind} ${subject.id}`;
}

/** The state of each binding with a budget. Unknown states of the same kind and window are read together. */
export async function readBudgetStates(
  { deps, readSpends }: Pick<PolicyParts, 'deps' | 'readSpends'>,
  bindings: readonly BindingCaps[],
): Promise<BudgetStates> {
  const states = new Map<string, BudgetState>();
  const unknown = new Map<string, BindingCaps[]>();
  for (const binding of bindings) {
    if (binding.caps.budget === null) continue;
    const state = await deps.billing.limits.store.readBudget(binding);
    if (state !== null) {
      states.set(nameOf(binding.subject), state);
      continue;
    }
    const group = `${binding.subject.kind} ${binding.windowStartMs} ${binding.windowEndMs}`;
    unknown.set(group, [...(unknown.get(group) ?? []), binding]);
  }
  await Promise.all(
    [...unknown.values()].map(async (group) => {
      const spent = await readSpends(group);
      for (const { subject } of group) states.set(nameOf(subject), { settled: spent.get(subject.id) ?? 0n, held: 0n });
    }),
  );
  return states;
}

/** A gauge for each cap of the binding. */
export async function readGauges(
  { deps }: Pick<PolicyParts, 'deps'>,
  binding: BindingCaps,
  states: BudgetStates,
  nowMs: number,
): Promise<ShownGauge[]> {
  const { caps, windowEndMs } = binding;
  const subject = showSubject(binding.subject);
  const layer = layerOf(binding.subject);
  const use = await deps.billing.limits.store.readUse(binding, nowMs);
  const gauges: ShownGauge[] = [];
  const add = (sort: ShownGauge['sort'], limit: number | null, used: number, wholeAtMs: number | null) => {
    if (limit === null) return;
    const resets_at = wholeAtMs === null ? null : showTime(wholeAtMs);
    gauges.push({ subject, layer, sort, limit: String(limit), used: String(used), held: '0', window: null, resets_at });
  };
  add('rpm', caps.requestsPerMinute, use.requests?.used ?? 0, use.requests?.wholeAtMs ?? null);
  add('tpm', caps.tokensPerMinute, use.tokens?.used ?? 0, use.tokens?.wholeAtMs ?? null);
  add('concurrency', caps.concurrency, use.running ?? 0, null);
  if (caps.budget !== null) {
    const state = states.get(nameOf(binding.subject)) ?? { settled: 0n, held: 0n };
    gauges.push({
      subject,
      layer,
      sort: 'budget',
      limit: caps.budget.amount.toString(),
      used: state.settled.toString(),
      held: state.held.toString(),
      window: caps.budget.window,
      resets_at: windowEndMs === null ? null : showTime(windowEndMs),
    });
  }
  return gauges;
}

/** Removes the account prefix from the id of an end user. */
function showSubject({ kind, id }: Subject): Subject {
  return kind === 'end_user' ? { kind, id: id.slice(id.indexOf('/') + 1) } : { kind, id };
}

export function showTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/**
 * Defines the commands for routes: the targets of a model and the choice among them, in addition to the configuration
 * file. Each change is durable before it applies to calls, and then applies at once.
 */
import { z } from 'zod';
import type { ModelConfig } from '../../config/config.ts';
import { outSince, type Served } from '../../config/console-entries.ts';
import { parseRoute, providersOf, type RouteFault, renderRouteFault } from '../../config/console-routes.ts';
import { CLIENT_PROTOCOL_NAMES } from '../../protocols/names.ts';
import type { RouteDefinition } from '../../store/ports/providers.ts';
import { givenId, modelName } from '../arguments.ts';
import {
  CommandFailure,
  type CommandRun,
  type ControlCommand,
  defineCommand,
  findKey,
  type Json,
  type LiveRouting,
} from '../command.ts';
import { refuseStale, type ShownMembers } from '../policy-changes.ts';
import { putBack, rotate } from './rotation.ts';
import { changeDefinition, changedDefinition, newDefinition } from './route-definition.ts';
import { auditRouting, findRoute, findServed, findTarget, readServed } from './routing-scope.ts';
import type { RouteView } from './routing-shapes.ts';
import { viewRoute, viewRoutes } from './routing-views.ts';

const list = defineCommand(z.strictObject({}), async (run) => viewRoutes(await readServed(run)));

const show = defineCommand(z.strictObject({ model: modelName }), async (run, given) => {
  const served = await readServed(run);
  return viewRoute(findServed(served, given.model), served);
});

const create = defineCommand(z.strictObject({ model: modelName, ...newDefinition }), async (run, given) => {
  const served = await readServed(run);
  const { model, ...members } = given;
  if (served.routes.some(({ entry }) => entry.model === model)) {
    throw new CommandFailure(`The route ${model} already exists. Change it: tollgate routes set ${model}`);
  }
  const definition = changeDefinition({}, members);
  checkDefinition(served, model, definition);
  const nowMs = run.nowMs();
  const route = { model, definition, createdAtMs: nowMs, updatedAtMs: nowMs };
  await run.routing.book.save(
    [{ of: 'route', isNew: true, route }],
    auditRouting(run, { kind: 'route', id: model }, null, shown(definition)),
  );
  return viewAfter(run, model);
});

const set = defineCommand(z.strictObject({ model: modelName, ...changedDefinition }), async (run, given) => {
  const served = await readServed(run);
  const { entry } = findRoute(served, given.model);
  const { model, before, ...members } = given;
  refuseStale(model, entry.definition, before);
  const definition = changeDefinition(entry.definition, members);
  const parsed = checkDefinition(served, model, definition);
  const route = { ...entry, definition, updatedAtMs: run.nowMs() };
  const entries = auditRouting(run, { kind: 'route', id: model }, shown(entry.definition), shown(definition));
  if (entries.length > 0) {
    const left = new Set(parsed.targets.map(({ name }) => name));
    const gone = served.outOfRotation.filter(
      ({ kind, owner, name }) => kind === 'target' && owner === model && !left.has(name),
    );
    await run.routing.book.save([{ of: 'route', isNew: false, route }, ...gone.map(putBack)], entries);
  }
  return viewAfter(run, model);
});

const remove = defineCommand(z.strictObject({ model: modelName }), async (run, { model }) => {
  const served = await readServed(run);
  const { entry } = findRoute(served, model);
  const out = served.outOfRotation.filter(({ kind, owner }) => kind === 'target' && owner === model);
  await run.routing.book.save(
    [{ of: 'route', removed: model }, ...out.map(putBack)],
    auditRouting(run, { kind: 'route', id: model }, shown(entry.definition), null),
  );
  return { model, removed: true };
});

const states = defineCommand(z.strictObject({}), async (run) => {
  await readServed(run);
  return requireLive(run, 'no states to show: a server starts with everything closed').states();
});

const explain = defineCommand(
  z.strictObject({
    model: modelName,
    protocol: z.enum(CLIENT_PROTOCOL_NAMES).optional(),
    key: givenId.optional(),
    request: z.looseObject({}).optional(),
    session: z.string().min(1).max(1_000).optional(),
  }),
  async (run, { model, protocol = null, key, request = null, session = null }) => {
    await readServed(run);
    const live = requireLive(run, 'nothing to explain: choices depend on the states of its targets');
    const keyId = key === undefined ? null : findKey(run, key).id;
    return live.explain({ model, protocol, keyId, body: request, session });
  },
);

const ofTarget = z.strictObject({ model: modelName, target: givenId });

const disable = defineCommand(ofTarget, async (run, given) => {
  const served = await readServed(run);
  const model = findServed(served, given.model);
  const { name } = findTarget(model, given.target);
  const subjectOf = (target: string) => ({ kind: 'target', owner: model.name, name: target }) as const;
  const isOut = (target: string) => outSince(served, subjectOf(target)) !== null;
  if (isOut(name)) return viewRoute(model, served);
  if (model.targets.every((one) => one.name === name || isOut(one.name))) {
    throw new CommandFailure(
      `${name} is the only target of ${model.name} in rotation, and a model without one serves no request. Put another target back first, or add one`,
    );
  }
  await rotate(run, subjectOf(name), false);
  return viewAfter(run, model.name);
});

const enable = defineCommand(ofTarget, async (run, given) => {
  const served = await readServed(run);
  const model = findServed(served, given.model);
  const { name } = findTarget(model, given.target);
  const subject = { kind: 'target', owner: model.name, name } as const;
  if (outSince(served, subject) !== null) await rotate(run, subject, true);
  return viewAfter(run, model.name);
});

const close = defineCommand(ofTarget, async (run, given) => {
  const served = await readServed(run);
  const model = findServed(served, given.model);
  const { name } = findTarget(model, given.target);
  const live = requireLive(run, 'no breaker to close: a server starts with all of them closed');
  if (!live.close(model.name, name)) {
    throw new CommandFailure(`The target ${name} of ${model.name} is out of rotation; put it back first`);
  }
  const subject = { kind: 'target', id: `${model.name} ${name}` };
  await run.routing.book.save([], auditRouting(run, subject, null, { breaker: 'closed' }));
  return { model: model.name, target: name, closed: true };
});

/** @throws CommandFailure without a running server. */
function requireLive({ routing }: CommandRun, without: string): LiveRouting {
  if (routing.live !== null) return routing.live;
  throw new CommandFailure(`No server is running, so there is ${without}.`);
}

/** @throws CommandFailure with every fault of the definition, one per line, or if a name of it is taken. */
function checkDefinition(served: Served, name: string, definition: RouteDefinition): ModelConfig {
  const { config } = served;
  if (config.models?.has(name) === true) {
    throw new CommandFailure(
      `The configuration file defines the model ${name}, so it is read-only here; change it there`,
    );
  }
  const { model, faults } = parseRoute(name, definition, providersOf(config, served.providers), config);
  if (model === null) throw new CommandFailure(renderFaults(faults), 'usage');
  for (const [index, alias] of [name, ...model.alias.map((one) => one.name)].entries()) {
    const owner = served.models.get(alias);
    if (owner === undefined || owner.name === name) continue;
    // A model that a provider serves without a route gives way.
    if (config.models?.has(owner.name) !== true && served.routes.every((route) => route.model !== owner)) continue;
    const member = index === 0 ? 'model' : `alias.${index - 1}`;
    throw new CommandFailure(
      `${member}: found ${JSON.stringify(alias)}, which is already a name of the model ${owner.name}, expected a name that no other model has`,
      'usage',
    );
  }
  return model;
}

function renderFaults(faults: readonly RouteFault[]): string {
  if (faults.length === 0) {
    return 'targets: found a provider that cannot be used, expected providers that can; /app/providers says why';
  }
  return faults
    .map((fault) => renderRouteFault(fault.member === '' ? { ...fault, member: 'model' } : fault))
    .join('\n');
}

function shown(definition: RouteDefinition): ShownMembers {
  return definition as { readonly [member: string]: Json };
}

/** The route as it is served after a change; the entry alone where no server follows the changes. */
async function viewAfter(run: CommandRun, name: string): Promise<RouteView> {
  const served = await readServed(run);
  return viewRoute(findServed(served, name), served);
}

export const ROUTE_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['routes.list', list],
  ['routes.show', show],
  ['routes.create', create],
  ['routes.set', set],
  ['routes.remove', remove],
  ['routes.disable', disable],
  ['routes.enable', enable],
  ['routes.close', close],
  ['routes.states', states],
  ['routes.explain', explain],
];

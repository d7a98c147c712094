/**
 * Defines the commands for workspaces. Each change is durable before it applies to calls, and then applies to all of a
 * workspace's keys at once.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Subject } from '../store/ports/limits.ts';
import type { CacheMode, StoredWorkspace } from '../store/ports/records.ts';
import {
  asRead,
  bodiesDays,
  bodyPolicy,
  CACHE_SECONDS_DEFAULT,
  cacheMode,
  cacheSeconds,
  capArguments,
  dataTags,
  givenId,
  modelPatterns,
  newId,
  requiredTags,
} from './arguments.ts';
import {
  CommandFailure,
  type CommandRun,
  type ControlCommand,
  defineCommand,
  findAccount,
  findWorkspace,
} from './command.ts';
import { auditChange, chooseRuleChange, type LayeredCaps, layeredCapsOf, refuseStale } from './policy-changes.ts';
import { viewWorkspace } from './views.ts';

const list = defineCommand(z.strictObject({}), async ({ directory, limits }) =>
  [...directory.workspaces.values()].map((workspace) =>
    viewWorkspace(workspace, layeredCapsOf({ limits }, subjectOf(workspace.id))),
  ),
);

const create = defineCommand(
  z.strictObject({
    id: newId,
    account: givenId.default('default'),
    models: modelPatterns.default(null),
    bodies: bodyPolicy.nullable().default(null),
    bodies_days: bodiesDays.nullable().default(null),
    required_tags: dataTags.default([]),
    cache: cacheMode.optional(),
    cache_seconds: cacheSeconds.optional(),
    ...capArguments,
  }),
  async (context, given) => {
    if (context.directory.workspaces.has(given.id)) {
      throw new CommandFailure(
        `The workspace ${given.id} already exists. Change it: tollgate workspaces set ${given.id} --models LIST`,
      );
    }
    const workspace: StoredWorkspace = {
      id: given.id,
      accountId: findAccount(context, given.account).id,
      models: given.models,
      bodies: given.bodies,
      bodiesDays: given.bodies_days,
      createdAtMs: context.nowMs(),
      ...requiredTags(given.required_tags),
      ...chooseCache(given, { before: undefined, isOther: true, nowMs: context.nowMs() }),
    };
    checkCache(workspace);
    const { changes, caps } = chooseRuleChange(context, subjectOf(given.id), workspace.accountId, given);
    const entries = auditWorkspace(context, null, { workspace, caps });
    await context.policies.save([{ of: 'workspace', isNew: true, workspace }, ...changes], entries);
    return viewWorkspace(workspace, caps);
  },
);

const set = defineCommand(
  z.strictObject({
    id: givenId,
    models: modelPatterns.optional(),
    bodies: bodyPolicy.nullable().optional(),
    bodies_days: bodiesDays.nullable().optional(),
    required_tags: dataTags.optional(),
    cache: cacheMode.optional(),
    cache_seconds: cacheSeconds.optional(),
    clear_cache: z.literal(true).optional(),
    ...capArguments,
    before: asRead,
  }),
  async (context, given) => {
    const before = findWorkspace(context, given.id);
    refuseStale(given.id, viewWorkspace(before, layeredCapsOf(context, subjectOf(given.id))), given.before);
    const { requiredTags: tagsBefore = [], cache: cacheBefore, ...kept } = before;
    const others: StoredWorkspace = {
      ...kept,
      models: given.models === undefined ? before.models : given.models,
      bodies: given.bodies === undefined ? before.bodies : given.bodies,
      bodiesDays: given.bodies_days === undefined ? before.bodiesDays : given.bodies_days,
      ...requiredTags(given.required_tags ?? tagsBefore),
    };
    const isOther = !isDeepStrictEqual({ ...others, cache: cacheBefore }, { ...before, cache: cacheBefore });
    const workspace: StoredWorkspace = {
      ...others,
      ...chooseCache(given, { before: cacheBefore, isOther, nowMs: context.nowMs() }),
    };
    checkCache(workspace);
    const { changes, caps } = chooseRuleChange(context, subjectOf(workspace.id), workspace.accountId, given);
    const entries = auditWorkspace(context, before, { workspace, caps });
    await context.policies.save([{ of: 'workspace', isNew: false, workspace }, ...changes], entries);
    return viewWorkspace(workspace, caps);
  },
);

interface GivenCache {
  readonly cache?: CacheMode | 'off' | undefined;
  readonly cache_seconds?: number | undefined;
  readonly clear_cache?: true | undefined;
}

/**
 * The stored member. Answers from before the cache was turned on or cleared are not used, nor those from before another
 * change of the policy (`isOther`): they may not be what it allows now.
 */
function chooseCache(
  { cache, cache_seconds, clear_cache }: GivenCache,
  {
    before,
    isOther,
    nowMs,
  }: { readonly before: StoredWorkspace['cache']; readonly isOther: boolean; readonly nowMs: number },
): Pick<StoredWorkspace, 'cache'> {
  const mode = cache ?? before?.mode ?? 'off';
  if (mode === 'off') {
    const stray = cache_seconds !== undefined ? 'cache_seconds' : clear_cache === true ? 'clear_cache' : null;
    if (stray === null) return {};
    throw new CommandFailure(`${stray}: answers are not cached; turn the cache on with cache, or leave this out`);
  }
  const seconds = cache_seconds ?? before?.seconds ?? CACHE_SECONDS_DEFAULT;
  const isCleared = isOther || clear_cache === true || before === undefined;
  return { cache: { mode, seconds, sinceMs: isCleared ? nowMs : before.sinceMs } };
}

/** Cached answers are bodies, so a workspace that says it stores none caches none. */
function checkCache({ cache, bodies }: StoredWorkspace): void {
  if (cache === undefined || bodies === null || bodies === 'all') return;
  throw new CommandFailure(
    `cache: found ${cache.mode} for a workspace that stores the bodies of ${bodies === 'off' ? 'no requests' : 'failed requests only'} (bodies: ${bodies}); expected bodies: all, or cache: off`,
  );
}

function auditWorkspace(
  run: CommandRun,
  before: StoredWorkspace | null,
  { workspace, caps }: { readonly workspace: StoredWorkspace; readonly caps: LayeredCaps },
) {
  return auditChange(run, {
    account: workspace.accountId,
    workspace: workspace.id,
    subject: subjectOf(workspace.id),
    before: before === null ? null : viewWorkspace(before, layeredCapsOf(run, subjectOf(before.id))),
    after: viewWorkspace(workspace, caps),
  });
}

function subjectOf(id: string): Subject {
  return { kind: 'workspace', id };
}

export const WORKSPACE_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['workspaces.list', list],
  ['workspaces.create', create],
  ['workspaces.set', set],
];

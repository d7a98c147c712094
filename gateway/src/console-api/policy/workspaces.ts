/** Serves the routes about workspaces and their policies. Leaves the changes to commands. */
import { windowAt } from '../../admission/window.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { StoredWorkspace } from '../../store/ports/records.ts';
import type { Reply } from '../contract/contract.ts';
import type { Tenancy } from '../kernel/actor.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { readSpans } from '../usage/usage-range.ts';
import { capsArguments, showLayers } from './caps.ts';
import { showTime } from './limits.ts';
import { findAccount, findWorkspace, type PolicyParts, runCommand, seesWorkspace } from './policy-parts.ts';

type ShownWorkspace = Reply<'GET /accounts/{account}/workspaces'>['workspaces'][number];

export function workspaceHandlers(parts: PolicyParts) {
  const { control, deps } = parts;
  const { workspaces } = deps.directory;
  const showOne = async (id: string, tenancy: Tenancy) => {
    const workspace = workspaces.get(id);
    const [shown] = workspace === undefined ? [] : await showWorkspaces(parts, tenancy, [workspace]);
    if (shown === undefined) throw new Error(`the workspace ${id} is gone after it was changed`);
    return shown;
  };
  return {
    'GET /accounts/{account}/workspaces': async ({ tenancy }) => {
      const { account } = tenancy;
      const mine = [...workspaces.values()].filter(
        ({ id, accountId }) => accountId === account && seesWorkspace(tenancy, id),
      );
      const { logBodies: bodies, retentionDays: bodies_days } = deps.settings.config.defaults;
      return { workspaces: await showWorkspaces(parts, tenancy, mine), configured: { bodies, bodies_days } };
    },
    'POST /accounts/{account}/workspaces': async (call) => {
      const { caps, id, ...given } = call.body;
      findAccount(parts, call.tenancy);
      // Ids are unique across all accounts, because a record refers to a workspace by its id alone.
      if (workspaces.has(id)) {
        throw new ConsoleFailure('conflict', `id: ${id} is taken; choose another one`, { member: 'id' });
      }
      const account = call.tenancy.account;
      await runCommand(control, call, 'workspaces.create', { id, account, ...given, ...capsArguments(caps) });
      return showOne(id, call.tenancy);
    },
    'PATCH /accounts/{account}/workspaces/{workspace}': async (call) => {
      const { caps, ...given } = call.body;
      const { id } = findWorkspace(parts, call.tenancy, call.path.workspace);
      const limits = caps === undefined ? {} : capsArguments(caps);
      await runCommand(control, call, 'workspaces.set', { id, ...given, ...limits });
      return showOne(id, call.tenancy);
    },
  } satisfies Partial<Handlers>;
}

async function showWorkspaces(
  { deps, usage, nowMs }: PolicyParts,
  tenancy: Tenancy,
  workspaces: readonly StoredWorkspace[],
): Promise<ShownWorkspace[]> {
  const { account } = tenancy;
  const timeZone = deps.billing.timeZoneOf(account);
  const bounds = [windowAt('month', timeZone, nowMs()).startMs, nowMs() + 1];
  const ids = workspaces.map(({ id }) => id);
  const spans = await readSpans(usage, { account, timeZone, by: 'workspace', ids, bounds });
  const keys = [...deps.directory.keys.values()].filter(({ status }) => status !== 'revoked');
  return workspaces.map((workspace) => ({
    id: workspace.id,
    models: workspace.models === null ? null : [...workspace.models],
    bodies: workspace.bodies,
    bodies_days: workspace.bodiesDays,
    required_tags: [...(workspace.requiredTags ?? [])],
    cache: workspace.cache?.mode ?? 'off',
    cache_seconds: workspace.cache?.seconds ?? null,
    cache_since: workspace.cache === undefined ? null : showTime(workspace.cache.sinceMs),
    ...showLayers(deps.billing.rules, { kind: 'workspace', id: workspace.id }, tenancy),
    keys: keys.filter(({ workspaceId }) => workspaceId === workspace.id).length,
    created_at: showTime(workspace.createdAtMs),
    month_nano_usd: (spans.get(workspace.id)?.[0]?.cost ?? 0n).toString(),
  }));
}

/** Owns the commands about workspaces. Each is durable before it binds calls, and binds all of a workspace's keys at once. */
import { z } from 'zod';
import { putWorkspace } from '../identity/key-directory.ts';
import type { StoredWorkspace } from '../store/ports.ts';
import { givenId, modelPatterns, newId } from './arguments.ts';
import { CommandFailure, type ControlCommand, defineCommand } from './command.ts';
import { findWorkspace } from './find.ts';
import { viewWorkspace } from './views.ts';

/** Whose the workspaces are that commands make. */
const ACCOUNT = 'default';

const list = defineCommand(z.strictObject({}), async ({ directory }) =>
  [...directory.workspaces.values()].map(viewWorkspace),
);

const create = defineCommand(
  z.strictObject({ id: newId, models: modelPatterns.default(null) }),
  async (context, given) => {
    if (context.directory.workspaces.has(given.id)) {
      throw new CommandFailure(
        `The workspace ${given.id} is there already. Change it: tollgate workspaces set ${given.id} --models LIST`,
      );
    }
    const workspace: StoredWorkspace = {
      id: given.id,
      accountId: ACCOUNT,
      models: given.models,
      createdAtMs: context.nowMs(),
    };
    await context.policies.insertWorkspace(workspace);
    putWorkspace(context.directory, workspace);
    return viewWorkspace(workspace);
  },
);

const set = defineCommand(z.strictObject({ id: givenId, models: modelPatterns }), async (context, given) => {
  const workspace: StoredWorkspace = { ...findWorkspace(context, given.id), models: given.models };
  await context.policies.replaceWorkspace(workspace);
  putWorkspace(context.directory, workspace);
  return viewWorkspace(workspace);
});

export const WORKSPACE_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['workspaces.list', list],
  ['workspaces.create', create],
  ['workspaces.set', set],
];

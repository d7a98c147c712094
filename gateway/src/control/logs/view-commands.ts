/** Defines the commands for saved views of the list of requests. They are run by people only. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { SavedView } from '../../store/ports/calls/saved-views.ts';
import { givenId } from '../arguments.ts';
import { CommandFailure, type CommandRun, type ControlCommand, defineCommand } from '../command.ts';
import { auditChange } from '../policy-changes.ts';

/** Of one person, and of all of an account. */
const OWN_MAX = 100;
const SHARED_MAX = 200;

const members = {
  name: z.string().min(1).max(100),
  shared: z.boolean(),
  search: z.record(z.string().max(40), z.string().max(2_000)),
};

const create = defineCommand(z.strictObject({ account: givenId, ...members }), async (run, given) => {
  const { account, name, shared: isShared, search } = given;
  const person = personOf(run);
  const views = await run.views.readViews(account, person);
  checkCount(views, person, isShared);
  const id = `view_${randomBytes(12).toString('hex')}`;
  const view = { id, account, person, name, isShared, search, createdAtMs: run.nowMs() };
  await run.views.createView(view, auditView(run, view, null, view));
  return { id };
});

const set = defineCommand(
  z.strictObject({ account: givenId, id: givenId, ...z.object(members).partial().shape }),
  async (run, { account, id, name, shared, search }) => {
    const person = personOf(run);
    const views = await run.views.readViews(account, person);
    const before = findView(views, id);
    const after = {
      ...before,
      name: name ?? before.name,
      isShared: shared ?? before.isShared,
      search: search ?? before.search,
    };
    if (after.isShared !== before.isShared) checkCount(views, person, after.isShared);
    const entries = auditView(run, before, before, after);
    if (entries.length > 0) await run.views.changeView(after, entries);
    return { id };
  },
);

const remove = defineCommand(z.strictObject({ account: givenId, id: givenId }), async (run, { account, id }) => {
  const view = findView(await run.views.readViews(account, personOf(run)), id);
  await run.views.deleteView(id, auditView(run, view, view, null));
  return { id };
});

function personOf({ by }: CommandRun): string {
  if (by.actor.kind === 'person') return by.actor.id;
  throw new CommandFailure('Saved views belong to people; sign in to the console to change them.', 'forbidden');
}

function findView(views: readonly SavedView[], id: string): SavedView {
  const view = views.find((one) => one.id === id);
  if (view === undefined) throw new CommandFailure('There is no such view. It may have been deleted.');
  return view;
}

function checkCount(views: readonly SavedView[], person: string, isShared: boolean): void {
  const max = isShared ? SHARED_MAX : OWN_MAX;
  const same = views.filter((view) => view.isShared === isShared && (isShared || view.person === person));
  if (same.length < max) return;
  throw new CommandFailure(`There are ${max} ${isShared ? 'shared' : 'personal'} views, the maximum. Delete one.`);
}

function auditView(run: CommandRun, { id, account }: SavedView, before: SavedView | null, after: SavedView | null) {
  const subject = { kind: 'view', id };
  return auditChange(run, { account, workspace: null, subject, before: shown(before), after: shown(after) });
}

function shown(view: SavedView | null) {
  return view && { name: view.name, shared: view.isShared, search: { ...view.search } };
}

export const VIEW_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['views.create', create],
  ['views.set', set],
  ['views.delete', remove],
];

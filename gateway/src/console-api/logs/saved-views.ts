/** Serves saved views of requests. A view is filters only: each reader sees the requests that they may see. */
import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { SavedView } from '../../store/ports/calls/saved-views.ts';
import { type ViewSearch, viewSearch } from '../contract/saved-views.ts';
import type { Actor, Tenancy } from '../kernel/actor.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { type PolicyParts, runCommand } from '../policy/policy-parts.ts';
import { readQuery } from '../query/resolve-query.ts';

interface Asking {
  readonly tenancy: Tenancy;
  readonly actor: Actor;
}

export function savedViewHandlers({ control, views }: Pick<PolicyParts, 'control' | 'views'>) {
  /** @throws ConsoleFailure where the caller does not have the view, or may not change it */
  async function findEditable({ tenancy, actor }: Asking, id: string): Promise<SavedView> {
    const view = (await views.readViews(tenancy.account, idOf(actor))).find((one) => one.id === id);
    if (view === undefined) throw noView();
    if (mayEdit({ tenancy, actor }, view)) return view;
    throw new ConsoleFailure('forbidden', 'only its creator and admins of the account change a shared view');
  }
  return {
    'GET /accounts/{account}/views': async ({ tenancy, actor }) => {
      const [found, pinned] = await Promise.all([
        views.readViews(tenancy.account, idOf(actor)),
        views.readPinned(tenancy.account, idOf(actor)),
      ]);
      return {
        views: found.map((view) => ({
          id: view.id,
          name: view.name,
          shared: view.isShared,
          editable: mayEdit({ tenancy, actor }, view),
          search: viewSearch.parse(view.search),
        })),
        pinned,
      };
    },
    'POST /accounts/{account}/views': async (call) => {
      const { account } = call.tenancy;
      const { shared, search } = call.body;
      if (shared) requireSharing(call.tenancy);
      checkQuery(search);
      return runCommand<{ readonly id: string }>(control, call, 'views.create', { account, ...call.body });
    },
    'PATCH /accounts/{account}/views/{view}': async (call) => {
      const { id, account, isShared } = await findEditable(call, call.path.view);
      if (call.body.shared ?? isShared) requireSharing(call.tenancy);
      if (call.body.search !== undefined) checkQuery(call.body.search);
      return runCommand<{ readonly id: string }>(control, call, 'views.set', { account, id, ...call.body });
    },
    'DELETE /accounts/{account}/views/{view}': async (call) => {
      const { id, account } = await findEditable(call, call.path.view);
      await runCommand(control, call, 'views.delete', { account, id });
      return {};
    },
    'PUT /accounts/{account}/pinned-view': async ({ tenancy, actor, body }) => {
      const { account } = tenancy;
      const own = await views.readViews(account, idOf(actor));
      if (body.view !== null && own.every(({ id }) => id !== body.view)) throw noView();
      await views.savePinned(account, idOf(actor), body.view);
      return {};
    },
  } satisfies Partial<Handlers>;
}

const noView = () =>
  new ConsoleFailure('not_found', 'there is no such view; it may have been deleted', { page: '/app/logs' });

function idOf(actor: Actor): string {
  if (actor.kind !== 'person') throw new Error('a saved view needs a person');
  return actor.id;
}

function mayEdit({ tenancy, actor }: Asking, { person, isShared }: SavedView): boolean {
  return person === idOf(actor) || (isShared && tenancy.may('settings.write'));
}

function requireSharing(tenancy: Tenancy): void {
  if (tenancy.may('views.share')) return;
  throw new ConsoleFailure('forbidden', 'shared: your role may not share views; save it for yourself', {
    member: 'shared',
  });
}

/** @throws ConsoleFailure that names what is wrong in the query */
function checkQuery({ q }: ViewSearch): void {
  readQuery(q);
}

/** Names the saved view that the page shows, and offers to keep or undo what was changed since. Loaded with a view. */
import { Bookmark, X } from 'lucide-react';
import { useAction, useReply } from '../../../lib/queries.ts';
import { useAccount } from '../../../lib/session.ts';
import { useFilters } from '../../../route/route.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { isModified, showView, VIEW_ID, viewSearchOf } from './saved-view.ts';
import { VIEW_LISTS } from './view-form.tsx';

/** Nothing where the view of the address is gone, or is another user's: the address lists the same without it. */
export default function ActiveView() {
  const { account, may } = useAccount();
  const [search, change] = useFilters();
  const { data } = useReply('GET /accounts/{account}/views', { path: { account } });
  const update = useAction('PATCH /accounts/{account}/views/{view}', VIEW_LISTS);
  const view = data?.views.find(({ id }) => id === search[VIEW_ID]);
  if (view === undefined) return null;
  const isChanged = isModified(search, view);
  return (
    <div className="flex min-w-0 max-w-full flex-wrap items-center gap-1">
      <span className="inline-flex h-8 min-w-0 items-center gap-1.5 rounded-md border border-accent/40 bg-accent-soft pl-2.5 text-accent-strong">
        <Bookmark size={13} aria-hidden="true" className="shrink-0" />
        <span className="sr-only">View: </span>
        <span className="max-w-60 truncate font-medium" title={view.name}>
          {view.name}
        </span>
        {isChanged && <span className="shrink-0 text-ink-2">modified</span>}
        <IconButton label="Leave view" className="size-7" onClick={() => change(showView(null))}>
          <X size={13} />
        </IconButton>
      </span>
      {isChanged && view.editable && (!view.shared || may('views.share')) && (
        <Button
          busy={update.isPending}
          onClick={() =>
            update.mutate(
              { path: { account, view: view.id }, body: { search: viewSearchOf(search) } },
              {
                onSuccess: () => toast({ text: `Updated ${view.name}.` }),
                onError: ({ message }) => toast({ tone: 'bad', text: message }),
              },
            )
          }
        >
          Update view
        </Button>
      )}
      {isChanged && (
        <Button kind="quiet" onClick={() => change(showView(view))}>
          Undo changes
        </Button>
      )}
    </div>
  );
}

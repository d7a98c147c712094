/** Lists the saved views: to show one, and to change, pin and delete them. Loaded when it is first opened. */
import { Pin } from 'lucide-react';
import { useState } from 'react';
import { useAction, useReply } from '../../../lib/queries.ts';
import { useAccount } from '../../../lib/session.ts';
import { useFilters } from '../../../route/route.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { classNames } from '../../../ui/class-names.ts';
import { Confirm, Dialog } from '../../../ui/dialog.tsx';
import { ErrorNote } from '../../../ui/error-note.tsx';
import { MenuItem, MenuLine } from '../../../ui/menu.tsx';
import { SkeletonRows } from '../../../ui/page.tsx';
import { RowMenu } from '../../../ui/table/row-menu.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { isModified, type SavedView, showView, VIEW_ID, viewSearchOf, viewText } from './saved-view.ts';
import { VIEW_LISTS, ViewForm } from './view-form.tsx';

type Layer = { readonly kind: 'save' } | { readonly kind: 'edit' | 'delete'; readonly view: SavedView };

export default function ViewsDialog({ onClose }: { readonly onClose: () => void }) {
  const { account } = useAccount();
  const [search, change] = useFilters();
  const { data, error, refetch } = useReply('GET /accounts/{account}/views', { path: { account } });
  const [layer, setLayer] = useState<Layer | null>(null);
  const closeLayer = () => setLayer(null);
  const views = data?.views ?? [];
  return (
    <>
      <Dialog
        title="Saved views"
        lead="A view keeps a query with its filters, range, columns and order."
        onClose={onClose}
        footer={
          <Button kind="primary" onClick={() => setLayer({ kind: 'save' })}>
            Save this page as view…
          </Button>
        }
      >
        {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && <SkeletonRows rows={3} />}
        {data !== undefined && views.length === 0 && (
          <p className="text-ink-2">No views yet. Filter and sort the list as you need it, then save it here.</p>
        )}
        {views.length > 0 && (
          <ul aria-label="Saved views" className="-mx-2 flex flex-col">
            {views.map((view) => (
              <ViewRow
                key={view.id}
                view={view}
                isShown={search[VIEW_ID] === view.id}
                isPinned={data?.pinned === view.id}
                onShow={() => {
                  change(showView(view));
                  onClose();
                }}
                onLayer={setLayer}
              />
            ))}
          </ul>
        )}
      </Dialog>
      {layer?.kind === 'save' && (
        <ViewForm
          view={null}
          search={viewSearchOf(search)}
          onSaved={(id) => {
            change({ [VIEW_ID]: id });
            onClose();
          }}
          onClose={closeLayer}
        />
      )}
      {layer?.kind === 'edit' && (
        <ViewForm view={layer.view} search={layer.view.search} onSaved={closeLayer} onClose={closeLayer} />
      )}
      {layer?.kind === 'delete' && (
        <DeleteView
          view={layer.view}
          onDeleted={() => search[VIEW_ID] === layer.view.id && change(showView(null))}
          onClose={closeLayer}
        />
      )}
    </>
  );
}

interface ViewRowProps {
  readonly view: SavedView;
  readonly isShown: boolean;
  readonly isPinned: boolean;
  readonly onShow: () => void;
  readonly onLayer: (layer: Layer) => void;
}

function ViewRow({ view, isShown, isPinned, onShow, onLayer }: ViewRowProps) {
  const { account } = useAccount();
  const [search] = useFilters();
  const pin = useAction('PUT /accounts/{account}/pinned-view', VIEW_LISTS);
  const change = useAction('PATCH /accounts/{account}/views/{view}', VIEW_LISTS);
  const onError = ({ message }: Error) => toast({ tone: 'bad', text: message });
  const isChanged = isModified(search, view);
  return (
    <li className={classNames('flex items-center gap-1 rounded-sm pr-1 hover:bg-hover', isShown && 'bg-accent-soft')}>
      <button
        type="button"
        aria-current={isShown ? 'true' : undefined}
        onClick={onShow}
        className="flex min-w-0 flex-1 flex-col gap-0.5 px-2 py-1.5 text-left"
      >
        <span className="flex max-w-full items-center gap-1.5">
          <span className="truncate font-medium" title={view.name}>
            {view.name}
          </span>
          {view.shared && <Badge>Shared</Badge>}
          {isPinned && (
            <Badge tone="accent">
              <Pin size={11} aria-hidden="true" />
              Home
            </Badge>
          )}
        </span>
        <span className="max-w-full truncate text-sm text-ink-2">{viewText(view.search)}</span>
      </button>
      <RowMenu name={view.name}>
        <MenuItem
          onSelect={() =>
            pin.mutate(
              { path: { account }, body: { view: isPinned ? null : view.id } },
              {
                onSuccess: () =>
                  toast({ text: isPinned ? `Home no longer shows ${view.name}.` : `Home shows ${view.name}.` }),
                onError,
              },
            )
          }
        >
          {isPinned ? 'Unpin from Home' : 'Pin to Home'}
        </MenuItem>
        {view.editable && (
          <>
            <MenuLine />
            <MenuItem onSelect={() => onLayer({ kind: 'edit', view })}>Edit…</MenuItem>
            <MenuItem
              disabled={!isChanged}
              onSelect={() =>
                change.mutate(
                  { path: { account, view: view.id }, body: { search: viewSearchOf(search) } },
                  { onSuccess: () => toast({ text: `Replaced ${view.name} by this page.` }), onError },
                )
              }
            >
              Replace by this page
            </MenuItem>
            <MenuLine />
            <MenuItem danger onSelect={() => onLayer({ kind: 'delete', view })}>
              Delete…
            </MenuItem>
          </>
        )}
      </RowMenu>
    </li>
  );
}

interface DeleteViewProps {
  readonly view: SavedView;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

function DeleteView({ view, onDeleted, onClose }: DeleteViewProps) {
  const { account } = useAccount();
  const remove = useAction('DELETE /accounts/{account}/views/{view}', VIEW_LISTS);
  const onSuccess = () => {
    toast({ text: `Deleted ${view.name}.` });
    onDeleted();
    onClose();
  };
  return (
    <Confirm
      title={`Delete ${view.name}?`}
      submitLabel="Delete view"
      busy={remove.isPending}
      error={remove.error}
      onAction={() => remove.mutate({ path: { account, view: view.id } }, { onSuccess })}
      onClose={onClose}
    >
      <p>
        {view.shared
          ? 'Everyone in this account loses the view. Requests and links to them stay.'
          : 'Requests and links to them stay.'}
      </p>
    </Confirm>
  );
}

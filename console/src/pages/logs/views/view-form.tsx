/** Asks for the name of a saved view and who may use it: for a new view, and for an existing one. */
import { useState } from 'react';
import { useAction } from '../../../lib/queries.ts';
import { useAccount } from '../../../lib/session.ts';
import { memberError } from '../../../ui/error-note.tsx';
import { CheckField, TextField } from '../../../ui/field.tsx';
import { FormDialog } from '../../../ui/form.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { type SavedView, viewText } from './saved-view.ts';

export const VIEW_LISTS = ['GET /accounts/{account}/views', 'GET /accounts/{account}/home'] as const;

interface ViewFormProps {
  /** Null: a new view with `search`. */
  readonly view: SavedView | null;
  readonly search: SavedView['search'];
  readonly onSaved: (id: string) => void;
  readonly onClose: () => void;
}

export function ViewForm({ view, search, onSaved, onClose }: ViewFormProps) {
  const { account, may } = useAccount();
  const [name, setName] = useState(view?.name ?? '');
  const [shared, setShared] = useState(view?.shared ?? false);
  const create = useAction('POST /accounts/{account}/views', VIEW_LISTS);
  const change = useAction('PATCH /accounts/{account}/views/{view}', VIEW_LISTS);
  const error = create.error ?? change.error;
  const save = () => {
    const onSuccess = ({ id }: { readonly id: string }) => {
      toast({ text: view === null ? `Saved ${name.trim()}.` : `Changed ${name.trim()}.` });
      onSaved(id);
    };
    if (view === null) create.mutate({ path: { account }, body: { name, shared, search } }, { onSuccess });
    else change.mutate({ path: { account, view: view.id }, body: { name, shared } }, { onSuccess });
  };
  return (
    <FormDialog
      title={view === null ? 'Save view' : `Edit ${view.name}`}
      label={view === null ? 'Save view' : 'Edit view'}
      lead={
        view === null
          ? 'Keeps the query, filters, range, columns and order of this page.'
          : 'What the view lists stays as it is.'
      }
      submitLabel={view === null ? 'Save view' : 'Save changes'}
      busy={create.isPending || change.isPending}
      error={error}
      members={['name']}
      onSubmit={save}
      onClose={onClose}
    >
      <TextField
        label="Name"
        required
        maxLength={100}
        value={name}
        error={memberError(error, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
      {(may('views.share') || shared) && (
        <CheckField
          label="Share with everyone in this account"
          hint="Others see the view, and in it only requests that they may see."
          checked={shared}
          onChange={(event) => setShared(event.target.checked)}
        />
      )}
      {view === null && <p className="truncate font-mono text-ink-2">{viewText(search)}</p>}
    </FormDialog>
  );
}

/** Renders the dialog that creates an account, for operators. */
import { useState } from 'react';
import { useAct } from '../../lib/queries.ts';
import { memberError } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { type Account, MONEY_READS, proposeId } from './account.ts';

export function CreateAccount({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [typedId, setTypedId] = useState<string | null>(null);
  const [mode, setMode] = useState<Account['mode']>('prepaid');
  const create = useAct('POST /accounts', [...MONEY_READS, 'GET /session']);
  const id = typedId ?? proposeId(name);
  return (
    <FormDialog
      title="Create account"
      lead="A separate customer or company with its own members, API keys, limits and ledger."
      label="New account"
      act="Create account"
      busy={create.isPending}
      error={create.error}
      members={['name', 'id']}
      onSubmit={() => create.mutate({ body: { name, id: id.trim(), mode } }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Shown in the console. You can change it in Settings."
        autoComplete="off"
        value={name}
        error={memberError(create.error, 'name')}
        onChange={({ target }) => setName(target.value)}
      />
      <TextField
        label="Account ID"
        hint="Lowercase letters, digits, hyphens and underscores. Used in records, statements and commands; can’t be changed."
        autoComplete="off"
        spellCheck={false}
        value={id}
        error={memberError(create.error, 'id')}
        onChange={({ target }) => setTypedId(target.value)}
      />
      <Segmented
        label="Billing mode"
        value={mode}
        choices={[
          ['prepaid', 'Prepaid'],
          ['postpaid', 'Postpaid'],
        ]}
        onChoose={setMode}
      />
    </FormDialog>
  );
}

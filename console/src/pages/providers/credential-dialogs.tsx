/** Adds a credential to the pool of a provider, changes its settings, and replaces its secret. */
import { useState } from 'react';
import type { ApiError } from '../../lib/api.ts';
import { useAction } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { changesOf, isEmpty } from '../../policy/read.ts';
import { memberError } from '../../ui/error-note.tsx';
import { TextAreaField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { toast } from '../../ui/toasts.tsx';
import {
  type CredentialFields,
  type CredentialView,
  fieldsOf,
  NEW_FIELDS,
  parseSettings,
  TOUCHES,
  weightError,
} from './credential-form.ts';
import { type Entered, filledIn, type Kind, membersOf, SecretFields } from './provider-fields.tsx';
import { freeName } from './provider-form.ts';

interface SettingFieldsProps {
  readonly fields: CredentialFields;
  readonly error: ApiError | null;
  readonly onChange: (fields: CredentialFields) => void;
}

function SettingFields({ fields, error, onChange }: SettingFieldsProps) {
  return (
    <>
      <TextField
        label="Weight"
        inputMode="numeric"
        hint="Share of new conversations. 0: only when no other credential can be used."
        value={fields.weight}
        error={weightError(fields.weight) ?? memberError(error, 'weight')}
        errorStays={weightError(fields.weight) !== null}
        onChange={(event) => onChange({ ...fields, weight: event.target.value })}
      />
      <TextField
        label="Organization"
        hint="Credentials of one organization share rate limits and prompt caches. Leave blank if the provider has only one."
        value={fields.organisation}
        error={memberError(error, 'organisation')}
        onChange={(event) => onChange({ ...fields, organisation: event.target.value })}
      />
      <TextAreaField
        label="Models"
        rows={3}
        spellCheck={false}
        hint="The provider’s model names, one per line. Leave blank for all."
        value={fields.models}
        error={memberError(error, 'models')}
        onChange={(event) => onChange({ ...fields, models: event.target.value })}
      />
    </>
  );
}

const SETTINGS = ['weight', 'organisation', 'models'] as const;

interface AddCredentialProps {
  readonly provider: string;
  readonly kind: Kind | undefined;
  readonly taken: readonly string[];
  readonly onClose: () => void;
}

export function AddCredential({ provider, kind, taken, onClose }: AddCredentialProps) {
  const { account } = useAccount();
  const [name, setName] = useState(() => freeName('key', taken));
  const [secrets, setSecrets] = useState<Entered>({});
  const [fields, setFields] = useState(NEW_FIELDS);
  const add = useAction('POST /accounts/{account}/providers/{provider}/credentials', TOUCHES);
  const takenError = taken.includes(name) ? 'A credential with this name already exists.' : null;
  const submit = () => {
    if (takenError !== null || weightError(fields.weight) !== null) return;
    add.mutate(
      { path: { account, provider }, body: { name, secrets: filledIn(secrets), ...parseSettings(fields) } },
      {
        onSuccess: () => {
          toast({ text: `Added ${name} to ${provider}. New conversations use it.`, tone: 'good' });
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog
      title={`Add credential to ${provider}`}
      label="Credential"
      submitLabel="Add credential"
      busy={add.isPending}
      error={add.error}
      members={['name', 'secrets', ...SETTINGS, ...membersOf(kind?.secrets ?? [], 'secrets')]}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        error={takenError ?? memberError(add.error, 'name')}
        errorStays={takenError !== null}
        onChange={(event) => setName(event.target.value)}
      />
      <SecretFields
        kind={kind}
        member="secrets"
        entered={secrets}
        error={add.error}
        hint="Encrypted; can’t be viewed again."
        onChange={setSecrets}
      />
      <SettingFields fields={fields} error={add.error} onChange={setFields} />
    </FormDialog>
  );
}

interface CredentialDialogProps {
  readonly provider: string;
  readonly credential: CredentialView;
  readonly onClose: () => void;
}

export function EditCredential({ provider, credential, onClose }: CredentialDialogProps) {
  const { account } = useAccount();
  // A snapshot: others may change the credential while this form is open.
  const [{ weight, organisation, models }] = useState(credential);
  const opened = { weight, organisation, models };
  const [fields, setFields] = useState(() => fieldsOf(opened));
  const change = useAction('PATCH /accounts/{account}/providers/{provider}/credentials/{credential}', TOUCHES);
  const submit = () => {
    if (weightError(fields.weight) !== null) return;
    const body = changesOf(opened, parseSettings(fields));
    if (isEmpty(body)) return onClose();
    change.mutate(
      { path: { account, provider, credential: credential.name }, body },
      {
        onSuccess: () => {
          toast({ text: `Changed ${credential.name} of ${provider}.`, tone: 'good' });
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog
      title={`Edit ${credential.name}`}
      label="Credential"
      submitLabel="Save changes"
      busy={change.isPending}
      error={change.error}
      members={SETTINGS}
      onSubmit={submit}
      onClose={onClose}
    >
      <SettingFields fields={fields} error={change.error} onChange={setFields} />
    </FormDialog>
  );
}

export function ReplaceSecrets({
  provider,
  credential,
  kind,
  onClose,
}: CredentialDialogProps & { readonly kind: Kind | undefined }) {
  const { account } = useAccount();
  const [secrets, setSecrets] = useState<Entered>({});
  const change = useAction('POST /accounts/{account}/providers/{provider}/credentials/{credential}/replace', TOUCHES);
  const submit = () => {
    change.mutate(
      { path: { account, provider, credential: credential.name }, body: { secrets: filledIn(secrets) } },
      {
        onSuccess: () => {
          toast({ text: `Replaced the secret of ${credential.name}. Applies from the next request.`, tone: 'good' });
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog
      title={`Replace secret of ${credential.name}`}
      label="Secret"
      submitLabel="Replace secret"
      busy={change.isPending}
      error={change.error}
      members={['secrets', ...membersOf(kind?.secrets ?? [], 'secrets')]}
      onSubmit={submit}
      onClose={onClose}
    >
      <SecretFields
        kind={kind}
        member="secrets"
        entered={secrets}
        error={change.error}
        hint={`Replaces …${credential.last4 ?? ''} from the next request.`}
        onChange={setSecrets}
      />
    </FormDialog>
  );
}

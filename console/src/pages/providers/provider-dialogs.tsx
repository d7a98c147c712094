/** Adds a provider and tests it. Secrets are sent and not kept. */
import { useState } from 'react';
import { useAction } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { memberError } from '../../ui/error-note.tsx';
import { SelectField, TextAreaField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { toast } from '../../ui/toasts.tsx';
import {
  bodyOf,
  type Kind,
  membersOfProvider,
  NO_TEXTS,
  ProviderFields,
  type ProviderTexts,
} from './provider-fields.tsx';
import { freeName, kindOfSecret, parseModelLines, TOUCHES } from './provider-form.ts';
import { linesError, MODELS_HINT } from './provider-models.tsx';

interface AddProviderProps {
  readonly kinds: readonly Kind[];
  readonly taken: readonly string[];
  readonly onClose: () => void;
}

export function AddProvider({ kinds, taken, onClose }: AddProviderProps) {
  const { account } = useAccount();
  const [kind, setKind] = useState(kinds[0]);
  const [isKindChosen, setKindChosen] = useState(false);
  const [name, setName] = useState(() => freeName(kinds[0]?.kind ?? '', taken));
  const [texts, setTexts] = useState(NO_TEXTS);
  const [models, setModels] = useState('');
  const add = useAction('POST /accounts/{account}/providers', TOUCHES);
  const test = useAction('POST /accounts/{account}/providers/{provider}/test', [TOUCHES[0]]);
  const { error } = add;
  const takenError = taken.includes(name) ? 'A provider with this name already exists.' : null;
  // The dialog is closed by then.
  const testAdded = async () => {
    try {
      const { ok, message } = await test.mutateAsync({ path: { account, provider: name }, body: {} });
      toast({ text: `Added ${name}. ${message}`, tone: ok ? 'good' : 'bad' });
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      toast({ text: `Added ${name}, but couldn’t test it: ${reason}`, tone: 'bad' });
    }
  };
  const changeKind = (next: Kind | undefined) => {
    setKind(next);
    // An entered name stays.
    if (name === freeName(kind?.kind ?? '', taken)) setName(freeName(next?.kind ?? '', taken));
  };
  const changeTexts = (next: ProviderTexts) => {
    setTexts(next);
    if (isKindChosen) return;
    const named = kindOfSecret(next.secrets.api_key ?? '');
    const found = kinds.find((one) => one.kind === named);
    if (found !== undefined && found !== kind) changeKind(found);
  };
  const submit = () => {
    if (kind === undefined || takenError !== null || linesError(models) !== null) return;
    const body = {
      name,
      kind: kind.kind,
      ...bodyOf(texts),
      models: [...parseModelLines(models).models],
    };
    add.mutate(
      { path: { account }, body },
      {
        onSuccess: () => {
          onClose();
          void testAdded();
        },
      },
    );
  };
  return (
    <FormDialog
      title="Add provider"
      label="Provider"
      submitLabel="Add and test"
      busy={add.isPending}
      error={error}
      members={['kind', 'name', 'models', ...membersOfProvider(kind)]}
      onSubmit={submit}
      onClose={onClose}
    >
      <div className="grid gap-3 sm:grid-cols-[3fr_2fr]">
        <SelectField
          label="Type"
          value={kind?.kind ?? ''}
          error={memberError(error, 'kind')}
          onChange={(event) => {
            setKindChosen(true);
            changeKind(kinds.find((one) => one.kind === event.target.value));
            setTexts({ ...NO_TEXTS, baseUrl: texts.baseUrl });
          }}
        >
          {kinds.map((one) => (
            <option key={one.kind} value={one.kind}>
              {one.name}
            </option>
          ))}
        </SelectField>
        <TextField
          label="Name"
          value={name}
          error={takenError ?? memberError(error, 'name')}
          errorStays={takenError !== null}
          onChange={(event) => setName(event.target.value)}
        />
      </div>
      <ProviderFields
        kind={kind}
        texts={texts}
        address={null}
        secretsHint={secretsHint(kind)}
        error={error}
        onChange={changeTexts}
      />
      <TextAreaField
        label="Models"
        rows={5}
        spellCheck={false}
        hint={MODELS_HINT}
        value={models}
        error={linesError(models) ?? memberError(error, 'models')}
        errorStays={linesError(models) !== null}
        onChange={(event) => setModels(event.target.value)}
      />
    </FormDialog>
  );
}

/** A kind with an address of its own, or with several secrets, says itself what it needs. */
function secretsHint(kind: Kind | undefined): string {
  const mayNeedNone = kind?.base_url === null && kind.secrets.length === 1;
  return `Encrypted; can’t be viewed again.${mayNeedNone ? ' Leave blank if the provider needs none.' : ''}`;
}

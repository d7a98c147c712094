/** Adds a provider, and replaces the models of one. Secrets are sent and not kept. */
import { useState } from 'react';
import type { ApiError } from '../../lib/api.ts';
import { useAction, useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote, memberError } from '../../ui/error-note.tsx';
import { SelectField, TextAreaField, TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toasts.tsx';
import { freeName, type ProvidersReply, type ProviderView, parseModelLines } from './provider-form.ts';

type Kind = ProvidersReply['kinds'][number];

const TOUCHES = ['GET /accounts/{account}/providers', 'GET /accounts/{account}/models'] as const;
export type Secrets = Readonly<Record<string, string>>;

/** The secrets that were filled in. */
export function filledIn(secrets: Secrets): Record<string, string> {
  const trimmed = Object.entries(secrets).map(([name, text]) => [name, text.trim()] as const);
  return Object.fromEntries(trimmed.filter(([, text]) => text !== ''));
}

interface SecretFieldsProps {
  readonly kind: Kind | undefined;
  /** The member of the body that has the secrets. */
  readonly member: string;
  readonly secrets: Secrets;
  readonly error: ApiError | null;
  readonly hint: string;
  readonly onChange: (secrets: Secrets) => void;
}

/** One field per secret of the kind. */
export function SecretFields({ kind, member, secrets, error, hint, onChange }: SecretFieldsProps) {
  return (kind?.secrets ?? []).map(({ name, title }) => (
    <TextField
      key={name}
      label={title}
      type="password"
      autoComplete="off"
      spellCheck={false}
      hint={hint}
      value={secrets[name] ?? ''}
      error={memberError(error, `${member}.${name}`)}
      onChange={(event) => onChange({ ...secrets, [name]: event.target.value })}
    />
  ));
}

const MODELS_HINT = 'One per line: the provider’s model name, or “public name = provider’s name”.';

function linesError(text: string): string | null {
  const { fault } = parseModelLines(text);
  return fault === null ? null : `Line ${fault.line}: ${fault.text}.`;
}

interface AddProviderProps {
  readonly kinds: readonly Kind[];
  readonly taken: readonly string[];
  readonly onClose: () => void;
}

export function AddProvider({ kinds, taken, onClose }: AddProviderProps) {
  const { account } = useAccount();
  const [kind, setKind] = useState(kinds[0]);
  const [name, setName] = useState(() => freeName(kinds[0]?.kind ?? '', taken));
  const [baseUrl, setBaseUrl] = useState('');
  const [secrets, setSecrets] = useState<Secrets>({});
  const [models, setModels] = useState('');
  const add = useAction('POST /accounts/{account}/providers', TOUCHES);
  const error = add.error;
  const needsUrl = kind?.base_url === null;
  const canSend = kind !== undefined && name !== '' && (!needsUrl || baseUrl !== '') && linesError(models) === null;
  const submit = () => {
    if (!canSend) return;
    add.mutate(
      {
        path: { account },
        body: {
          name,
          kind: kind.kind,
          base_url: baseUrl.trim() === '' ? null : baseUrl.trim(),
          credentials: filledIn(secrets),
          models: [...parseModelLines(models).models],
        },
      },
      {
        onSuccess: () => {
          toast({ text: `Added ${name}. Test it to check its credential.`, tone: 'good' });
          onClose();
        },
      },
    );
  };
  return (
    <Dialog
      title="Add provider"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={add.isPending} disabled={!canSend} onClick={submit}>
            Add provider
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-3"
        autoComplete="off"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <div className="grid gap-3 sm:grid-cols-2">
          <SelectField
            label="Type"
            value={kind?.kind ?? ''}
            error={memberError(error, 'kind')}
            onChange={(event) => {
              const next = kinds.find((one) => one.kind === event.target.value);
              setKind(next);
              setSecrets({});
              setName(freeName(event.target.value, taken));
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
            error={
              memberError(error, 'name') ?? (taken.includes(name) ? 'A provider with this name already exists.' : null)
            }
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <TextField
          label="Base URL"
          type="url"
          placeholder={kind?.base_url ?? 'https://host.example/v1'}
          hint={
            needsUrl
              ? 'Must use HTTPS. Private addresses must be allowed in the configuration file.'
              : 'Leave blank for the default.'
          }
          value={baseUrl}
          error={memberError(error, 'base_url')}
          onChange={(event) => setBaseUrl(event.target.value)}
        />
        <SecretFields
          kind={kind}
          member="credentials"
          secrets={secrets}
          error={error}
          hint="Encrypted; can’t be viewed again. Leave blank if the provider needs none."
          onChange={setSecrets}
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
        {error !== null && <ErrorNote error={error} />}
        <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
      </form>
    </Dialog>
  );
}

interface ReplaceProps {
  readonly provider: ProviderView;
  readonly onClose: () => void;
}

export function ReplaceModels({ provider, onClose }: ReplaceProps) {
  const { account } = useAccount();
  const [lines, setLines] = useState<string | null>(null);
  const known = useServed(provider.name);
  const change = useAction('PATCH /accounts/{account}/providers/{provider}', TOUCHES);
  const text = lines ?? known ?? '';
  const submit = () =>
    change.mutate(
      { path: { account, provider: provider.name }, body: { models: [...parseModelLines(text).models] } },
      {
        onSuccess: () => {
          toast({ text: `Replaced the models of ${provider.name}.`, tone: 'good' });
          onClose();
        },
      },
    );
  return (
    <Dialog
      title={`Replace models of ${provider.name}`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            busy={change.isPending}
            disabled={known === null || linesError(text) !== null}
            onClick={submit}
          >
            Replace models
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextAreaField
          label="Models"
          rows={10}
          spellCheck={false}
          disabled={known === null}
          hint={`${MODELS_HINT} Models not listed become unavailable.`}
          value={text}
          error={linesError(text) ?? memberError(change.error, 'models')}
          errorStays={linesError(text) !== null}
          onChange={(event) => setLines(event.target.value)}
        />
        {change.error !== null && <ErrorNote error={change.error} />}
      </form>
    </Dialog>
  );
}

/** The model lines that the provider serves now; null until loaded. */
function useServed(provider: string): string | null {
  const { account } = useAccount();
  const { data } = useReply('GET /accounts/{account}/models', { path: { account } });
  if (data === undefined) return null;
  return data.models
    .flatMap(({ name, targets }) =>
      targets
        .filter((target) => target.provider === provider)
        .map(({ model }) => (model === name ? name : `${name} = ${model}`)),
    )
    .join('\n');
}

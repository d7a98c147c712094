/** Replaces the models of a provider, with those that it offers at hand. */
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { counted } from '../../lib/format.ts';
import { useAction } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote, memberError } from '../../ui/error-note.tsx';
import { TextAreaField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { toast } from '../../ui/toasts.tsx';
import { type ProviderView, parseModelLines, renderModelLines, TOUCHES } from './provider-form.ts';

export const MODELS_HINT = 'One per line: the provider’s model name, or “public name = provider’s name”.';

/** Why the lines cannot be used; null: they can. */
export function linesError(text: string): string | null {
  const { fault } = parseModelLines(text);
  return fault === null ? null : `Line ${fault.line}: ${fault.text}.`;
}

interface ReplaceProps {
  readonly provider: ProviderView;
  readonly onClose: () => void;
}

export function ReplaceModels({ provider, onClose }: ReplaceProps) {
  const { account } = useAccount();
  const [text, setText] = useState(() => renderModelLines(provider.entered_models));
  const change = useAction('PATCH /accounts/{account}/providers/{provider}', TOUCHES);
  const submit = () => {
    if (linesError(text) !== null) return;
    change.mutate(
      { path: { account, provider: provider.name }, body: { models: [...parseModelLines(text).models] } },
      {
        onSuccess: () => {
          toast({ text: `Replaced the models of ${provider.name}.`, tone: 'good' });
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog
      title={`Replace models of ${provider.name}`}
      label="Models"
      submitLabel="Replace models"
      busy={change.isPending}
      error={change.error}
      members={['models']}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextAreaField
        label="Models"
        rows={10}
        spellCheck={false}
        hint={`${MODELS_HINT} Models not listed become unavailable; with none, those that the catalog lists are served.`}
        value={text}
        error={linesError(text) ?? memberError(change.error, 'models')}
        errorStays={linesError(text) !== null}
        onChange={(event) => setText(event.target.value)}
      />
      <OfferedModels
        provider={provider.name}
        served={parseModelLines(text).models.map(({ upstream }) => upstream)}
        onAdd={(model) => setText(text.trim() === '' ? model : `${text.trimEnd()}\n${model}`)}
      />
    </FormDialog>
  );
}

interface OfferedProps {
  readonly provider: string;
  /** Names at the provider. */
  readonly served: readonly string[];
  readonly onAdd: (model: string) => void;
}

/** More are found by the filter. */
const SHOWN_MAX = 24;

/** Asks the provider for its models, which is also its test, and offers those that are not served yet. */
function OfferedModels({ provider, served, onAdd }: OfferedProps) {
  const { account } = useAccount();
  const [filter, setFilter] = useState('');
  const test = useAction('POST /accounts/{account}/providers/{provider}/test', [TOUCHES[0]]);
  const { data, error } = test;
  if (data?.ok !== true) {
    return (
      <div className="flex flex-col items-start gap-2">
        <Button busy={test.isPending} onClick={() => test.mutate({ path: { account, provider }, body: {} })}>
          List the provider’s models
        </Button>
        {data !== undefined && <p className="text-sm text-red">{data.message}</p>}
        {error !== null && <ErrorNote error={error} />}
      </div>
    );
  }
  const offered = data.models.filter((model) => !served.includes(model));
  const found = offered.filter((model) => model.toLowerCase().includes(filter.trim().toLowerCase()));
  const more = found.length - SHOWN_MAX;
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 font-medium">Offered by {provider}</legend>
      {offered.length === 0 && <p className="text-ink-2">All models that it offers are listed.</p>}
      {offered.length > SHOWN_MAX && (
        <TextField label="Filter" type="search" value={filter} onChange={(event) => setFilter(event.target.value)} />
      )}
      <ul className="flex flex-wrap gap-1.5">
        {found.slice(0, SHOWN_MAX).map((model) => (
          <li key={model} className="min-w-0 max-w-full">
            <Button
              icon={<Plus size={14} aria-hidden="true" className="shrink-0" />}
              className="max-w-full"
              aria-label={`Add ${model}`}
              onClick={() => onAdd(model)}
            >
              <span className="truncate">{model}</span>
            </Button>
          </li>
        ))}
      </ul>
      {more > 0 && <p className="text-sm text-ink-3">And {counted(more, 'more model')}.</p>}
    </fieldset>
  );
}

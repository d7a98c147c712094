/** Replaces the models of a provider. */
import { useState } from 'react';
import { useAction } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { memberError } from '../../ui/error-note.tsx';
import { TextAreaField } from '../../ui/field.tsx';
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
  // A snapshot: others may change the provider while this form is open.
  const [before] = useState({ models: provider.entered_models });
  const [text, setText] = useState(() => renderModelLines(before.models));
  const change = useAction('PATCH /accounts/{account}/providers/{provider}', TOUCHES);
  const submit = () => {
    if (linesError(text) !== null) return;
    change.mutate(
      { path: { account, provider: provider.name }, body: { models: [...parseModelLines(text).models], before } },
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
    </FormDialog>
  );
}

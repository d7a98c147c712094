/** Changes the settings and the address of a provider, and tests them before they are saved. */
import { useState } from 'react';
import { useAction } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { changesOf, isEmpty } from '../../policy/read.ts';
import { Button } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { toast } from '../../ui/toasts.tsx';
import { bodyOf, type Kind, membersOfProvider, ProviderFields, type ProviderTexts } from './provider-fields.tsx';
import { type ProviderView, TOUCHES } from './provider-form.ts';
import { TestResult } from './test-result.tsx';

interface EditProviderProps {
  readonly provider: ProviderView;
  readonly kind: Kind | undefined;
  /** The number of its credentials. */
  readonly credentials: number;
  readonly onClose: () => void;
}

export function EditProvider({ provider, kind, credentials, onClose }: EditProviderProps) {
  const { account } = useAccount();
  const path = { account, provider: provider.name };
  // A snapshot: others may change the provider while this form is open.
  const [opened] = useState({ settings: provider.settings, base_url: provider.entered_base_url });
  const [texts, setTexts] = useState<ProviderTexts>({
    settings: opened.settings,
    secrets: {},
    baseUrl: opened.base_url ?? '',
  });
  const change = useAction('PATCH /accounts/{account}/providers/{provider}', TOUCHES);
  const test = useAction('POST /accounts/{account}/providers/{provider}/test', [TOUCHES[0]]);
  const error = change.error ?? test.error;
  const { settings, base_url, credentials: given } = bodyOf(texts);
  const changes = {
    ...changesOf(opened, { settings, base_url }),
    ...(isEmpty(given) ? {} : { credentials: given }),
  };
  const submit = () => {
    if (isEmpty(changes)) return onClose();
    test.reset();
    change.mutate(
      { path, body: changes },
      {
        onSuccess: () => {
          toast({ text: `Changed ${provider.name}. Applies from the next request.`, tone: 'good' });
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog
      title={`Edit ${provider.name}`}
      label="Provider"
      submitLabel="Save changes"
      busy={change.isPending}
      error={error}
      members={membersOfProvider(kind)}
      extra={
        <>
          <p role="status" className={test.data === undefined ? 'sr-only' : 'basis-full text-sm text-ink-2'}>
            {test.isPending && 'Testing…'}
            {test.data !== undefined && <TestResult {...test.data} at={null} />}
          </p>
          <Button
            className="mr-auto"
            busy={test.isPending}
            onClick={() => {
              change.reset();
              test.mutate({ path, body: changes });
            }}
          >
            {test.isPending ? 'Testing…' : 'Test'}
          </Button>
        </>
      }
      onSubmit={submit}
      onClose={onClose}
    >
      <ProviderFields
        kind={kind}
        texts={texts}
        address={blankAddress(provider, kind, changes.settings !== undefined)}
        secretsHint={secretsHint(provider, credentials)}
        error={error}
        onChange={(entered) => {
          setTexts(entered);
          // The result is that of the fields as they were.
          test.reset();
        }}
      />
    </FormDialog>
  );
}

/** The address while the field is blank; null: the default of the kind; empty: only the gateway knows it. */
function blankAddress(provider: ProviderView, kind: Kind | undefined, isChanged: boolean): string | null {
  if (provider.entered_base_url === null && !isChanged) return provider.base_url;
  return kind?.derives_base_url === true ? '' : null;
}

/** Credentials are only sent to the address that they were entered for. */
function secretsHint({ last4 }: ProviderView, credentials: number): string {
  if (last4 === null) return 'Encrypted; can’t be viewed again.';
  const kept = `Leave blank to keep ${last4 === '' ? 'the current one' : `…${last4}`}. Another address needs it again`;
  return credentials > 1 ? `${kept}, and removes the other credentials.` : `${kept}.`;
}

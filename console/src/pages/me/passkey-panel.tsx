/** Renders the user's passkeys, and adds, renames and removes them. */
import { useMutation } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { ApiError, ask } from '../../lib/api.ts';
import { queryClient, useAction } from '../../lib/queries.ts';
import { canUsePasskeys, createPasskey } from '../../lib/web-authn.ts';
import { When } from '../../ui/amounts.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { ErrorNote, memberError } from '../../ui/error-note.tsx';
import { PasswordField, TextField } from '../../ui/field.tsx';
import { Form, FormDialog } from '../../ui/form.tsx';
import { Panel, Section } from '../../ui/page.tsx';
import { toast } from '../../ui/toasts.tsx';
import { clientName } from './client-name.ts';

type Passkey = Reply<'GET /me'>['passkeys'][number];

interface PasskeyPanelProps {
  readonly passkeys: readonly Passkey[];
  readonly hasPassword: boolean;
  /** Whether the gateway supports passkeys at the address of this page. */
  readonly isServed: boolean;
}

export function PasskeyPanel({ passkeys, hasPassword, isServed }: PasskeyPanelProps) {
  const [adding, setAdding] = useState(false);
  const [renamed, setRenamed] = useState<Passkey | null>(null);
  const [removed, setRemoved] = useState<Passkey | null>(null);
  const can = isServed && canUsePasskeys();
  return (
    <Section title="Passkeys" aside={can ? <Button onClick={() => setAdding(true)}>Add passkey…</Button> : undefined}>
      <Panel>
        {passkeys.length === 0 && (
          <p className="max-w-[72ch] p-4 text-ink-2">
            {can
              ? 'Sign in with your fingerprint, face or a security key instead of a password.'
              : 'Passkeys aren’t available here. They require a supported browser and either HTTPS with a host name or localhost.'}
          </p>
        )}
        {passkeys.length > 0 && (
          <ul className="divide-y divide-line">
            {passkeys.map((passkey) => (
              <li key={passkey.id} className="flex min-h-10 flex-wrap items-center gap-x-3 px-4 py-1.5">
                <span className="min-w-40 flex-1 truncate font-medium">{passkey.name}</span>
                <span className="text-ink-2">
                  Added <When at={passkey.added_at} />
                  {', '}
                  {passkey.used_at === null ? (
                    'never used'
                  ) : (
                    <>
                      last used <When at={passkey.used_at} />
                    </>
                  )}
                </span>
                <div className="ml-auto flex">
                  <Button
                    kind="quiet"
                    aria-label={`Rename passkey ${passkey.name}`}
                    onClick={() => setRenamed(passkey)}
                  >
                    Rename
                  </Button>
                  <Button
                    kind="quiet"
                    aria-label={`Remove passkey ${passkey.name}`}
                    onClick={() => setRemoved(passkey)}
                  >
                    Remove
                  </Button>
                </div>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      {adding && <AddDialog hasPassword={hasPassword} onClose={() => setAdding(false)} />}
      {renamed !== null && <RenamePasskey passkey={renamed} onClose={() => setRenamed(null)} />}
      {removed !== null && <RemovePasskey passkey={removed} onClose={() => setRemoved(null)} />}
    </Section>
  );
}

function AddDialog({ hasPassword, onClose }: { readonly hasPassword: boolean; readonly onClose: () => void }) {
  const form = useId();
  const [name, setName] = useState(clientName(navigator.userAgent));
  const [password, setPassword] = useState('');
  const add = useMutation<void, Error>({
    mutationFn: async () => {
      const options = await ask('POST /me/passkeys/options', { body: { password: hasPassword ? password : null } });
      await ask('POST /me/passkeys', { body: { name, response: await createPasskey(options) } });
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['GET /me'] });
      toast({ text: `Added passkey ${name}.` });
      onClose();
    },
  });
  const refusal = add.error instanceof ApiError ? add.error : null;
  return (
    <Dialog
      title="Add passkey"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={form}
            kind="primary"
            busy={add.isPending}
            disabled={name.trim() === '' || (hasPassword && password === '')}
          >
            Continue
          </Button>
        </>
      }
    >
      <Form id={form} label="Passkey" error={refusal} members={['password']} onSubmit={() => add.mutate()}>
        <TextField
          label="Name"
          hint="Helps you recognize it. Your browser then asks for your fingerprint, face, PIN or security key."
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        {hasPassword && (
          <PasswordField
            label="Password"
            autoComplete="current-password"
            value={password}
            onValue={setPassword}
            error={memberError(refusal, 'password')}
          />
        )}
        {add.error !== null && refusal === null && <ErrorNote error={add.error} />}
      </Form>
    </Dialog>
  );
}

function RenamePasskey({ passkey, onClose }: { readonly passkey: Passkey; readonly onClose: () => void }) {
  const [name, setName] = useState(passkey.name);
  const rename = useAction('PATCH /me/passkeys/{passkey}', ['GET /me']);
  return (
    <FormDialog
      title="Rename passkey"
      label="Passkey"
      submitLabel="Save name"
      busy={rename.isPending}
      error={rename.error}
      members={['name']}
      onSubmit={() => rename.mutate({ path: { passkey: passkey.id }, body: { name } }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Shown here and in the audit log. The name on your device doesn’t change."
        autoComplete="off"
        maxLength={100}
        value={name}
        error={memberError(rename.error, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
    </FormDialog>
  );
}

function RemovePasskey({ passkey, onClose }: { readonly passkey: Passkey; readonly onClose: () => void }) {
  const remove = useAction('DELETE /me/passkeys/{passkey}', ['GET /me']);
  const done = () => {
    toast({ text: `Removed passkey ${passkey.name}.` });
    onClose();
  };
  return (
    <Confirm
      title="Remove passkey?"
      submitLabel="Remove passkey"
      busy={remove.isPending}
      error={remove.error}
      onAction={() => remove.mutate({ path: { passkey: passkey.id } }, { onSuccess: done })}
      onClose={onClose}
    >
      <p>
        You can no longer sign in with <strong>{passkey.name}</strong>. Current sessions stay open. Your device may
        still offer the passkey; remove it there too.
      </p>
    </Confirm>
  );
}

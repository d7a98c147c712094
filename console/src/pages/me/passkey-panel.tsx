/** Owns the passkeys of the own account: those there are, one more, one less. */
import { useMutation } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { Reply } from '../../../../gateway/src/console-api/contract.ts';
import { ask } from '../../lib/api.ts';
import { queryClient, useAct } from '../../lib/queries.ts';
import { canUsePasskeys, makePasskey } from '../../lib/web-authn.ts';
import { When } from '../../ui/amounts.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Panel, Section } from '../../ui/page.tsx';
import { toast } from '../../ui/toasts.tsx';
import { clientName } from './client-name.ts';

type Passkey = Reply<'GET /me'>['passkeys'][number];

export function PasskeyPanel({ passkeys }: { readonly passkeys: readonly Passkey[] }) {
  const [adding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Passkey | null>(null);
  const can = canUsePasskeys();
  return (
    <Section title="Passkeys" aside={can ? <Button onClick={() => setAdding(true)}>Add a passkey…</Button> : undefined}>
      <Panel>
        {passkeys.length === 0 && (
          <p className="max-w-[72ch] p-4 text-ink-2">
            {can
              ? 'A passkey signs you in by fingerprint, face or security key: nothing to type, nothing that can be stolen from here.'
              : 'A passkey signs you in by fingerprint, face or security key. This browser offers none at this address: it takes https, or localhost.'}
          </p>
        )}
        {passkeys.length > 0 && (
          <ul className="divide-y divide-line">
            {passkeys.map((passkey) => (
              <li key={passkey.id} className="flex min-h-10 items-center gap-3 px-4 py-1.5">
                <span className="min-w-0 flex-1 truncate font-medium">{passkey.name}</span>
                <span className="text-ink-2">
                  added <When at={passkey.added_at} />
                </span>
                <Button
                  kind="quiet"
                  aria-label={`Remove the passkey ${passkey.name}`}
                  onClick={() => setRemoved(passkey)}
                >
                  Remove
                </Button>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      {adding && <AddDialog onClose={() => setAdding(false)} />}
      {removed !== null && <RemovePasskey passkey={removed} onClose={() => setRemoved(null)} />}
    </Section>
  );
}

function AddDialog({ onClose }: { readonly onClose: () => void }) {
  const form = useId();
  const [name, setName] = useState(clientName(navigator.userAgent));
  const add = useMutation<void, Error>({
    mutationFn: async () => {
      const options = await ask('POST /me/passkeys/options', { body: {} });
      await ask('POST /me/passkeys', { body: { name, response: await makePasskey(options) } });
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['GET /me'] });
      toast({ text: `The passkey ${name} is added.` });
      onClose();
    },
  });
  return (
    <Dialog
      title="Add a passkey"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} kind="primary" busy={add.isPending} disabled={name.trim() === ''}>
            Ask the browser
          </Button>
        </>
      }
    >
      <Form id={form} label="Passkey" error={null} members={[]} onSubmit={() => add.mutate()}>
        <TextField
          label="Name"
          hint="To tell it from others. The browser then asks for fingerprint, face, PIN or security key."
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        {add.error !== null && <ErrorNote error={add.error} />}
      </Form>
    </Dialog>
  );
}

function RemovePasskey({ passkey, onClose }: { readonly passkey: Passkey; readonly onClose: () => void }) {
  const remove = useAct('DELETE /me/passkeys/{passkey}', ['GET /me']);
  const done = () => {
    toast({ text: `The passkey ${passkey.name} is removed.` });
    onClose();
  };
  return (
    <Confirm
      title="Remove the passkey?"
      act="Remove"
      busy={remove.isPending}
      error={remove.error}
      onAct={() => remove.mutate({ path: { passkey: passkey.id } }, { onSuccess: done })}
      onClose={onClose}
    >
      <p>
        <strong>{passkey.name}</strong> signs you in no more. Sessions that it began go on until they are ended. The
        device may still offer it; remove it there too.
      </p>
    </Confirm>
  );
}

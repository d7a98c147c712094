/** Shows whether the second factor is on, and turns it off. `second-factor-dialog.tsx` sets it up. */
import { useState } from 'react';
import { useAct } from '../../lib/queries.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { memberError } from '../../ui/error-note.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Panel, Section } from '../../ui/page.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { toast } from '../../ui/toasts.tsx';
import { SecondFactorDialog } from './second-factor-dialog.tsx';

export function SecondFactorPanel({ isOn }: { readonly isOn: boolean }) {
  const [open, setOpen] = useState<'setup' | 'remove' | null>(null);
  const close = () => setOpen(null);
  return (
    <Section title="Second factor" aside={<Badge tone={isOn ? 'good' : 'neutral'}>{isOn ? 'on' : 'off'}</Badge>}>
      <Panel className="flex flex-wrap items-center justify-between gap-3 p-4">
        <p className="max-w-[60ch] text-ink-2">
          {isOn
            ? 'Signing in by password asks for a code of your authenticator app as well.'
            : 'An authenticator app on your phone shows a new code every 30 seconds. With it, a stolen password opens nothing.'}
        </p>
        {isOn ? (
          <Button kind="danger" onClick={() => setOpen('remove')}>
            Turn off…
          </Button>
        ) : (
          <Button onClick={() => setOpen('setup')}>Set up…</Button>
        )}
      </Panel>
      {open === 'setup' && <SecondFactorDialog onClose={close} />}
      {open === 'remove' && <RemoveDialog onClose={close} />}
    </Section>
  );
}

function RemoveDialog({ onClose }: { readonly onClose: () => void }) {
  const [password, setPassword] = useState('');
  const remove = useAct('POST /me/totp/remove', ['GET /me']);
  const done = () => {
    toast({ text: 'The second factor is off.' });
    onClose();
  };
  return (
    <FormDialog
      title="Turn the second factor off?"
      label="Turn off"
      act="Turn off"
      kind="danger"
      busy={remove.isPending}
      error={remove.error}
      members={['password']}
      onSubmit={() => remove.mutate({ body: { password } }, { onSuccess: done })}
      onClose={onClose}
    >
      <p className="text-read">
        From then on your password alone lets in whoever has it. The recovery codes end with it.
      </p>
      <PasswordField
        label="Password"
        autoComplete="current-password"
        value={password}
        onValue={setPassword}
        error={memberError(remove.error, 'password')}
      />
    </FormDialog>
  );
}

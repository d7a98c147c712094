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
    <Section
      title="Two-factor authentication"
      aside={<Badge tone={isOn ? 'good' : 'neutral'}>{isOn ? 'On' : 'Off'}</Badge>}
    >
      <Panel className="flex flex-wrap items-center justify-between gap-3 p-4">
        <p className="max-w-[60ch] text-ink-2">
          {isOn
            ? 'Signing in with your password also requires a code from your authenticator app.'
            : 'Require a code from an authenticator app in addition to your password.'}
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
    toast({ text: 'Turned off two-factor authentication.' });
    onClose();
  };
  return (
    <FormDialog
      title="Turn off two-factor authentication?"
      label="Turn off"
      act="Turn off"
      kind="danger"
      busy={remove.isPending}
      error={remove.error}
      members={['password']}
      onSubmit={() => remove.mutate({ body: { password } }, { onSuccess: done })}
      onClose={onClose}
    >
      <p className="text-read">You’ll sign in with your password only. Your recovery codes stop working.</p>
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

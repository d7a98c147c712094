/** Sets up a second factor: password, then the secret for the app with its first code, then the recovery codes. */
import { useState } from 'react';
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { useAct } from '../../lib/queries.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { memberError } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { Qr } from './qr.tsx';
import { grouped } from './grouped.ts';

type Enrolment = Reply<'POST /me/totp'>;

export function SecondFactorDialog({ onClose }: { readonly onClose: () => void }) {
  const [password, setPassword] = useState('');
  const [isOn, setIsOn] = useState(false);
  const start = useAct('POST /me/totp');
  if (isOn && start.data !== undefined) return <RecoveryCodes codes={start.data.recovery_codes} onClose={onClose} />;
  if (start.data !== undefined)
    return <FirstCode enrolment={start.data} onOn={() => setIsOn(true)} onClose={onClose} />;
  return (
    <FormDialog
      title="Set up two-factor authentication"
      label="Password"
      act="Continue"
      busy={start.isPending}
      error={start.error}
      members={['password']}
      onSubmit={() => start.mutate({ body: { password } })}
      onClose={onClose}
    >
      <p className="text-read">Confirm your password to continue.</p>
      <PasswordField
        label="Password"
        autoComplete="current-password"
        value={password}
        onValue={setPassword}
        error={memberError(start.error, 'password')}
      />
    </FormDialog>
  );
}

interface FirstCodeProps {
  readonly enrolment: Enrolment;
  readonly onOn: () => void;
  readonly onClose: () => void;
}

function FirstCode({ enrolment, onOn, onClose }: FirstCodeProps) {
  const [code, setCode] = useState('');
  const confirm = useAct('POST /me/totp/confirm', ['GET /me']);
  return (
    <FormDialog
      title="Add Tollgate to your authenticator app"
      label="First code"
      act="Turn on"
      busy={confirm.isPending}
      error={confirm.error}
      members={['code']}
      onSubmit={() => confirm.mutate({ body: { code: code.replaceAll(/\s/g, '') } }, { onSuccess: onOn })}
      onClose={onClose}
    >
      <p className="text-read">
        Scan the QR code with the app, or enter the setup key below.{' '}
        <a href={enrolment.uri} className="text-accent underline underline-offset-2">
          Open app on this device
        </a>
      </p>
      <div className="self-center">
        <Qr text={enrolment.uri} label="QR code of the setup key" />
      </div>
      <CodeBlock text={grouped(enrolment.secret)} what="setup key" wraps />
      <TextField
        label="Code"
        hint="The six-digit code shown in the app."
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={8}
        required
        className="[&_input]:figures [&_input]:tracking-[0.2em]"
        value={code}
        onChange={(event) => setCode(event.target.value)}
        error={memberError(confirm.error, 'code')}
      />
    </FormDialog>
  );
}

function RecoveryCodes({ codes, onClose }: { readonly codes: readonly string[]; readonly onClose: () => void }) {
  const text = codes.join('\n');
  return (
    <Dialog
      title="Two-factor authentication is on"
      closable={false}
      onClose={onClose}
      footer={
        <>
          <CopyButton text={text} what="recovery codes" />
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <p className="text-read">
          Store these recovery codes securely. Each one signs you in once if you lose your phone. They won’t be shown
          again.
        </p>
        <ul
          aria-label="Recovery codes"
          className="grid grid-cols-2 gap-x-6 gap-y-1 rounded-md border border-line bg-sunken px-3 py-2.5"
        >
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  );
}

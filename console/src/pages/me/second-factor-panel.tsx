/**
 * Shows whether two-factor authentication is on, and turns it on and off. Setup asks for the password, then shows the
 * secret, then the recovery codes.
 */
import { useState } from 'react';
import { encode } from 'uqr';
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { useAction } from '../../lib/queries.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeBlock, CopyButton } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { memberError } from '../../ui/error-note.tsx';
import { PasswordField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { Panel, Section } from '../../ui/page.tsx';
import { toast } from '../../ui/toasts.tsx';

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
  const remove = useAction('POST /me/totp/remove', ['GET /me']);
  const done = () => {
    toast({ text: 'Turned off two-factor authentication.' });
    onClose();
  };
  return (
    <FormDialog
      title="Turn off two-factor authentication?"
      label="Turn off"
      submitLabel="Turn off"
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

type Enrolment = Reply<'POST /me/totp'>;

function SecondFactorDialog({ onClose }: { readonly onClose: () => void }) {
  const [password, setPassword] = useState('');
  const [isOn, setIsOn] = useState(false);
  const start = useAction('POST /me/totp');
  if (isOn && start.data !== undefined) return <RecoveryCodes codes={start.data.recovery_codes} onClose={onClose} />;
  if (start.data !== undefined)
    return <FirstCode enrolment={start.data} onOn={() => setIsOn(true)} onClose={onClose} />;
  return (
    <FormDialog
      title="Set up two-factor authentication"
      label="Password"
      submitLabel="Continue"
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
  const confirm = useAction('POST /me/totp/confirm', ['GET /me']);
  return (
    <FormDialog
      title="Add Tollgate to your authenticator app"
      label="First code"
      submitLabel="Turn on"
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
      <CodeBlock text={grouped(enrolment.secret)} copied={enrolment.secret} what="setup key" wraps />
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

/** `JBSWY3DPEHPK3PXP` → `JBSW Y3DP EHPK 3PXP`. Authenticator apps ignore the spaces. */
export function grouped(secret: string): string {
  return secret.replace(/(.{4})(?=.)/g, '$1 ');
}

const QUIET = 4;

/** Throws when the text is too long for a code (2,953 bytes). */
export function Qr({ text, label }: { readonly text: string; readonly label: string }) {
  const { data, size } = encode(text, { ecc: 'L', border: QUIET });
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-48 rounded-md border border-line"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

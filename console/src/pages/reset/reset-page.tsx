/**
 * Renders the page of a password reset link: shows whose it is, and sets the password. Signing in follows on the next
 * page.
 */
import { useState } from 'react';
import { useAction, useReply } from '../../lib/queries.ts';
import { Link } from '../../route/link.tsx';
import { usePathNames } from '../../route/route.ts';
import { OpenFrame } from '../../shell/open-frame.tsx';
import { Button, buttonClasses } from '../../ui/button.tsx';
import { ErrorNote, memberError } from '../../ui/error-note.tsx';
import { PasswordField, TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { SkeletonPanel } from '../../ui/page.tsx';

export default function ResetPage() {
  const { token = '' } = usePathNames();
  const [doneFor, setDoneFor] = useState<string | null>(null);
  const link = useReply('GET /resets/{token}', { path: { token } }, { enabled: doneFor === null });
  if (doneFor !== null) return <PasswordSet email={doneFor} />;
  if (link.data === undefined) {
    return (
      <OpenFrame title="New password">
        {link.error === null ? (
          <SkeletonPanel heightPx={180} />
        ) : (
          <ErrorNote error={link.error} onRetry={() => void link.refetch()} />
        )}
      </OpenFrame>
    );
  }
  const { valid, email } = link.data;
  if (!valid || email === null) return <InvalidLink />;
  return <NewPassword token={token} email={email} onDone={() => setDoneFor(email)} />;
}

interface NewPasswordProps {
  readonly token: string;
  readonly email: string;
  readonly onDone: () => void;
}

function NewPassword({ token, email, onDone }: NewPasswordProps) {
  const [password, setPassword] = useState('');
  const set = useAction('POST /resets/{token}', ['GET /session']);
  return (
    <OpenFrame title="New password" lead="Choose a new password. All your sessions will be signed out.">
      <Form
        label="New password"
        error={set.error}
        members={['password']}
        onSubmit={() => set.mutate({ path: { token }, body: { password } }, { onSuccess: onDone })}
        foot={
          <Button type="submit" kind="primary" busy={set.isPending}>
            Set password
          </Button>
        }
      >
        <TextField label="Email" type="email" autoComplete="username" readOnly value={email} />
        <PasswordField
          label="New password"
          autoComplete="new-password"
          hint="At least 12 characters."
          value={password}
          onValue={setPassword}
          error={memberError(set.error, 'password')}
        />
      </Form>
    </OpenFrame>
  );
}

function PasswordSet({ email }: { readonly email: string }) {
  return (
    <OpenFrame
      title="Password changed"
      lead={`Sign in as ${email} with your new password. All other sessions were signed out.`}
    >
      <Link to="/app" className={buttonClasses('primary')}>
        Continue to sign in
      </Link>
    </OpenFrame>
  );
}

function InvalidLink() {
  return (
    <OpenFrame
      title="This link is no longer valid"
      lead="It was used, replaced by a newer one or is more than an hour old, or your password or role has changed. Ask for a new link."
    >
      <Link to="/app" className={buttonClasses('plain')}>
        Open the console
      </Link>
    </OpenFrame>
  );
}

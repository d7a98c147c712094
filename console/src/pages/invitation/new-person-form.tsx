/** Accepts an invitation as a new user, with a name and a password. */
import { useState } from 'react';
import { useAct } from '../../lib/queries.ts';
import type { Session } from '../../lib/session.ts';
import { Button } from '../../ui/button.tsx';
import { memberError } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { PasswordField } from '../../ui/password-field.tsx';

interface NewPersonFormProps {
  readonly token: string;
  readonly account: string;
  readonly email: string;
  readonly onJoined: (session: Session) => void;
}

export function NewPersonForm({ token, account, email, onJoined }: NewPersonFormProps) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const accept = useAct('POST /invitations/{token}');
  return (
    <Form
      label="Your account"
      error={accept.error}
      members={['name', 'password']}
      onSubmit={() => accept.mutate({ path: { token }, body: { name, password } }, { onSuccess: onJoined })}
      foot={
        <Button type="submit" kind="primary" busy={accept.isPending}>
          Join {account}
        </Button>
      }
    >
      <TextField
        label="Name"
        autoComplete="name"
        required
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={memberError(accept.error, 'name')}
      />
      <TextField label="Email" type="email" autoComplete="username" readOnly value={email} />
      <PasswordField
        label="Password"
        autoComplete="new-password"
        hint="At least 12 characters."
        value={password}
        onValue={setPassword}
        error={memberError(accept.error, 'password')}
      />
    </Form>
  );
}

/** Renders the name and password of the user's own account. */
import { useState } from 'react';
import { useAct } from '../../lib/queries.ts';
import { Button } from '../../ui/button.tsx';
import { memberError } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Panel, Section } from '../../ui/page.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { toast } from '../../ui/toasts.tsx';

interface NamePanelProps {
  readonly name: string;
  readonly email: string;
  /** Whether the email address is verified. */
  readonly isVerified: boolean;
}

export function NamePanel({ name: saved, email, isVerified }: NamePanelProps) {
  const [name, setName] = useState(saved);
  const rename = useAct('PATCH /me', ['GET /me', 'GET /session']);
  return (
    <Section title="You">
      <Panel className="p-4">
        <Form
          label="You"
          takesFocus={false}
          error={rename.error}
          members={['name']}
          onSubmit={() =>
            rename.mutate({ body: { name } }, { onSuccess: () => toast({ text: 'Your name is saved.' }) })
          }
          foot={
            <p>
              <Button type="submit" busy={rename.isPending} disabled={name.trim() === saved}>
                Save the name
              </Button>
            </p>
          }
        >
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label="Name"
              hint="Others see it beside keys and in the audit."
              autoComplete="name"
              value={name}
              onChange={(event) => setName(event.target.value)}
              error={memberError(rename.error, 'name')}
            />
            <TextField
              label="E-mail"
              hint={
                isVerified
                  ? 'Verified. What you sign in with. It cannot be changed.'
                  : `Not verified: you can be a member of one account only. Whoever runs the gateway verifies it: tollgate members verify ${email}`
              }
              readOnly
              value={email}
            />
          </div>
        </Form>
      </Panel>
    </Section>
  );
}

export function PasswordPanel() {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const change = useAct('POST /me/password', ['GET /me']);
  const done = () => {
    setCurrent('');
    setNext('');
    toast({ text: 'The password is changed. Every other session was ended.' });
  };
  return (
    <Section title="Password">
      <Panel className="p-4">
        <Form
          label="Password"
          takesFocus={false}
          error={change.error}
          members={['current', 'next']}
          onSubmit={() => change.mutate({ body: { current, next } }, { onSuccess: done })}
          foot={
            <p className="flex flex-wrap items-center gap-3">
              <Button type="submit" busy={change.isPending} disabled={current === '' || next === ''}>
                Change the password
              </Button>
              <span className="text-sm text-ink-3">Ends every session but this one.</span>
            </p>
          }
        >
          <div className="grid gap-4 sm:grid-cols-2">
            <PasswordField
              label="Password now"
              autoComplete="current-password"
              value={current}
              onValue={setCurrent}
              error={memberError(change.error, 'current')}
            />
            <PasswordField
              label="New password"
              autoComplete="new-password"
              hint="At least 12 characters."
              value={next}
              onValue={setNext}
              error={memberError(change.error, 'next')}
            />
          </div>
        </Form>
      </Panel>
    </Section>
  );
}

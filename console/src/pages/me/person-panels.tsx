/** Renders the name and password of the user's own account. */
import { useState } from 'react';
import { useAction } from '../../lib/queries.ts';
import { Button } from '../../ui/button.tsx';
import { memberError } from '../../ui/error-note.tsx';
import { PasswordField, TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Panel, Section } from '../../ui/page.tsx';
import { toast } from '../../ui/toasts.tsx';

interface NamePanelProps {
  readonly name: string;
  readonly email: string;
  /** Whether the email address is verified. */
  readonly isVerified: boolean;
}

export function NamePanel({ name: saved, email, isVerified }: NamePanelProps) {
  const [name, setName] = useState(saved);
  const rename = useAction('PATCH /me', ['GET /me', 'GET /session']);
  return (
    <Section title="Name and email">
      <Panel className="p-4">
        <Form
          label="Name and email"
          takesFocus={false}
          error={rename.error}
          members={['name']}
          onSubmit={() => rename.mutate({ body: { name } }, { onSuccess: () => toast({ text: 'Saved your name.' }) })}
          foot={
            <p>
              <Button type="submit" busy={rename.isPending} disabled={name.trim() === saved}>
                Save name
              </Button>
            </p>
          }
        >
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label="Name"
              hint="Shown with your API keys and in the audit log."
              autoComplete="name"
              value={name}
              onChange={(event) => setName(event.target.value)}
              error={memberError(rename.error, 'name')}
            />
            <TextField
              label="Email"
              hint={
                isVerified
                  ? 'Verified. Used to sign in; can’t be changed.'
                  : `Not verified: you can be a member of one account only. To verify it, the gateway operator runs: tollgate members verify ${email}`
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
  const change = useAction('POST /me/password', ['GET /me']);
  const done = () => {
    setCurrent('');
    setNext('');
    toast({ text: 'Changed your password. All other sessions were signed out.' });
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
                Change password
              </Button>
              <span className="text-sm text-ink-3">Signs out all your other sessions.</span>
            </p>
          }
        >
          <div className="grid gap-4 sm:grid-cols-2">
            <PasswordField
              label="Current password"
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

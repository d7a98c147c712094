/** Renders the first step of setup: the owner's account and the first workspace. Submitting it uses up the link. */
import { useState } from 'react';
import { useAction } from '../../lib/queries.ts';
import { saveSession } from '../../lib/session.ts';
import { type Faults, faultOf } from '../../policy/read.ts';
import { Button } from '../../ui/button.tsx';
import { PasswordField, TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';

/** The gateway's minimum. */
const PASSWORD_MIN = 12;
const MEMBERS = ['name', 'email', 'password', 'workspace'];

export function OwnerForm({
  token,
  onCreated,
}: {
  readonly token: string;
  readonly onCreated: (workspace: string) => void;
}) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [workspace, setWorkspace] = useState(FIRST_WORKSPACE);
  const [faults, setFaults] = useState<Faults>({});
  const setUp = useAction('POST /setup');

  function submit(): void {
    const wrongWorkspace = workspaceFault(workspace.trim());
    const found: Faults = {
      ...(name.trim() === '' ? { name: 'Enter your name.' } : {}),
      ...(/\S@\S/.test(email) ? {} : { email: 'Enter an email address, such as ada@example.com.' }),
      ...(password.length < PASSWORD_MIN ? { password: `At least ${PASSWORD_MIN} characters` } : {}),
      ...(wrongWorkspace === null ? {} : { workspace: wrongWorkspace }),
    };
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    const workspaceId = workspace.trim();
    setUp.mutate(
      {
        body: {
          token,
          name,
          email: email.trim(),
          password,
          workspace: workspaceId === FIRST_WORKSPACE ? null : workspaceId,
        },
      },
      {
        onSuccess: async (session) => {
          await saveSession(session);
          onCreated(workspaceId);
        },
      },
    );
  }

  return (
    <Form
      label="Your account"
      error={setUp.error}
      members={MEMBERS}
      onSubmit={submit}
      foot={
        <p>
          <Button type="submit" kind="primary" busy={setUp.isPending}>
            Create account
          </Button>
        </p>
      }
    >
      <TextField
        label="Name"
        autoComplete="name"
        required
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={faultOf(faults, setUp.error, 'name')}
      />
      <TextField
        label="Email"
        type="email"
        autoComplete="username"
        hint="Used to sign in."
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={faultOf(faults, setUp.error, 'email')}
      />
      <PasswordField
        label="Password"
        autoComplete="new-password"
        hint="At least 12 characters. You can add a passkey and two-factor authentication later."
        value={password}
        onValue={setPassword}
        error={faultOf(faults, setUp.error, 'password')}
      />
      <TextField
        label="First workspace"
        hint="For example, a team or a product. Each workspace has its own API keys, models, limits and budget."
        autoCapitalize="none"
        spellCheck={false}
        required
        value={workspace}
        onChange={(event) => setWorkspace(event.target.value)}
        error={faultOf(faults, setUp.error, 'workspace')}
      />
    </Form>
  );
}

export const FIRST_WORKSPACE = 'default';

/**
 * Error message for a name that is not a valid id, as addresses and commands use it; null when valid. The gateway uses
 * the same pattern.
 */
export function workspaceFault(text: string): string | null {
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/.test(text)) return null;
  if (text === '') return 'Enter a name, such as default.';
  return 'Use up to 64 lowercase letters, digits, hyphens and underscores, starting with a letter or digit.';
}

/** Renders the first step of setup: the owner's account and the first workspace. Submitting it uses up the link. */
import { useState } from 'react';
import { useAct } from '../../lib/queries.ts';
import { saveSession } from '../../lib/session.ts';
import { type Faults, faultOf } from '../../policy/read.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { FIRST_WORKSPACE, workspaceFault } from './workspace-name.ts';

/** The gateway's minimum. */
const PASSWORD_MIN = 12;
const MEMBERS = ['name', 'email', 'password', 'workspace'];

export function OwnerForm({ token, onMade }: { readonly token: string; readonly onMade: (workspace: string) => void }) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [workspace, setWorkspace] = useState(FIRST_WORKSPACE);
  const [faults, setFaults] = useState<Faults>({});
  const setUp = useAct('POST /setup');

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
    const asked = workspace.trim();
    setUp.mutate(
      { body: { token, name, email: email.trim(), password, workspace: asked === FIRST_WORKSPACE ? null : asked } },
      {
        onSuccess: async (session) => {
          await saveSession(session);
          onMade(asked);
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
            Create the account
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
        label="E-mail"
        type="email"
        autoComplete="username"
        hint="To sign in with. Nothing is ever sent to it."
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={faultOf(faults, setUp.error, 'email')}
      />
      <PasswordField
        label="Password"
        autoComplete="new-password"
        hint="At least 12 characters. A passkey and a second factor can be added afterwards."
        value={password}
        onValue={setPassword}
        error={faultOf(faults, setUp.error, 'password')}
      />
      <TextField
        label="First workspace"
        hint="Keys live in workspaces, each with its own models, limits and budget. A team or a product, for example."
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

/** Renders the second sign-in step: a code of an authenticator app, or a recovery code. */
import { useState } from 'react';
import { useAct } from '../../lib/queries.ts';
import { loadSession } from '../../lib/session.ts';
import { Button } from '../../ui/button.tsx';
import { memberError } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';

interface CodeStepProps {
  readonly onBack: () => void;
  /** The pending sign-in has expired; the session's state shows that soon after. */
  readonly onLate: () => void;
}

export function CodeStep({ onBack, onLate }: CodeStepProps) {
  const [code, setCode] = useState('');
  const [byRecovery, setByRecovery] = useState(false);
  const check = useAct('POST /sign-in/code');
  return (
    <Form
      // A different field: it starts empty and focused.
      key={byRecovery ? 'recovery' : 'authenticator'}
      label="Two-factor authentication"
      error={check.error}
      members={['code']}
      onSubmit={() =>
        check.mutate(
          { body: { code: code.replaceAll(/\s/g, '') } },
          {
            onSuccess: () => loadSession(),
            onError: ({ code: reason }) => {
              if (reason === 'signed_out') onLate();
            },
          },
        )
      }
      foot={
        <div className="flex flex-col gap-2">
          <Button type="submit" kind="primary" busy={check.isPending}>
            Sign in
          </Button>
          <Button
            kind="quiet"
            onClick={() => {
              setCode('');
              check.reset();
              setByRecovery(!byRecovery);
            }}
          >
            {byRecovery ? 'Use authenticator app' : 'Use recovery code'}
          </Button>
          <Button kind="quiet" onClick={onBack}>
            Sign in as another user
          </Button>
        </div>
      }
    >
      {byRecovery ? (
        <TextField
          label="Recovery code"
          hint="One of the codes shown when you set up two-factor authentication. Each works once."
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          required
          className="[&_input]:font-mono"
          value={code}
          onChange={(event) => setCode(event.target.value)}
          error={memberError(check.error, 'code')}
        />
      ) : (
        <TextField
          label="Code"
          hint="The six-digit code from your authenticator app."
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={8}
          required
          className="[&_input]:figures [&_input]:tracking-[0.2em]"
          value={code}
          onChange={(event) => setCode(event.target.value)}
          error={memberError(check.error, 'code')}
        />
      )}
    </Form>
  );
}

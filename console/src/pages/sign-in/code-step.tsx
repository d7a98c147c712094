/**
 * Renders the second sign-in step, a code of an authenticator app or a recovery code, and chooses which step to show.
 */
import { useState } from 'react';
import { useAction } from '../../lib/queries.ts';
import { loadSession, type Session } from '../../lib/session.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote, memberError } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { PasswordStep } from './password-step.tsx';

interface CodeStepProps {
  readonly onBack: () => void;
  /** The pending sign-in has expired; the session's state shows that soon after. */
  readonly onLate: () => void;
}

function CodeStep({ onBack, onLate }: CodeStepProps) {
  const [code, setCode] = useState('');
  const [byRecovery, setByRecovery] = useState(false);
  const check = useAction('POST /sign-in/code');
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

export function SignInSteps({ session, emailGiven }: { readonly session: Session; readonly emailGiven?: string }) {
  const [wantsOther, setWantsOther] = useState(false);
  const [isLate, setIsLate] = useState(false);
  if (session.state === 'second_factor' && !wantsOther)
    return <CodeStep onBack={() => setWantsOther(true)} onLate={() => setIsLate(true)} />;
  return (
    <>
      {isLate && <ErrorNote error={new Error('The sign-in expired while waiting for the code. Start again.')} />}
      <PasswordStep
        session={session}
        {...(emailGiven === undefined ? {} : { emailGiven })}
        onStepped={() => {
          setWantsOther(false);
          setIsLate(false);
        }}
      />
    </>
  );
}

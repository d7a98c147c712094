/** Chooses the sign-in step to show. The containing page decides what follows the last one. */
import { useState } from 'react';
import type { Session } from '../../lib/session.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CodeStep } from './code-step.tsx';
import { PasswordStep } from './password-step.tsx';

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

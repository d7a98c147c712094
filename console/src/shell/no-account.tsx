/** Informs a signed-in user who is no longer a member of any account. */
import { useAct } from '../lib/queries.ts';
import { clearSession, type Session } from '../lib/session.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { OpenFrame } from './open-frame.tsx';

export function NoAccount({ session }: { readonly session: Session }) {
  const signOut = useAct('POST /sign-out');
  return (
    <OpenFrame
      title="You aren’t a member of any account"
      lead={
        <>
          You’re signed in as <span className="font-medium text-ink">{session.person?.email}</span>. Ask an owner or
          admin to invite this email address, then open the invitation link in this browser.
        </>
      }
    >
      {signOut.error !== null && <ErrorNote error={signOut.error} />}
      <Button busy={signOut.isPending} onClick={() => signOut.mutate({ body: {} }, { onSuccess: clearSession })}>
        Sign out
      </Button>
    </OpenFrame>
  );
}

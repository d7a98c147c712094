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
      title="You are a member of no account"
      lead={
        <>
          You are signed in as <span className="font-medium text-ink">{session.person?.email}</span>, and no account
          lists you. Ask an owner or admin for an invitation to this address, then open its link here.
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

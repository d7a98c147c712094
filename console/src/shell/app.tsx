/** Chooses what a visitor sees: the page, the sign-in page, or an error. Never a blank screen. */
import { Activity, Suspense, useEffect, useState } from 'react';
import { part } from '../lib/part.ts';
import { EnteredSession, type Session, useAccountInAddress, useSession, useUnknownAccount } from '../lib/session.ts';
import { usePathname } from '../route/route.ts';
import { RoutedPage } from '../router.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { SkeletonPanel } from '../ui/page.tsx';
import { NoAccount, UnknownAccount } from './access.tsx';
import { Shell } from './shell.tsx';

const SignIn = part(() => import('../pages/sign-in/sign-in-page.tsx'));
const Unclaimed = part(() => import('../pages/setup/unclaimed-page.tsx'));

/** Public pages, which do not require a sign-in. */
const OPEN = /^\/(app\/setup|app\/invitations\/|app\/reset\/|status)/;

export function App() {
  const session = useSession();
  const pathname = usePathname();
  const [entered, setEntered] = useState<Session | null>(null);
  const isIn = session.data?.state === 'signed_in';
  const isAnother = isIn && entered !== null && entered.person?.id !== session.data?.person?.id;
  useEffect(() => {
    // The page's state belongs to another user.
    if (isAnother) location.reload();
  }, [isAnother]);
  const isOpen = OPEN.test(pathname);
  if (isOpen) return <RoutedPage />;
  if (session.data === undefined || isAnother) {
    return (
      <div className="mx-auto max-w-120 px-4 pt-[20vh]">
        {session.error === null ? (
          <SkeletonPanel heightPx={160} />
        ) : (
          <ErrorNote error={session.error} onRetry={() => void session.refetch()} />
        )}
      </div>
    );
  }
  if (isIn && entered !== session.data) setEntered(session.data);
  const shown = isIn ? session.data : entered;
  return (
    <>
      {shown !== null && (
        <EnteredSession value={shown}>
          {/* A session may end while a form is open: the hidden page keeps its state, takes no keys, sends nothing. */}
          <Activity mode={isIn ? 'visible' : 'hidden'}>
            <Entered session={shown} />
          </Activity>
        </EnteredSession>
      )}
      {!isIn && (
        <Suspense fallback={<SkeletonPanel heightPx={160} />}>
          {session.data.state === 'setup' ? (
            <Unclaimed />
          ) : (
            <SignIn session={session.data} resumesPage={entered !== null} />
          )}
        </Suspense>
      )}
    </>
  );
}

/** The content for signed-in users. */
function Entered({ session }: { readonly session: Session }) {
  const unknownAccount = useUnknownAccount(session);
  useAccountInAddress(session);
  if (session.accounts.length === 0) return <NoAccount session={session} />;
  return unknownAccount === null ? (
    <Shell session={session} />
  ) : (
    <UnknownAccount session={session} requested={unknownAccount} />
  );
}

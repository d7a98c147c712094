/** Owns what a visitor sees first: the page, the way in, or why neither can be shown. Never a blank screen. */
import { lazy, Suspense } from 'react';
import { useSession } from '../lib/session.ts';
import { usePathname } from '../route/route.ts';
import { RoutedPage } from '../router.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { SkeletonPanel } from '../ui/skeleton.tsx';
import { NoAccount } from './no-account.tsx';
import { Shell } from './shell.tsx';

const SignIn = lazy(() => import('../pages/sign-in/sign-in-page.tsx'));
const Unclaimed = lazy(() => import('../pages/setup/unclaimed-page.tsx'));

/** Pages that are shown to people who are not signed in. */
const OPEN = /^\/(app\/setup|app\/invitations\/|app\/reset\/|status)/;

export function Gate() {
  const session = useSession();
  const pathname = usePathname();
  const isOpen = OPEN.test(pathname);
  if (isOpen) return <RoutedPage />;
  if (session.data === undefined) {
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
  const { state, accounts } = session.data;
  if (state === 'signed_in')
    return accounts.length === 0 ? <NoAccount session={session.data} /> : <Shell session={session.data} />;
  return (
    <Suspense fallback={<SkeletonPanel heightPx={160} />}>
      {state === 'setup' ? <Unclaimed /> : <SignIn session={session.data} />}
    </Suspense>
  );
}

/**
 * Shows a message instead of a page when the user has no account, no access to the account, or no permission for the
 * page.
 */
import { sentenceCase } from '../lib/format.ts';
import { useAction } from '../lib/queries.ts';
import { type CurrentAccount, clearSession, type Permission, type Session } from '../lib/session.ts';
import { Link } from '../route/link.tsx';
import { usePathname } from '../route/route.ts';
import { RoutedPage } from '../router.tsx';
import { Button, buttonClasses } from '../ui/button.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Empty, Page } from '../ui/page.tsx';
import { OpenFrame } from './open-frame.tsx';
import { type PageEntry, pageAt } from './pages.ts';

/** Permissions that users restricted to workspaces never have. */
const ACCOUNT_WIDE: readonly Permission[] = ['billing.read', 'alerts.read', 'settings.read', 'operator.read'];

export function PermittedPage({ account }: { readonly account: CurrentAccount }) {
  const entry = pageAt(usePathname());
  if (entry === undefined || account.may(entry.needs)) return <RoutedPage />;
  return (
    <Page title={entry.name}>
      <Empty
        title="You don’t have access"
        action={
          <Link to="/app" className={buttonClasses('primary')}>
            Go to Home
          </Link>
        }
      >
        {describeDenial(entry, account)} Ask an owner or admin if you need access.
      </Empty>
    </Page>
  );
}

function describeDenial({ name, needs }: PageEntry, { role, name: account, workspaces }: CurrentAccount): string {
  if (workspaces === null || !ACCOUNT_WIDE.includes(needs))
    return `Your role in ${account} (${sentenceCase(role)}) doesn’t include this page.`;
  return `${name} covers the whole account ${account}, and your membership is restricted to ${workspaces.join(', ')}.`;
}

export function NoAccount({ session }: { readonly session: Session }) {
  const signOut = useAction('POST /sign-out');
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

export function UnknownAccount({ session, requested }: { readonly session: Session; readonly requested: string }) {
  const pathname = usePathname();
  const own = session.accounts.filter(({ member }) => member);
  return (
    <OpenFrame
      title={`You don’t have access to the account ${requested}`}
      lead={
        <>
          You’re signed in as <span className="font-medium text-ink">{session.person?.email}</span>. Ask one of its
          owners to invite this email address, or continue in another account:
        </>
      }
    >
      <ul className="flex flex-col gap-1">
        {(own.length > 0 ? own : session.accounts).map(({ account, name }) => (
          <li key={account}>
            <Link to={pathname} search={{ account }} className="text-accent underline underline-offset-2">
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </OpenFrame>
  );
}

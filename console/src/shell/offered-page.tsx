/** Shows a message instead of a page that the user has no permission for in this account. */
import type { CurrentAccount, Permission } from '../lib/session.ts';
import { Link } from '../route/link.tsx';
import { usePathname } from '../route/route.ts';
import { RoutedPage } from '../router.tsx';
import { buttonClasses } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';
import { type PageEntry, pageAt } from './pages.ts';

/** Permissions that users restricted to workspaces never have. */
const OF_THE_WHOLE: readonly Permission[] = ['billing.read', 'settings.read', 'operator.read'];

export function OfferedPage({ account }: { readonly account: CurrentAccount }) {
  const entry = pageAt(usePathname());
  if (entry === undefined || account.may(entry.needs)) return <RoutedPage />;
  return (
    <Page title={entry.name}>
      <Empty
        title="This page is not open to you"
        action={
          <Link to="/app" className={buttonClasses('primary')}>
            Go to the home page
          </Link>
        }
      >
        {whyNot(entry, account)} Ask an owner or admin, if you need it.
      </Empty>
    </Page>
  );
}

function whyNot({ name, needs }: PageEntry, { role, name: account, workspaces }: CurrentAccount): string {
  if (workspaces === null || !OF_THE_WHOLE.includes(needs))
    return `Your role in ${account}, ${role}, does not open it.`;
  return `${name} is about ${account} as a whole, and your membership is restricted to ${workspaces.join(', ')}.`;
}

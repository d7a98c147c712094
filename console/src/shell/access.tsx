/** Shows a message instead of a page that the user has no permission for in this account. */
import { sentenceCase } from '../lib/format.ts';
import type { CurrentAccount, Permission } from '../lib/session.ts';
import { Link } from '../route/link.tsx';
import { usePathname } from '../route/route.ts';
import { RoutedPage } from '../router.tsx';
import { buttonClasses } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';
import { type PageEntry, pageAt } from './pages.ts';

/** Permissions that users restricted to workspaces never have. */
const ACCOUNT_WIDE: readonly Permission[] = ['billing.read', 'settings.read', 'operator.read'];

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

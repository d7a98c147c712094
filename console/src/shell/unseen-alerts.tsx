/** Renders the number of alerts that the user has not seen: in the navigation, and as a bell in a narrow window. */
import { Bell } from 'lucide-react';
import { useReply } from '../lib/queries.ts';
import type { CurrentAccount } from '../lib/session.ts';
import { Link } from '../route/link.tsx';

const EVERY_MS = 60_000;
const SHOWN_MAX = 99;

function useUnseen(account: CurrentAccount): number {
  const { data } = useReply(
    'GET /accounts/{account}/alerts/unseen',
    { path: { account: account.account } },
    { everyMs: EVERY_MS, enabled: account.may('alerts.read') },
  );
  return data?.unseen ?? 0;
}

export function UnseenAlerts({ account }: { readonly account: CurrentAccount }) {
  const unseen = useUnseen(account);
  if (unseen === 0) return null;
  return (
    <span className="figures ml-auto rounded-full bg-accent-soft px-1.5 text-xs font-medium text-accent-strong">
      {unseen > SHOWN_MAX ? `${SHOWN_MAX}+` : unseen}
      <span className="sr-only"> new</span>
    </span>
  );
}

export function AlertBell({ account }: { readonly account: CurrentAccount }) {
  const unseen = useUnseen(account);
  if (unseen === 0) return null;
  return (
    <Link to="/app/alerts" className="ml-auto flex h-8 items-center gap-1.5 rounded-md px-2 text-accent-strong">
      <Bell size={16} aria-hidden="true" />
      <span className="figures text-sm font-medium">{unseen > SHOWN_MAX ? `${SHOWN_MAX}+` : unseen}</span>
      <span className="sr-only">new alerts</span>
    </Link>
  );
}

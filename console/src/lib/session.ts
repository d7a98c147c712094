/** Provides the session and the current account. The address names the account when a user has more than one. */
import { createContext, useContext, useEffect } from 'react';
import type { Reply } from '../../../gateway/src/console-api/contract/contract.ts';
import { useNavigate, useSearch } from '../route/route.ts';
import { queryClient, replyKey, useReply } from './queries.ts';
import { forgetTab } from './tab-memory.ts';

export type Session = Reply<'GET /session'>;
export type AccountGrant = Session['accounts'][number];
export type Permission = AccountGrant['permissions'][number];

/** For a page hidden behind the sign-in page: the session it was rendered in. Null elsewhere. */
export const EnteredSession = createContext<Session | null>(null);

/** The session; undefined until loaded. */
export function useSession() {
  const reply = useReply('GET /session', {});
  const entered = useContext(EnteredSession);
  return entered === null ? reply : { ...reply, data: entered };
}

/**
 * Refetches everything after a sign-in, because the user may have changed. The gate drops a page that belongs to
 * another user.
 */
export async function loadSession(): Promise<void> {
  await queryClient.invalidateQueries();
}

/** Reloads the page after a sign-out, so that no data of the previous user stays in memory. */
export function clearSession(): void {
  forgetTab();
  location.reload();
}

/** Stores a reply that is the new session, for a user who had fewer rights before, so that it applies at once. */
export async function saveSession(session: Session): Promise<void> {
  await queryClient.cancelQueries({ queryKey: ['GET /session'] });
  queryClient.setQueryData(replyKey('GET /session', {}), session);
}

export interface CurrentAccount extends AccountGrant {
  /** Whether the signed-in user has the permission in this account. Actions without permission are not offered. */
  may(permission: Permission): boolean;
}

/** The account in the address when the user is not a member of it; otherwise null. */
export function useUnknownAccount({ accounts }: Session): string | null {
  const { account: requested } = useSearch();
  return requested === undefined || accounts.some(({ account }) => account === requested) ? null : requested;
}

/** Adds the account to the address: the default account differs between users, and the address may be shared. */
export function useAccountInAddress({ accounts }: Session): void {
  const search = useSearch();
  const navigate = useNavigate();
  const missing = search.account === undefined && accounts.length > 1 ? accounts[0]?.account : undefined;
  useEffect(() => {
    if (missing !== undefined) navigate({ search: { ...search, account: missing }, replace: true });
  }, [missing, search, navigate]);
}

/** The current account. Only below the signed-in shell, which renders for no other account. */
export function useAccount(): CurrentAccount {
  const { data } = useSession();
  const { account: requested } = useSearch();
  const accounts = data?.accounts ?? [];
  const grant = accounts.find(({ account }) => account === requested) ?? accounts[0];
  if (grant === undefined) throw new Error('you aren’t a member of any account; ask an owner to invite you');
  return { ...grant, may: (permission) => grant.permissions.includes(permission) };
}

/** Navigates to the same page in another account. */
export function useChooseAccount(): (account: string) => void {
  const navigate = useNavigate();
  return (account) => navigate({ search: { account } });
}

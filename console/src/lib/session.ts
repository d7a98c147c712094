/** Owns who is signed in and which account the page is about. The account stands in the address where a person has more than one. */
import { createContext, useContext, useEffect } from 'react';
import type { Reply } from '../../../gateway/src/console-api/contract/contract.ts';
import { useNavigate, useSearch } from '../route/route.ts';
import { queryClient, replyKey, useReply } from './queries.ts';

export type Session = Reply<'GET /session'>;
export type AccountGrant = Session['accounts'][number];
export type Permission = AccountGrant['permissions'][number];

/** For a page that waits behind the sign-in: the session that it was shown in. Null elsewhere. */
export const EnteredSession = createContext<Session | null>(null);

/** The session; undefined until it is known. */
export function useSession() {
  const reply = useReply('GET /session', {});
  const entered = useContext(EnteredSession);
  return entered === null ? reply : { ...reply, data: entered };
}

/** After a sign-in: who it was is asked, and what is shown may be another's by now. A page of somebody else is the gate's to drop. */
export async function learnSession(): Promise<void> {
  await queryClient.invalidateQueries();
}

/** After a sign-out: the page is loaded anew, so that nothing of who was here is left in it. */
export function leaveSession(): void {
  location.reload();
}

/** After an answer that is the session from now on, of somebody who had less before: it is known at once. */
export async function keepSession(session: Session): Promise<void> {
  await queryClient.cancelQueries({ queryKey: ['GET /session'] });
  queryClient.setQueryData(replyKey('GET /session', {}), session);
}

export interface CurrentAccount extends AccountGrant {
  /** Whether the signed-in person may do it in this account. What he may not is not offered. */
  may(permission: Permission): boolean;
}

/** The account in the address that the person does not have; null: there is none. */
export function useStrangeAccount({ accounts }: Session): string | null {
  const { account: asked } = useSearch();
  return asked === undefined || accounts.some(({ account }) => account === asked) ? null : asked;
}

/** Names the account in the address: another person's first is another one, and the address may be sent to him. */
export function useAccountInAddress({ accounts }: Session): void {
  const search = useSearch();
  const navigate = useNavigate();
  const missing = search.account === undefined && accounts.length > 1 ? accounts[0]?.account : undefined;
  useEffect(() => {
    if (missing !== undefined) navigate({ search: { ...search, account: missing }, replace: true });
  }, [missing, search, navigate]);
}

/** The account that the page is about. Only below the signed-in shell, which is shown for no other. */
export function useAccount(): CurrentAccount {
  const { data } = useSession();
  const { account: asked } = useSearch();
  const accounts = data?.accounts ?? [];
  const grant = accounts.find(({ account }) => account === asked) ?? accounts[0];
  if (grant === undefined) throw new Error('you are a member of no account; ask an owner to invite you');
  return { ...grant, may: (permission) => grant.permissions.includes(permission) };
}

/** Goes to the same page of another account. */
export function useChooseAccount(): (account: string) => void {
  const navigate = useNavigate();
  return (account) => navigate({ search: { account } });
}

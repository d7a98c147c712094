/** Owns the routes by which people sign in and out. */
import { NO_SESSION_COOKIE, sendCookies } from '../people/auth-cookies.ts';
import type { Handlers } from './handlers.ts';
import type { PeopleParts } from './people-parts.ts';

export function signInHandlers({
  signIn,
  accounts,
}: PeopleParts): Handlers<
  | 'POST /sign-in'
  | 'POST /sign-in/code'
  | 'POST /sign-in/oidc'
  | 'GET /sign-in/oidc/{provider}/callback'
  | 'POST /sign-out'
> {
  return {
    'POST /sign-in': async ({ arrival, body, outgoing }) => {
      const signed = await signIn.byPassword(arrival, body, outgoing);
      if (signed.state !== 'choose_account') return signed;
      const named = signed.accounts.map((account) => ({ account, name: accounts.get(account)?.name ?? account }));
      return { state: signed.state, accounts: named };
    },
    'POST /sign-in/code': async ({ arrival, body, outgoing }) => ({
      state: await signIn.byCode(arrival, body.code, outgoing),
    }),
    'POST /sign-in/oidc': async ({ arrival, body, outgoing }) => ({
      url: await signIn.startService(arrival, body.provider, outgoing),
    }),
    'GET /sign-in/oidc/{provider}/callback': async ({ arrival, path, query, outgoing }) => ({
      location: await signIn.finishService(arrival, path.provider, query, outgoing),
    }),
    'POST /sign-out': async ({ arrival, outgoing }) => {
      await signIn.signOut(arrival);
      sendCookies(new Headers({ 'set-cookie': NO_SESSION_COOKIE }), arrival, outgoing);
      return {};
    },
  };
}

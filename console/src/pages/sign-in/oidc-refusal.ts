/** Owns the words for a sign-in by another service that came back without success: what went wrong and what to do. */

const REASONS: Readonly<Record<string, string>> = {
  access_denied: 'The other service did not let you in, or you cancelled there. Try again, or sign in another way.',
  signup_disabled: 'Nobody here has this e-mail address. Ask an owner or admin of the account for an invitation first.',
  account_not_linked:
    'A person with this e-mail address signs in another way here. Sign in by password, or ask an owner or admin.',
  email_not_verified: 'The other service has not verified your e-mail address. Verify it there, then try again.',
  state_mismatch: 'This sign-in was begun in another window, or too long ago. Try again.',
  state_not_found: 'This sign-in was begun in another window, or too long ago. Try again.',
};

/** For the `error` of the address; null: there is none. What is not known is named, to be looked up in the gateway's log. */
export function oidcRefusal(error: string | undefined): string | null {
  if (error === undefined || error === '') return null;
  const known = REASONS[error.toLowerCase().replaceAll(/[^a-z]+/g, '_')];
  return known ?? `The sign-in by the other service failed (${error}). Try again, or sign in another way.`;
}

/** Explains failed sign-ins by another service and what to do. */

const REASONS: Readonly<Record<string, string>> = {
  access_denied: 'The sign-in service denied access, or you canceled. Try again, or sign in another way.',
  signup_disabled: 'No user has this email address. Ask an owner or admin for an invitation.',
  account_not_linked:
    'A user with this email address signs in another way. Sign in that way, then link the service on your profile page.',
  not_invited:
    'No user is linked to this service, and there is no pending invitation for its email address. If you have a password, sign in with it and link the service on your profile page. Otherwise ask an owner or admin for an invitation.',
  email_not_plain:
    'The email address at the service contains non-ASCII characters, which aren’t accepted because they can imitate another address. Use an ASCII address there.',
  domain_not_allowed: 'This service isn’t allowed for your email domain. Sign in another way.',
  unable_to_get_user_info:
    'The service didn’t confirm your identity. Ask the gateway operator to check its configuration.',
  email_not_verified: 'The service hasn’t verified your email address. Verify it there, then try again.',
  state_mismatch: 'This sign-in was started in another window or has expired. Try again.',
  state_not_found: 'This sign-in was started in another window or has expired. Try again.',
};

/**
 * Message for the `error` of the address; null without an error. An unknown code is included, so that it can be found
 * in the gateway's log.
 */
export function oidcRefusal(error: string | undefined): string | null {
  if (error === undefined || error === '') return null;
  const known = REASONS[error.toLowerCase().replaceAll(/[^a-z]+/g, '_')];
  return known ?? `Signing in with the service failed (${error}). Try again, or sign in another way.`;
}

const LINK_REASONS: Readonly<Record<string, string>> = {
  email_doesn_t_match: 'The service account has a different email address. Link one with the same address.',
  account_already_linked_to_different_user: 'This service account is already linked to another user.',
  signed_in_as_another: 'Linking was started by another user, or your session ended. Start again.',
};

/** Message for the `error` of the account page's address, after linking a service; null without an error. */
export function linkRefusal(error: string | undefined): string | null {
  if (error === undefined || error === '') return null;
  const name = error.toLowerCase().replaceAll(/[^a-z]+/g, '_');
  const known = LINK_REASONS[name] ?? REASONS[name];
  return known ?? `Couldn’t link the service (${error}). Try again.`;
}

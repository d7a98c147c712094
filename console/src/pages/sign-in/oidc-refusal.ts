/** Explains failed sign-ins by another service and what to do. */

const REASONS: Readonly<Record<string, string>> = {
  access_denied: 'The other service did not let you in, or you cancelled there. Try again, or sign in another way.',
  signup_disabled: 'Nobody here has this e-mail address. Ask an owner or admin of the account for an invitation first.',
  account_not_linked:
    'A user with this email address signs in another way. Sign in that way, then link the service on your account page.',
  not_invited:
    'No user is linked to this sign-in, and no invitation is open for its email address. If you have a password here, sign in with it and link the service on your account page; else ask an owner or admin for an invitation.',
  email_not_plain:
    'The service names an email address with characters outside of A to Z, which could be mistaken for another one. Use a plain address there.',
  domain_not_allowed: 'This service may not sign in email addresses of this domain. Sign in another way.',
  unable_to_get_user_info:
    'The service did not prove who you are: no id_token, or one of another user. Ask whoever runs the gateway.',
  email_not_verified: 'The other service has not verified your e-mail address. Verify it there, then try again.',
  state_mismatch: 'This sign-in was begun in another window, or too long ago. Try again.',
  state_not_found: 'This sign-in was begun in another window, or too long ago. Try again.',
};

/**
 * Message for the `error` of the address; null when there is none. An unknown code is included, so that it can be found
 * in the gateway's log.
 */
export function oidcRefusal(error: string | undefined): string | null {
  if (error === undefined || error === '') return null;
  const known = REASONS[error.toLowerCase().replaceAll(/[^a-z]+/g, '_')];
  return known ?? `The sign-in by the other service failed (${error}). Try again, or sign in another way.`;
}

const LINK_REASONS: Readonly<Record<string, string>> = {
  email_doesn_t_match:
    'The service signed you in with another email address. Link a user of it who has the same address.',
  account_already_linked_to_different_user: 'This user of the service is linked to another user here.',
  signed_in_as_another: 'The link was started by another user, or your session ended. Start it again.',
};

/** Message for the `error` of the account page's address, after linking a service; null when there is none. */
export function linkRefusal(error: string | undefined): string | null {
  if (error === undefined || error === '') return null;
  const name = error.toLowerCase().replaceAll(/[^a-z]+/g, '_');
  const known = LINK_REASONS[name] ?? REASONS[name];
  return known ?? `The service was not linked (${error}). Try again.`;
}

/** Defines the routes for set-up, sign-in, a user's own account, invitations and password resets. */
import { z } from 'zod';
import { PERMISSIONS } from '../../people/roles.ts';
import { email, givenName, id, nothing, type RouteTable, role, time } from './row.ts';

const bytes = z.string().regex(/^[\w-]+$/, 'bytes in base64url, without padding');
/** Authenticators create ids of at most 1023 bytes. */
const credential = bytes.max(1_364);
const type = z.literal('public-key');

/** A new passkey, as the browser sends it. */
const madePasskey = z.object({
  id: credential,
  type,
  response: z.object({ clientDataJSON: bytes, attestationObject: bytes }),
});

/** A signature by a passkey, as the browser sends it. */
const signedByPasskey = z.object({
  id: credential,
  type,
  response: z.object({ clientDataJSON: bytes, authenticatorData: bytes, signature: bytes, userHandle: bytes }),
});

/** Options for creating a passkey. */
const makeOptions = z.object({
  challenge: bytes,
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: bytes, name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.object({ type, alg: z.int() })),
  timeout: z.int(),
  attestation: z.literal('none'),
  excludeCredentials: z.array(z.object({ type, id: credential })),
  authenticatorSelection: z.object({
    residentKey: z.literal('required'),
    requireResidentKey: z.boolean(),
    userVerification: z.literal('required'),
  }),
});

/** Options for signing with any passkey of the host. */
const signOptions = z.object({
  challenge: bytes,
  rpId: z.string(),
  timeout: z.int(),
  userVerification: z.literal('required'),
});

const password = z.string().min(12, 'at least 12 characters').max(200);
/** Workspace id; a workspace that does not exist yet is created in the account `default`. */
const newWorkspace = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'expected 1 to 64 of a-z, 0-9, - and _, starting with a letter or a digit');
const token = z.string().min(20).max(200);
const code = z.string().regex(/^[0-9A-Za-z-]{6,24}$/, 'the six-digit code or a recovery code');

const person = z.object({
  id,
  name: z.string(),
  email: z.string(),
  /** The time zone in which the console shows times of day: an IANA name, or `browser`. Null: that of the account. */
  time_zone: z.string().nullable(),
});
const grant = z.object({
  account: id,
  /** The account's display name. */
  name: z.string(),
  /** IANA name of the time zone in which the account's days start at midnight. */
  time_zone: z.string(),
  /** False: an operator of the installation who is not a member. */
  member: z.boolean(),
  role,
  permissions: z.array(z.enum(PERMISSIONS)),
  /** Null: every workspace of the account. */
  workspaces: z.array(id).nullable(),
});
const session = z.object({
  state: z.enum(['setup', 'signed_out', 'second_factor', 'signed_in']),
  version: z.string(),
  /** The address used in snippets. */
  public_url: z.string(),
  person: person.nullable(),
  accounts: z.array(grant),
  /** The configured OpenID Connect services. */
  oidc: z.array(z.object({ id, name: z.string() })),
  /** Whether passkeys can be created and used at this address; IP addresses don't support them. */
  passkeys: z.boolean(),
});
const signedIn = z.object({ state: z.enum(['second_factor', 'signed_in']) });

export const peopleRoutes = {
  'GET /session': {
    summary: 'Returns the signed-in user and their permissions by account.',
    access: 'anyone',
    reply: session,
  },
  'GET /setup/{token}': {
    summary: 'Returns whether a setup link is valid, and the models to try.',
    access: 'anyone',
    reply: z.object({
      valid: z.boolean(),
      expires_at: time.nullable(),
      providers: z.array(z.object({ name: id, kind: z.string() })),
      model: z.string(),
    }),
  },
  'POST /setup': {
    summary: 'Creates the first user, owner of the account `default`, and signs them in. The link works once.',
    access: 'anyone',
    body: z.strictObject({ token, name: givenName, email, password, workspace: newWorkspace.nullable() }),
    reply: session,
  },
  'POST /sign-in': {
    summary:
      'Signs in with a password; asks for the second factor if one is set. If several users share the address and password, it returns `choose_account` with their accounts; repeat the request with `account`.',
    access: 'anyone',
    body: z.strictObject({ email, password: z.string().min(1).max(200), account: id.optional() }),
    reply: z.object({
      state: z.enum(['second_factor', 'signed_in', 'choose_account']),
      /** Only with `choose_account`. */
      accounts: z.array(z.object({ account: id, name: z.string() })).optional(),
    }),
  },
  'POST /sign-in/code': {
    summary: 'Completes a sign-in with an authenticator code or a recovery code.',
    access: 'anyone',
    body: z.strictObject({ code }),
    reply: signedIn,
  },
  'POST /sign-in/passkey/options': {
    summary: 'Returns the options for a sign-in with a passkey.',
    access: 'anyone',
    body: nothing,
    reply: signOptions,
  },
  'POST /sign-in/passkey': {
    summary: 'Signs in with a passkey; no second factor is needed.',
    access: 'anyone',
    body: z.strictObject({ response: signedByPasskey }),
    bodyBytesMax: 16 * 1024,
    reply: signedIn,
  },
  'POST /sign-in/oidc': {
    summary: 'Returns the address for a sign-in with another service.',
    access: 'anyone',
    body: z.strictObject({ provider: id }),
    reply: z.object({ url: z.url() }),
  },
  'GET /sign-in/oidc/{provider}/callback': {
    summary: 'Receives the browser from another service: signs in, or redirects to the sign-in page with a reason.',
    access: 'anyone',
    query: z.object({
      code: z.string().max(4_096).optional(),
      state: z.string().max(512).optional(),
      iss: z.string().max(512).optional(),
      error: z.string().max(512).optional(),
      error_description: z.string().max(2_048).optional(),
    }),
    reply: 'redirect',
  },
  'POST /sign-out': { summary: 'Signs out.', access: 'anyone', body: nothing, reply: nothing },
  'GET /me': {
    summary: 'Returns the signed-in user, their sign-in methods and their sessions.',
    access: 'person',
    reply: z.object({
      person,
      /** Whether the user has proved that the address is theirs. Unverified users can't join a second account. */
      email_verified: z.boolean(),
      /** The services that are configured or linked. */
      services: z.array(z.object({ id, name: z.string(), linked: z.boolean() })),
      has_password: z.boolean(),
      totp: z.boolean(),
      passkeys: z.array(z.object({ id, name: z.string(), added_at: time, used_at: time.nullable() })),
      sessions: z.array(
        z.object({
          id,
          this: z.boolean(),
          address: z.string().nullable(),
          client: z.string().nullable(),
          seen_at: time,
          expires_at: time,
        }),
      ),
    }),
  },
  'PATCH /me': {
    summary: 'Changes your name, or the time zone in which the console shows you times of day.',
    access: 'person',
    body: z.strictObject({ name: givenName, time_zone: z.string().max(64).nullable() }).partial(),
    reply: nothing,
  },
  'POST /me/password': {
    summary: 'Changes your password and ends all your other sessions.',
    access: 'person',
    body: z.strictObject({ current: z.string().max(200), next: password }),
    reply: nothing,
  },
  'DELETE /me/sessions/{session}': { summary: 'Ends one of your sessions.', access: 'person', reply: nothing },
  'POST /me/totp': {
    summary: 'Begins the setup of a second factor: returns the secret for the authenticator, and recovery codes.',
    access: 'person',
    body: z.strictObject({ password: z.string().max(200) }),
    reply: z.object({ uri: z.string(), secret: z.string(), recovery_codes: z.array(z.string()) }),
  },
  'POST /me/totp/confirm': {
    summary: 'Turns the second factor on with its first code.',
    access: 'person',
    body: z.strictObject({ code }),
    reply: nothing,
  },
  'POST /me/totp/remove': {
    summary: 'Turns the second factor off.',
    access: 'person',
    body: z.strictObject({ password: z.string().max(200) }),
    reply: nothing,
  },
  'POST /me/passkeys/options': {
    summary: 'Returns the options for a new passkey.',
    access: 'person',
    /** Null: the user has no password and must have signed in within the last ten minutes. */
    body: z.strictObject({ password: z.string().max(200).nullable() }),
    reply: makeOptions,
  },
  'POST /me/passkeys': {
    summary: 'Adds a passkey.',
    access: 'person',
    body: z.strictObject({ name: givenName, response: madePasskey }),
    reply: nothing,
  },
  'PATCH /me/passkeys/{passkey}': {
    summary: 'Renames a passkey.',
    access: 'person',
    body: z.strictObject({ name: givenName }),
    reply: nothing,
  },
  'DELETE /me/passkeys/{passkey}': { summary: 'Removes a passkey.', access: 'person', reply: nothing },
  'POST /me/services': {
    summary: 'Returns the address for linking a service as a sign-in method.',
    access: 'person',
    /** Null: the user has no password and must have signed in within the last ten minutes. */
    body: z.strictObject({ provider: id, password: z.string().max(200).nullable() }),
    reply: z.object({ url: z.url() }),
  },
  'DELETE /me/services/{service}': { summary: 'Unlinks a service.', access: 'person', reply: nothing },
  'GET /invitations/{token}': {
    summary: 'Returns an invitation.',
    access: 'anyone',
    reply: z.object({
      valid: z.boolean(),
      account: id.nullable(),
      role: role.nullable(),
      email: z.string().nullable(),
      invited_by: z.string().nullable(),
    }),
  },
  'POST /invitations/{token}': {
    summary: 'Accepts an invitation as the signed-in user or, without a session, as a new user.',
    access: 'anyone',
    body: z.strictObject({ name: givenName.nullable(), password: password.nullable() }),
    reply: session,
  },
  'GET /resets/{token}': {
    summary: 'Returns the user and the expiry of a password reset link.',
    access: 'anyone',
    reply: z.object({ valid: z.boolean(), email: z.string().nullable(), expires_at: time.nullable() }),
  },
  'POST /resets/{token}': {
    summary: 'Sets the password and ends all sessions of the user. The link works once.',
    access: 'anyone',
    body: z.strictObject({ password }),
    reply: nothing,
  },
} as const satisfies RouteTable;

/**
 * Configures the sign-in library: passwords, second factors, other services. The library serves no requests; only the
 * functions that `sign-in.ts` calls are reachable. It connects only to the service that it is created for.
 */
import { betterAuth } from 'better-auth';
import { genericOAuth, twoFactor } from 'better-auth/plugins';
import { generateId } from '../../identity/key-format.ts';
import type { Secret } from '../../lib/secret.ts';
import type { PeopleStore } from '../../store/ports/people.ts';
import { readEmail } from '../email-address.ts';
import { toPlainName } from '../person-name.ts';
import { CLIENT_ADDRESS_HEADER, COOKIE_PREFIX } from './auth-cookies.ts';
import { createAuthRows } from './auth-rows.ts';
import { hashPassword, isPassword, PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN } from './passwords.ts';
import { SESSION_MS_MAX } from './sessions.ts';

/** Another service that users may sign in with. */
export interface OidcService {
  readonly id: string;
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client. */
  readonly clientSecret: Secret | null;
  /** Lower case; null: any. */
  readonly allowedDomains: readonly string[] | null;
}

/** A user arriving from another service; `isNew`: no user here has this address. */
export interface ServicePerson {
  readonly email: string;
  readonly isNew: boolean;
}

interface EngineParts {
  readonly people: PeopleStore;
  /** Derived from the master key. */
  readonly secret: Secret;
  /** The gateway's public address, without a trailing slash. */
  readonly baseUrl: string;
  /** Receives the library's error messages. */
  readonly onRejected: (cause: string) => void;
  readonly service: { readonly of: OidcService; mayEnter(person: ServicePerson): Promise<boolean> } | null;
}

const SECOND_STEP_SECONDS_MAX = 600;

const ID_WORDS: { readonly [model: string]: string } = {
  user: 'person',
  session: 'session',
  account: 'method',
  verification: 'step',
  twoFactor: 'factor',
};

export type AuthEngine = ReturnType<typeof createAuthEngine>;

/** Creates the library over our store. With a service, it fetches that service's discovery document. */
export function createAuthEngine({ people, secret, baseUrl, onRejected, service }: EngineParts) {
  return betterAuth({
    appName: 'Tollgate',
    baseURL: baseUrl,
    // No route serves this path: each service sets its own redirect address.
    basePath: '/app/api/sign-in/oidc',
    onAPIError: { errorURL: '/app/sign-in' },
    database: createAuthRows(people),
    secrets: [{ version: 1, value: secret.reveal() }],
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    logger: { level: 'error', log: (level, cause) => (level === 'error' ? onRejected(cause) : undefined) },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: PASSWORD_CHARACTERS_MIN,
      maxPasswordLength: PASSWORD_CHARACTERS_MAX,
      password: { hash: hashPassword, verify: ({ password, hash }) => isPassword(password, hash) },
    },
    user: {
      modelName: 'person',
      fields: { emailVerified: 'email_verified', createdAt: 'created_at_ms', updatedAt: 'updated_at_ms' },
      validateUserInfo: async ({ user, source }) => {
        if (service === null || source.oauth?.providerId !== service.of.id) return { error: 'not_invited' };
        // The address as the service wrote it: the library lower-cases it, which turns the Kelvin sign into a k.
        const email = readEmail(source.oauth.profile?.email);
        if (email === null) return { error: 'email_not_plain' };
        if (user.emailVerified !== true) return { error: 'email_not_verified' };
        if (!isOfDomain(email, service.of.allowedDomains)) return { error: 'domain_not_allowed' };
        const isNew = source.action === 'create-user';
        return (await service.mayEnter({ email, isNew })) ? undefined : { error: 'not_invited' };
      },
    },
    session: {
      modelName: 'person_session',
      fields: {
        userId: 'person',
        ipAddress: 'address',
        userAgent: 'client',
        createdAt: 'created_at_ms',
        updatedAt: 'seen_at_ms',
        expiresAt: 'expires_at_ms',
      },
      expiresIn: SESSION_MS_MAX / 1_000,
      disableSessionRefresh: true,
      freshAge: 0,
    },
    account: {
      modelName: 'sign_in_method',
      fields: {
        userId: 'person',
        providerId: 'provider',
        accountId: 'subject',
        password: 'password_hash',
        createdAt: 'created_at_ms',
        updatedAt: 'updated_at_ms',
      },
      // A service signs in the user that it created or is linked to, by its own user id (`sub`). An address alone gives
      // no access.
      accountLinking: { disableImplicitLinking: true },
    },
    verification: {
      modelName: 'sign_in_step',
      storeIdentifier: 'hashed',
      fields: {
        identifier: 'name',
        createdAt: 'created_at_ms',
        updatedAt: 'updated_at_ms',
        expiresAt: 'expires_at_ms',
      },
    },
    advanced: {
      cookiePrefix: COOKIE_PREFIX,
      // The prefix and `Secure` are added when cookies are sent, because they depend on how the page was loaded.
      useSecureCookies: false,
      // Requests are checked before this point, and every address that the library redirects to is ours.
      disableCSRFCheck: true,
      disableOriginCheck: true,
      ipAddress: { ipAddressHeaders: [CLIENT_ADDRESS_HEADER], ipv6Subnet: 128 },
      database: { generateId: ({ model }) => generateId(ID_WORDS[model] ?? 'row') },
    },
    plugins: [
      twoFactor({
        issuer: 'Tollgate',
        twoFactorCookieMaxAge: SECOND_STEP_SECONDS_MAX,
        schema: {
          user: { fields: { twoFactorEnabled: 'second_factor' } },
          twoFactor: {
            modelName: 'second_factor',
            fields: {
              userId: 'person',
              backupCodes: 'recovery_codes',
              failedVerificationCount: 'failures',
              lockedUntil: 'locked_until_ms',
            },
          },
        },
      }),
      genericOAuth({ config: service === null ? [] : [renderService(service.of, baseUrl)] }),
    ],
  });
}

function renderService({ id, issuer, clientId, clientSecret }: OidcService, baseUrl: string) {
  return {
    providerId: id,
    discoveryUrl: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    clientId,
    ...(clientSecret === null ? {} : { clientSecret: clientSecret.reveal() }),
    scopes: ['openid', 'email', 'profile'],
    redirectURI: `${baseUrl}/app/api/sign-in/oidc/${encodeURIComponent(id)}/callback`,
    requireIdTokenVerification: true,
    pkce: true,
    accountSubject: ({ tokens, profile }: Identified) => requireSubject(tokens.idToken, profile.sub),
    mapProfileToUser: (profile: Record<string, unknown>) => ({
      name: (typeof profile.name === 'string' && toPlainName(profile.name)) || String(profile.email ?? ''),
    }),
  };
}

interface Identified {
  readonly tokens: { readonly idToken?: string | undefined };
  readonly profile: { readonly sub?: unknown };
}

/**
 * The user's id at the service. The library has verified the id_token if there is one; the userinfo response counts
 * only for the same user. OpenID Connect Core 1.0, section 5.3.2.
 */
function requireSubject(idToken: string | undefined, ofProfile: unknown): string {
  if (idToken === undefined) throw new Error('the service sent no id_token');
  const { sub } = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString());
  if (typeof sub !== 'string' || sub === '') throw new Error('the id_token names no user (sub)');
  if (ofProfile !== sub) throw new Error('the userinfo endpoint speaks of another user (sub) than the id_token');
  return sub;
}

function isOfDomain(email: string, domains: readonly string[] | null): boolean {
  return domains === null || domains.includes(email.slice(email.lastIndexOf('@') + 1));
}

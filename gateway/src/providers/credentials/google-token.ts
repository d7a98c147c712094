/**
 * Exchanges Google's credentials for access tokens: signed assertions, refresh tokens, federated tokens and
 * impersonation. Source: google-auth 2.62 (2026-11-22).
 */
import { createSign } from 'node:crypto';
import { Secret } from '../../lib/secret.ts';
import { asText } from '../../protocols/json.ts';
import type {
  AuthorizedUser,
  ExternalAccount,
  GoogleCredentials,
  Impersonation,
  ServiceAccount,
} from './google-credentials.ts';
import { readSubjectToken } from './google-subject-token.ts';
import type { Surroundings } from './surroundings.ts';
import { readToken, readTokenAnswer } from './token-answer.ts';
import type { Token } from './token-cache.ts';

export const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const TOKEN_ENDPOINT = 'https://oauth2.googleapis.com/token';
const ASSERTION_SECONDS = 3_600;

/** Rejects with a sentence without any secret. */
export function exchangeGoogle(credentials: GoogleCredentials, surroundings: Surroundings): Promise<Token> {
  switch (credentials.type) {
    case 'service_account':
      return exchangeAssertion(credentials, surroundings);
    case 'authorized_user':
      return refresh(credentials, surroundings);
    case 'impersonated_service_account':
      return exchangeGoogle(credentials.source, surroundings).then((token) =>
        impersonate(token, credentials.impersonation, surroundings),
      );
    case 'external_account':
      return exchangeExternal(credentials, surroundings);
  }
}

function exchangeAssertion(account: ServiceAccount, surroundings: Surroundings): Promise<Token> {
  const input = renderAssertion(account, Math.floor(surroundings.nowMs() / 1000));
  const signature = createSign('RSA-SHA256').update(input).sign(account.privateKey.reveal(), 'base64url');
  return post(account.tokenUrl, surroundings, {
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: `${input}.${signature}`,
  });
}

/** What a service account signs: header and claims. `issuedAt`: unix seconds. */
export function renderAssertion({ clientEmail, privateKeyId }: ServiceAccount, issuedAt: number): string {
  const header = { alg: 'RS256', ...(privateKeyId === null ? {} : { kid: privateKeyId }), typ: 'JWT' };
  const claims = {
    aud: TOKEN_ENDPOINT,
    exp: issuedAt + ASSERTION_SECONDS,
    iat: issuedAt,
    iss: clientEmail,
    scope: SCOPE,
  };
  return [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
}

function refresh({ clientId, clientSecret, refreshToken }: AuthorizedUser, surroundings: Surroundings): Promise<Token> {
  return post(TOKEN_ENDPOINT, surroundings, {
    grant_type: 'refresh_token',
    client_id: clientId,
    client_secret: clientSecret.reveal(),
    refresh_token: refreshToken.reveal(),
  });
}

async function exchangeExternal(account: ExternalAccount, surroundings: Surroundings): Promise<Token> {
  const subject = await readSubjectToken(account, surroundings);
  const { userProject } = account;
  const federated = await post(account.tokenUrl, surroundings, {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    audience: account.audience,
    scope: SCOPE,
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    subject_token_type: account.subjectTokenType,
    subject_token: subject.reveal(),
    ...(userProject === null ? {} : { options: JSON.stringify({ userProject }) }),
  });
  return account.impersonation === null ? federated : impersonate(federated, account.impersonation, surroundings);
}

async function impersonate(source: Token, impersonation: Impersonation, surroundings: Surroundings): Promise<Token> {
  const { url, delegates, lifetimeSeconds } = impersonation;
  const from = `Google (${new URL(url).hostname})`;
  const answer = await surroundings.fetchBound(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${source.secret.reveal()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ delegates, scope: [SCOPE], lifetime: `${lifetimeSeconds}s` }),
  });
  const { accessToken, expireTime } = await readTokenAnswer(answer, from);
  const token = asText(accessToken);
  const expiresMs = Date.parse(asText(expireTime) ?? '');
  if (token === null || Number.isNaN(expiresMs)) throw new Error(`${from} answered without accessToken or expireTime`);
  return { secret: new Secret(token), expiresMs };
}

async function post(url: string, surroundings: Surroundings, form: Record<string, string>): Promise<Token> {
  const from = `Google (${new URL(url).hostname})`;
  const answer = await surroundings.fetchBound(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  });
  return readToken(await readTokenAnswer(answer, from), surroundings.nowMs(), from);
}

/**
 * Parses Google's credential files: service accounts, users, impersonated accounts and external accounts. Every address
 * but that of an external account's own token must be Google's. Source: google-auth 2.62, https://google.aip.dev/auth
 * (2026-11-22).
 */
import { createPrivateKey } from 'node:crypto';
import { Secret } from '../../lib/secret.ts';
import { asArray, asObject, asText, type JsonObject, parseObject } from '../../protocols/json.ts';

interface Base {
  /** The project that requests are counted in, if it is not the one of the credential; null: none is named. */
  readonly quotaProject: string | null;
}

export interface ServiceAccount extends Base {
  readonly type: 'service_account';
  readonly clientEmail: string;
  /** PEM. */
  readonly privateKey: Secret;
  readonly privateKeyId: string | null;
  readonly tokenUrl: string;
}

export interface AuthorizedUser extends Base {
  readonly type: 'authorized_user';
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly refreshToken: Secret;
}

export interface Impersonation {
  readonly url: string;
  readonly delegates: readonly string[];
  readonly lifetimeSeconds: number;
}

export interface ImpersonatedAccount extends Base {
  readonly type: 'impersonated_service_account';
  readonly source: GoogleCredentials;
  readonly impersonation: Impersonation;
}

/** Where the token of another issuer is. `field`: its member in a JSON text; null: the text is the token. */
export type SubjectSource =
  | { readonly from: 'file'; readonly path: string; readonly field: string | null }
  | {
      readonly from: 'url';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly field: string | null;
    }
  | { readonly from: 'aws'; readonly regionUrl: string | null; readonly sessionUrl: string | null };

export interface ExternalAccount extends Base {
  readonly type: 'external_account';
  readonly audience: string;
  readonly subjectTokenType: string;
  readonly tokenUrl: string;
  readonly subject: SubjectSource;
  /** Null: the federated token is used itself. */
  readonly impersonation: Impersonation | null;
  /** The project of a workforce identity. */
  readonly userProject: string | null;
}

export type GoogleCredentials = ServiceAccount | AuthorizedUser | ImpersonatedAccount | ExternalAccount;

/** Parses the text of a file. Throws an Error whose message contains nothing of the text but names and hosts. */
export function parseGoogleCredentials(text: string): GoogleCredentials {
  const file = parseObject(text);
  if (file === null) throw new Error('is not a JSON object');
  return readCredentials(file);
}

/** The file names files or addresses of its own, where the token of another issuer is. */
export function isExternal(credentials: GoogleCredentials): boolean {
  return credentials.type === 'impersonated_service_account'
    ? isExternal(credentials.source)
    : credentials.type === 'external_account';
}

function readCredentials(file: JsonObject): GoogleCredentials {
  const universe = asText(file.universe_domain) ?? 'googleapis.com';
  if (universe !== 'googleapis.com') throw new Error(`has the universe_domain ${universe}, expected googleapis.com`);
  const quotaProject = asText(file.quota_project_id);
  switch (file.type) {
    case 'service_account':
      return { ...readServiceAccount(file), quotaProject };
    case 'authorized_user':
      return {
        type: 'authorized_user',
        clientId: need(file, 'client_id'),
        clientSecret: new Secret(need(file, 'client_secret')),
        refreshToken: new Secret(need(file, 'refresh_token')),
        quotaProject,
      };
    case 'impersonated_service_account':
      return readImpersonated(file, quotaProject);
    case 'external_account':
      return { ...readExternalAccount(file), quotaProject };
    default:
      throw new Error(
        'has another type, expected service_account, authorized_user, impersonated_service_account or external_account',
      );
  }
}

function readServiceAccount(file: JsonObject): Omit<ServiceAccount, 'quotaProject'> {
  const privateKey = need(file, 'private_key');
  if (!isPrivateKey(privateKey)) throw new Error('has a private_key that is no PEM key');
  return {
    type: 'service_account',
    clientEmail: need(file, 'client_email'),
    privateKey: new Secret(privateKey),
    privateKeyId: asText(file.private_key_id),
    tokenUrl: needGoogleUrl(file, 'token_uri', 'https://oauth2.googleapis.com/token'),
  };
}

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

function readImpersonated(file: JsonObject, quotaProject: string | null): ImpersonatedAccount {
  const source = asObject(file.source_credentials);
  if (source === null) throw new Error('has no source_credentials');
  if (source.type === 'impersonated_service_account') throw new Error('has source_credentials that impersonate, too');
  return {
    type: 'impersonated_service_account',
    source: readCredentials(source),
    impersonation: {
      url: needGoogleUrl(file, 'service_account_impersonation_url', null),
      delegates: asArray(file.delegates).map(String),
      lifetimeSeconds: LIFETIME_SECONDS,
    },
    quotaProject,
  };
}

const LIFETIME_SECONDS = 3_600;

function readExternalAccount(file: JsonObject): Omit<ExternalAccount, 'quotaProject'> {
  const impersonates = file.service_account_impersonation_url !== undefined;
  const seconds = Number(asObject(file.service_account_impersonation)?.token_lifetime_seconds ?? LIFETIME_SECONDS);
  return {
    type: 'external_account',
    audience: need(file, 'audience'),
    subjectTokenType: need(file, 'subject_token_type'),
    tokenUrl: needGoogleUrl(file, 'token_url', 'https://sts.googleapis.com/v1/token'),
    subject: readSubject(file),
    impersonation: impersonates
      ? {
          url: needGoogleUrl(file, 'service_account_impersonation_url', null),
          delegates: [],
          lifetimeSeconds: Number.isSafeInteger(seconds) && seconds > 0 ? seconds : LIFETIME_SECONDS,
        }
      : null,
    userProject: asText(file.workforce_pool_user_project),
  };
}

function readSubject(file: JsonObject): SubjectSource {
  const source = asObject(file.credential_source);
  if (source === null) throw new Error('has no credential_source');
  if (source.executable !== undefined) {
    throw new Error('has a credential_source that starts a program, which a gateway does not; use a file or a url');
  }
  if (source.environment_id !== undefined) {
    if (source.environment_id !== 'aws1') throw new Error('has another environment_id than aws1');
    return { from: 'aws', regionUrl: asText(source.region_url), sessionUrl: asText(source.imdsv2_session_token_url) };
  }
  const format = asObject(source.format);
  const field = format?.type === 'json' ? need(format, 'subject_token_field_name') : null;
  const path = asText(source.file);
  if (path !== null) return { from: 'file', path, field };
  const url = asText(source.url);
  if (url === null) throw new Error('has a credential_source without file, url or environment_id');
  if (!/^https?:\/\//.test(url) || URL.parse(url) === null) throw new Error('has a credential_source with no http url');
  const headers = Object.entries(asObject(source.headers) ?? {}).map(([name, value]) => [name, String(value)] as const);
  return { from: 'url', url, headers: Object.fromEntries(headers), field };
}

function need(object: JsonObject, member: string): string {
  const value = asText(object[member]);
  if (value === null) throw new Error(`has no ${member}`);
  return value;
}

/** An address that a secret goes to. `usual` null: the file must name it. */
function needGoogleUrl(file: JsonObject, member: string, usual: string | null): string {
  const text = asText(file[member]) ?? usual;
  const url = text === null ? null : URL.parse(text);
  if (text === null || url === null) throw new Error(`has no ${member}`);
  const isGoogles = url.protocol === 'https:' && url.port === '' && url.username === '' && isGoogleHost(url.hostname);
  if (!isGoogles) throw new Error(`has a ${member} at ${url.host}, expected https:// and a host of googleapis.com`);
  return url.href;
}

function isGoogleHost(hostname: string): boolean {
  return hostname.endsWith('.googleapis.com');
}

/**
 * Finds Google's application default credentials: the file of a variable, that of gcloud, the metadata server. Source:
 * google-auth 2.62, `google.auth._default`; https://cloud.google.com/docs/authentication/application-default-credentials
 * (2026-11-22).
 */
import { isAbsolute } from 'node:path';
import { asText, parseObject } from '../../protocols/json.ts';
import { type GoogleCredentials, parseGoogleCredentials } from './google-credentials.ts';
import { exchangeGoogle, SCOPE } from './google-token.ts';
import { readIfReadable, readIfThere, readText, type Surroundings } from './surroundings.ts';
import { readToken, readTokenAnswer } from './token-answer.ts';
import type { Token } from './token-cache.ts';

/** A token, and the project that its requests are counted in. */
export interface GoogleToken extends Token {
  /** Null: the credential's own. */
  readonly quotaProject: string | null;
}

/** A token of the first credentials found; those of a file that cannot be used end the search. */
export async function exchangeDefault(surroundings: Surroundings): Promise<GoogleToken> {
  const { environment } = surroundings;
  const named = environment.GOOGLE_APPLICATION_CREDENTIALS;
  const quotaProject = environment.GOOGLE_CLOUD_QUOTA_PROJECT || null;
  const token = named
    ? await exchangeFile(named, surroundings)
    : ((await exchangeGcloud(surroundings)) ?? (await askMetadataServer(surroundings)));
  return quotaProject === null ? token : { ...token, quotaProject };
}

/** A token for the document of a provider: a JSON text, or the path of a file, which is read at each exchange. */
export async function exchangeDocument(text: string, surroundings: Surroundings): Promise<GoogleToken> {
  return isPath(text) ? exchangeFile(text, surroundings) : exchange(parseGoogleCredentials(text), surroundings);
}

/**
 * The project of a credential, as Google's own tools find it: the one that its JSON names, else that of
 * `GOOGLE_CLOUD_PROJECT`; null: neither names one, or the file cannot be read. `text`: the document of a provider; null:
 * the application default credentials. Without `usesMachine`, only a JSON text is read.
 */
export function findProject(text: string | null, surroundings: Surroundings, usesMachine: boolean): string | null {
  if (!usesMachine) return text === null || isPath(text) ? null : projectIn(text);
  const { GOOGLE_APPLICATION_CREDENTIALS: named, GOOGLE_CLOUD_PROJECT: project } = surroundings.environment;
  const path = text === null ? named || gcloudFile(surroundings) : isPath(text) ? text : null;
  return projectIn(path === null ? (text ?? '') : readIfReadable(surroundings, path)) ?? (project || null);
}

function projectIn(text: string): string | null {
  return asText(parseObject(text)?.project_id);
}

/** Whether the document is the path of a file. */
export function isPath(text: string): boolean {
  return isAbsolute(text);
}

async function exchange(credentials: GoogleCredentials, surroundings: Surroundings): Promise<GoogleToken> {
  const token = await exchangeGoogle(credentials, surroundings);
  return { ...token, quotaProject: credentials.quotaProject };
}

async function exchangeFile(path: string, surroundings: Surroundings): Promise<GoogleToken> {
  const name = nameOf(path);
  return exchange(parseFile(name, await readText(surroundings, path, name)), surroundings);
}

function nameOf(path: string): string {
  return `the Google credentials file ${path}`;
}

function parseFile(name: string, text: string): GoogleCredentials {
  try {
    return parseGoogleCredentials(text);
  } catch (error) {
    throw new Error(`${name} ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Null: gcloud has no file here. */
async function exchangeGcloud(surroundings: Surroundings): Promise<GoogleToken | null> {
  const path = gcloudFile(surroundings);
  if (path === null) return null;
  const name = nameOf(path);
  const text = await readIfThere(surroundings, path, name);
  return text === null ? null : exchange(parseFile(name, text), surroundings);
}

/** Null: this machine has no home folder. */
function gcloudFile({ environment: { CLOUDSDK_CONFIG: folder, HOME: home } }: Surroundings): string | null {
  const base = folder || (home ? `${home}/.config/gcloud` : null);
  return base === null ? null : `${base}/application_default_credentials.json`;
}

const METADATA_MS = 3_000;
const METADATA_TRIES = 3;
/** The variable may name a host and a port, nothing else. */
const METADATA_HOST = /^[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$/;

async function askMetadataServer(surroundings: Surroundings): Promise<GoogleToken> {
  const { environment, fetchBound } = surroundings;
  const host = environment.GCE_METADATA_HOST || 'metadata.google.internal';
  if (!METADATA_HOST.test(host)) throw new Error('GCE_METADATA_HOST is not a host');
  const scopes = new URLSearchParams({ scopes: SCOPE });
  const url = `http://${host}/computeMetadata/v1/instance/service-accounts/default/token?${scopes}`;
  const from = 'the Google metadata server';
  for (let tries = 1; ; tries++) {
    try {
      const signal = AbortSignal.timeout(METADATA_MS);
      const answer = await fetchBound(url, { headers: { 'metadata-flavor': 'Google' }, signal });
      if (answer.headers.get('metadata-flavor') !== 'Google') throw new Error(`${from} answered as another server`);
      return { ...readToken(await readTokenAnswer(answer, from), surroundings.nowMs(), from), quotaProject: null };
    } catch (error) {
      if (tries < METADATA_TRIES) continue;
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(
        `no Google credentials were found: no GOOGLE_APPLICATION_CREDENTIALS, no file of gcloud, and no token of the metadata server: ${why}`,
      );
    }
  }
}

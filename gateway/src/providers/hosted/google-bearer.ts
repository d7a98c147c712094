/** Authorizes the requests of kinds at Google Cloud with access tokens: their members, tokens and faults. */
import { readFileSync } from 'node:fs';
import { exchangeDefault, exchangeDocument, findProject, type GoogleToken, isPath } from '../credentials/google-adc.ts';
import { isExternal, parseGoogleCredentials } from '../credentials/google-credentials.ts';
import type { Surroundings } from '../credentials/surroundings.ts';
import { perCredential, TokenCache } from '../credentials/token-cache.ts';
import type {
  CredentialSource,
  FinalRequest,
  GivenProvider,
  MemberFault,
  RequestCredential,
  SecretMember,
  Secrets,
  SettingMember,
  Settings,
} from '../provider.ts';

export const DOCUMENT: SecretMember = {
  name: 'credentials_json',
  title: 'Credentials (JSON)',
  description:
    'A credentials file of Google: the absolute path, or the JSON text, of a service account, a user, an impersonated or an external account.',
  hint: 'The text of the JSON file of a service account.',
  mayBeNone: false,
  document: true,
};

export const ADC: CredentialSource = {
  word: 'adc',
  title: 'Application default credentials',
  description:
    'application default credentials: `GOOGLE_APPLICATION_CREDENTIALS`, the file of gcloud, or the metadata server',
};

export const PROJECT: SettingMember = {
  name: 'project',
  title: 'Project',
  description:
    'The id of the Google Cloud project. Default: that of the service account, or of `GOOGLE_CLOUD_PROJECT`.',
  hint: 'The id of a project such as my-project-1. Leave blank for that of the service account.',
  pattern: /^(?:[a-z][a-z0-9.-]{0,62}:)?[a-z0-9][a-z0-9-]{0,62}$/,
  expected: 'the id of a project such as my-project-1',
};

/** The project that the credential names, as settings. `usesMachine`: also this machine's variables and files. */
export function findProjectSetting(
  { secrets, source }: Pick<GivenProvider, 'secrets' | 'source'>,
  usesMachine: boolean,
  surroundings: Surroundings,
): Settings {
  const document = secrets[DOCUMENT.name]?.reveal() ?? null;
  if (document === null && source === null) return {};
  const project = findProject(document, surroundings, usesMachine);
  return project === null || !PROJECT.pattern.test(project) ? {} : { [PROJECT.name]: project };
}

export interface GoogleBearer {
  /**
   * Adds the token, and the project that the request is counted in. `note` gets a way to discard the token. Rejects if
   * none can be had.
   */
  authorize(
    request: FinalRequest,
    credential: RequestCredential,
    note?: (discard: () => boolean) => void,
  ): Promise<void> | void;
}

export function createGoogleBearer(surroundings: Surroundings): GoogleBearer {
  const tokenOf = perCredential((credential) => {
    const document = credential.secrets[DOCUMENT.name]?.reveal();
    const exchange = () =>
      credential.source === null ? exchangeDocument(document ?? '', surroundings) : exchangeDefault(surroundings);
    return new TokenCache('the Google access token', exchange, surroundings);
  });
  return {
    authorize(request, credential, note) {
      const cache = tokenOf(credential, '');
      return cache.use((token) => {
        note?.(() => cache.discard(token));
        authorizeBy(token, request, credential);
      });
    },
  };
}

function authorizeBy({ secret, quotaProject }: GoogleToken, request: FinalRequest, { hide }: RequestCredential): void {
  hide(secret);
  request.headers.push(['authorization', `Bearer ${secret.reveal()}`]);
  if (quotaProject !== null) request.headers.push(['x-goog-user-project', quotaProject]);
}

/** The faults of the credential. `also`: in words, the alternative that the kind takes. */
export function findCredentialFaults({ secrets, source }: GivenProvider, also = ''): readonly MemberFault[] {
  const document = secrets[DOCUMENT.name];
  if (document === undefined) {
    const expected = `credentials: adc, or a credentials file of Google${also}`;
    const advice = 'Add credentials: adc, the path of a file, or its JSON text.';
    return source === null ? [{ member: DOCUMENT.name, found: 'no credentials', expected, advice }] : [];
  }
  const found = findDocumentFault(document.reveal());
  const expected = 'the absolute path, or the JSON text, of a credentials file of Google';
  return found === null ? [] : [{ member: DOCUMENT.name, found, expected, advice: 'Correct it.' }];
}

/** The fault of the document; null: none. The file is read again whenever a token is needed. */
function findDocumentFault(text: string): string | null {
  try {
    parseGoogleCredentials(isPath(text) ? readFileSync(text, 'utf8') : text);
    return null;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return `a file that cannot be read (${String(error.code)})`;
    return `a text that ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The document names a file, or an address that is not Google's. */
export function isForeign(secrets: Secrets): boolean {
  const text = secrets[DOCUMENT.name]?.reveal();
  if (text === undefined) return false;
  if (isPath(text)) return true;
  try {
    return isExternal(parseGoogleCredentials(text));
  } catch {
    // `findCredentialFaults` reports the fault.
    return false;
  }
}

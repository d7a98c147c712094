/** Owns which of a request's credential headers counts. Source: contract, section 4. Judges no key. */
import { CallFailure } from '../errors/call-failure.ts';
import { hasKeyForm } from '../identity/key-format.ts';

const BEARER = /^Bearer +(\S+) *$/i;

/** The key as the caller presented it. Throws `unauthorized` where there is none; the message says how to send one. */
export function readCredential(headers: Headers, protocol: 'chat' | 'messages'): string {
  const authorization = headers.get('authorization');
  const apiKey = headers.get('x-api-key')?.trim() || null;
  if (authorization === null && apiKey !== null) return apiKey;
  const bearer = authorization === null ? null : (BEARER.exec(authorization)?.[1] ?? null);
  if (protocol === 'messages' && apiKey !== null && (bearer === null || hasKeyForm(apiKey))) return apiKey;
  if (bearer !== null) return bearer;
  throw new CallFailure(
    'unauthorized',
    authorization === null
      ? 'no API key: send it as "authorization: Bearer KEY" or "x-api-key: KEY". Keys are made at /app/keys or with "tollgate keys create"'
      : 'the authorization header is not of the form "Bearer KEY"',
    { closeConnection: true },
  );
}

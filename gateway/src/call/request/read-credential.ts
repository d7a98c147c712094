/**
 * Reads a request's credential and protocol version from its headers. Source: contract, section 4. Does not check the
 * key.
 */
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { hasKeyForm } from '../../identity/key-format.ts';

const BEARER = /^Bearer +(\S+) *$/i;

/** The key as the caller sent it. Throws `unauthorized` if there is none; the message says how to send one. */
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

type ProtocolVersion = '2023-06-01' | '2026-10-21';

/** `provider-version` and `anthropic-version` are synonyms; absent means 2023-06-01, any other value is refused. */
export function readProtocolVersion(headers: Headers, protocol: 'chat' | 'messages'): ProtocolVersion {
  if (protocol === 'chat') return '2023-06-01';
  const found = headers.get('anthropic-version') ?? headers.get('provider-version');
  if (found === null) return '2023-06-01';
  if (found === '2023-06-01' || found === '2026-10-21') return found;
  throw invalidRequest(
    `anthropic-version is ${JSON.stringify(found.slice(0, 80))}; expected 2023-06-01 or 2026-10-21`,
    'anthropic-version',
  );
}

/** Owns the protocol version of the messages endpoint: which header, which values. Source: contract, section 4. */
import { invalidRequest } from '../errors/call-failure.ts';

export type ProtocolVersion = '2023-06-01' | '2026-10-21';

/** `provider-version` and `anthropic-version` are the same header; absent means 2023-06-01, another value is refused. */
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

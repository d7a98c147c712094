/** Owns what a call's record says from its dispatch on, however it ends. */
import { maskKeys } from '../lib/mask-keys.ts';
import type { CallDraft } from '../store/ledger-port.ts';
import type { Call } from './call.ts';

/** Throws where the caller is not known: such a call has no record. */
export function draftRecord(call: Call, price_version: string | null): CallDraft {
  const { principal, route, facts } = call;
  if (principal === null) throw new Error('a call without a caller has no record');
  return {
    request_id: call.requestId,
    at_ms: call.atMs,
    account: principal.account.id,
    workspace: principal.workspaceId,
    key_id: principal.keyId,
    key_name: principal.keyName,
    end_user: masked(facts?.endUser),
    session: masked(call.session),
    protocol: call.protocol,
    model: masked(facts?.model),
    served_model: masked(route?.upstream.model),
    provider: route?.upstream.provider ?? null,
    stream: facts?.stream ?? false,
    price_version,
  };
}

/** What a caller or an upstream wrote, for the record: a key sent in the wrong place must not be kept. */
export function masked(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : maskKeys(text);
}

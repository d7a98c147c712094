/** Makes the rows of `stored_state` of what a call left at its provider. */
import type { CallDraft } from '../../ports/ledger.ts';
import type { StoredByCall, StoredRow } from '../../ports/stored-state.ts';

/** The tokens that a provider reads again for a thing of the kind; others have none in a prompt. */
const TOKENS_OF: { readonly [kind: string]: (stored: StoredByCall) => number } = {
  response: ({ tokens }) => tokens,
  conversation: ({ tokens }) => tokens,
  item: ({ output_tokens }) => output_tokens,
  audio: ({ output_tokens }) => output_tokens,
};

/** In the order in which they are written: a later one of the same id changes the earlier. */
export function storedRows(
  { account, workspace, request_id }: Pick<CallDraft, 'account' | 'workspace' | 'request_id'>,
  stored: StoredByCall,
): Array<Omit<StoredRow, 'object'>> {
  const { provider, model, credential, expires_at_ms, things } = stored;
  return things.map(({ kind, id }) => {
    const tokens = TOKENS_OF[kind]?.(stored) ?? 0;
    return { account, workspace, id, kind, provider, model, credential, tokens, request_id, expires_at_ms };
  });
}

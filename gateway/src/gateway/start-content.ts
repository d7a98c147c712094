/** Owns that the content of a call is gathered from here on, and until nothing of the call runs any more. */
import type { BodyPolicy } from '../store/ports.ts';
import type { Call } from './call.ts';
import type { ContentDesk } from './content-desk.ts';
import { ContentDraft } from './content-draft.ts';

/** A draft for the call, closed with it. The call's principal is known. */
export function startContent(call: Call, desk: ContentDesk, policy: BodyPolicy, request: Uint8Array): void {
  if (call.principal === null) throw new Error('what a call says is kept only once its caller is known');
  const draft = new ContentDraft(desk, policy, call, call.principal, request);
  call.content = draft;
  call.held.push(() => draft.close());
}

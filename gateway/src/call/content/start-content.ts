/** Owns that the content of a call is gathered from here on, and until nothing of the call runs any more. */
import type { BodyPolicy } from '../../store/ports/records.ts';
import type { ExchangeListener } from '../../upstream/exchange.ts';
import type { Call } from '../call.ts';
import type { UpstreamCall } from '../plan/upstream-call.ts';
import { ContentDraft } from './content-draft.ts';
import type { ContentDesk } from './content-recorder.ts';

/** A draft for the call, closed with it. The call's principal is known. */
export function startContent(call: Call, desk: ContentDesk, policy: BodyPolicy, request: Uint8Array): void {
  if (call.principal === null) throw new Error('what a call says is kept only once its caller is known');
  const draft = new ContentDraft(desk, policy, call, call.principal, request);
  call.content = draft;
  call.held.push(() => draft.close());
}

/** What the client gets as it came is heard on its way out; here only what it gets in another form: in its format, in our words. */
export function listenForContent(
  content: ContentDraft,
  { body, translation }: Pick<UpstreamCall, 'body' | 'translation'>,
  listener: ExchangeListener,
): ExchangeListener {
  content.sent(body);
  let hears = translation !== null;
  return {
    onHead(head) {
      hears ||= head.status !== 200;
      listener.onHead(head);
    },
    onBody(span) {
      if (hears) content.heard(span);
      listener.onBody(span);
    },
    onEnd: () => listener.onEnd(),
    onFailure: (failure) => listener.onFailure(failure),
  };
}

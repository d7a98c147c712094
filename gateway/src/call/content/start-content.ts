/** Starts recording the bodies of a call, and listens to upstream for them. */
import type { BodyPolicy } from '../../store/ports/records.ts';
import type { ExchangeListener } from '../../upstream/exchange.ts';
import type { Call } from '../call.ts';
import type { UpstreamCall } from '../plan/upstream-call.ts';
import { ContentDraft } from './content-draft.ts';
import type { ContentRecorder } from './content-recorder.ts';

/** Creates a draft that is closed with the call. The call's principal must be known. */
export function startContent(call: Call, recorder: ContentRecorder, policy: BodyPolicy, request: Uint8Array): void {
  if (call.principal === null) throw new Error('what a call says is kept only once its caller is known');
  const draft = new ContentDraft(recorder, policy, call, call.principal, request);
  call.content = draft;
  call.held.push(() => draft.close());
}

/**
 * Records upstream bytes only if the client gets them in another form: translated, or as an error of the gateway. Bytes
 * that pass unchanged are recorded on their way out.
 */
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

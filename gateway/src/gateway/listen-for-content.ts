/** Owns hearing what an attempt sends upstream and what comes back, of a call whose content is kept. Changes nothing of either. */
import type { ExchangeListener } from '../upstream/exchange.ts';
import type { ContentDraft } from './content-draft.ts';
import type { UpstreamCall } from './upstream-call.ts';

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

/**
 * Renders the stored payloads of a request: its conversation, and the bodies as sent. Loaded only when something is
 * stored.
 */
import { useState } from 'react';
import { counted } from '../../lib/format.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Section } from '../../ui/page.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import type { CallDetail } from './call-cost.tsx';
import { Conversation } from './conversation.tsx';
import { readableText, streamEvents } from './json-text.ts';

export default function KeptBodies({ detail }: { readonly detail: CallDetail }) {
  return (
    <>
      {detail.conversation !== null && (
        <Section title="Conversation">
          <Conversation turns={detail.conversation} />
        </Section>
      )}
      {detail.raw !== null && <RawBodies raw={detail.raw} />}
    </>
  );
}

type View = 'request' | 'upstream' | 'response';

function RawBodies({ raw }: { readonly raw: NonNullable<CallDetail['raw']> }) {
  const [view, setView] = useState<View>('request');
  const events = streamEvents(raw.response);
  return (
    <Section
      title="Payloads"
      aside={
        <Segmented<View>
          label="Payload"
          value={view}
          choices={[
            ['request', 'Request'],
            ...(raw.upstream_request === null ? [] : ([['upstream', 'Request as sent']] as const)),
            ['response', events === null ? 'Response' : 'Events'],
          ]}
          onChoose={setView}
        />
      }
    >
      {raw.truncated && <p className="text-amber">Truncated: longer than the storage limit.</p>}
      {view === 'request' && <CodeBlock what="request body" text={readableText(raw.request)} wraps />}
      {view === 'upstream' && raw.upstream_request !== null && (
        <div className="grid gap-3 md:grid-cols-2">
          <div className="min-w-0">
            <h3 className="mb-1 text-sm text-ink-2">Received</h3>
            <CodeBlock what="received request body" text={readableText(raw.request)} wraps />
          </div>
          <div className="min-w-0">
            <h3 className="mb-1 text-sm text-ink-2">
              {raw.upstream_request === raw.request ? 'Sent (unchanged)' : 'Sent'}
            </h3>
            <CodeBlock what="sent request body" text={readableText(raw.upstream_request)} wraps />
          </div>
        </div>
      )}
      {view === 'response' &&
        (events === null ? (
          <CodeBlock what="response body" text={readableText(raw.response)} wraps />
        ) : (
          <>
            <p className="text-sm text-ink-2">{counted(events.length, 'event')} sent to the client.</p>
            <CodeBlock what="events" text={events.join('\n\n')} wraps />
          </>
        ))}
    </Section>
  );
}

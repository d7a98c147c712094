/**
 * Renders the stored payloads of a request: its conversation, and the bodies as sent. Loaded only when something is
 * stored.
 */
import { useState } from 'react';
import { counted } from '../../lib/numbers.ts';
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
      title="Bodies"
      aside={
        <Segmented<View>
          label="Which body"
          value={view}
          choices={[
            ['request', 'Came in'],
            ...(raw.upstream_request === null ? [] : ([['upstream', 'In and sent on']] as const)),
            ['response', events === null ? 'Answer' : 'Events'],
          ]}
          onChoose={setView}
        />
      }
    >
      {raw.truncated && <p className="text-amber">Longer than what is kept of a call: the end is missing.</p>}
      {view === 'request' && <CodeBlock what="request body" text={readableText(raw.request)} wraps />}
      {view === 'upstream' && raw.upstream_request !== null && (
        <div className="grid gap-3 md:grid-cols-2">
          <div className="min-w-0">
            <h3 className="mb-1 text-sm text-ink-2">Came in</h3>
            <CodeBlock what="request body as it came in" text={readableText(raw.request)} wraps />
          </div>
          <div className="min-w-0">
            <h3 className="mb-1 text-sm text-ink-2">
              {raw.upstream_request === raw.request ? 'Sent on, the same bytes' : 'Sent on'}
            </h3>
            <CodeBlock what="request body as it was sent on" text={readableText(raw.upstream_request)} wraps />
          </div>
        </div>
      )}
      {view === 'response' &&
        (events === null ? (
          <CodeBlock what="answer body" text={readableText(raw.response)} wraps />
        ) : (
          <>
            <p className="text-sm text-ink-2">{counted(events.length, 'event')}, as sent.</p>
            <CodeBlock what="events" text={events.join('\n\n')} wraps />
          </>
        ))}
    </Section>
  );
}

/**
 * Renders the stored payloads of a request: its conversation, and the bodies as sent. Content is always shown as text.
 * Loaded only when something is stored.
 */

import { Brain, Code, Image as ImageIcon, Reply, Wrench } from 'lucide-react';
import { useState } from 'react';
import { counted, sentenceCase } from '../../lib/format.ts';
import { part } from '../../lib/part.ts';
import { DialogPart } from '../../shell/page-fault.tsx';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Segmented } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import type { CallDetail } from './call-cost.tsx';
import { exactMembers, readableText, streamEvents } from './json-text.ts';

export default function StoredPayloads({ detail }: { readonly detail: CallDetail }) {
  return (
    <>
      {detail.conversation !== null && (
        <Section title="Conversation">
          <Conversation turns={detail.conversation} />
        </Section>
      )}
      {detail.raw !== null && <RawPayloads raw={detail.raw} protocol={detail.call.protocol} />}
    </>
  );
}

const CodeDialog = part(() => import('../playground/body/code-dialog.tsx'));

type View = 'request' | 'upstream' | 'response';

interface RawPayloadsProps {
  readonly raw: NonNullable<CallDetail['raw']>;
  readonly protocol: CallDetail['call']['protocol'];
}

function RawPayloads({ raw, protocol }: RawPayloadsProps) {
  const [view, setView] = useState<View>('request');
  const [showsCode, setShowsCode] = useState(false);
  const body = raw.truncated ? null : exactMembers(raw.request);
  const codeProtocol = CODE_PROTOCOLS.find((one) => one === protocol);
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
      {view === 'request' && body !== null && codeProtocol !== undefined && (
        <p>
          <Button
            icon={<Code size={14} aria-hidden="true" />}
            onPointerEnter={CodeDialog.prefetch}
            onFocus={CodeDialog.prefetch}
            onClick={() => setShowsCode(true)}
          >
            View code
          </Button>
        </p>
      )}
      {showsCode && body !== null && codeProtocol !== undefined && (
        <DialogPart onClose={() => setShowsCode(false)}>
          <CodeDialog protocol={codeProtocol} body={body} onClose={() => setShowsCode(false)} />
        </DialogPart>
      )}
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

/** The formats whose requests can be shown as code. */
const CODE_PROTOCOLS = ['chat', 'messages', 'responses'] as const;

type Turn = NonNullable<CallDetail['conversation']>[number];
type Part = Turn['parts'][number];

function Conversation({ turns }: { readonly turns: readonly Turn[] }) {
  if (turns.length === 0) return <p className="text-ink-2">The conversation is empty.</p>;
  return (
    <ol className="flex flex-col gap-3">
      {turns.map((turn, at) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: turns are identified by position
          key={at}
          className={classNames(
            'flex min-w-0 flex-col gap-2 rounded-md border border-line px-3 py-2.5',
            turn.role === 'assistant' ? 'bg-panel' : 'bg-sunken',
          )}
        >
          <h3 className="text-sm font-medium text-ink-2">{sentenceCase(turn.role)}</h3>
          {turn.parts.map((part, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified by position
            <PartView key={index} part={part} />
          ))}
        </li>
      ))}
    </ol>
  );
}

const TEXT = 'text-read break-words whitespace-pre-wrap';

function PartView({ part }: { readonly part: Part }) {
  switch (part.kind) {
    case 'text':
      return <p className={TEXT}>{part.text}</p>;
    case 'reasoning':
      return (
        <details>
          <summary className="inline-flex items-center gap-1.5 text-ink-2">
            <Brain size={13} aria-hidden="true" /> Reasoning
          </summary>
          <p className={`${TEXT} mt-1 border-l-2 border-line pl-3 text-ink-2`}>{part.text}</p>
        </details>
      );
    case 'tool_call':
    case 'tool_result': {
      const Icon = part.kind === 'tool_call' ? Wrench : Reply;
      return (
        <div className="min-w-0">
          <p className="flex items-center gap-1.5 text-ink-2">
            <Icon size={13} aria-hidden="true" />
            {part.kind === 'tool_call' ? 'Tool call' : 'Tool result'} <code>{part.name ?? ''}</code>
          </p>
          <pre className="mt-1 break-all whitespace-pre-wrap">{readableText(part.text)}</pre>
        </div>
      );
    }
    default:
      return (
        <p className="flex items-center gap-1.5 text-ink-2">
          <ImageIcon size={13} aria-hidden="true" /> {part.name} {part.text}
        </p>
      );
  }
}

/** Shows the turns so far of the playground's conversation, and the stored request that it begins with. */
import { MessageSquarePlus, Undo2, X } from 'lucide-react';
import { useMemo } from 'react';
import { counted } from '../../lib/format.ts';
import { PROTOCOL_TITLES } from '../../lib/protocols.ts';
import { Link } from '../../route/link.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Fold, TextAreaField } from '../../ui/field.tsx';
import { type BaseRequest, type Exchange, readBase } from './body/call-body.ts';

interface BasePanelProps {
  readonly base: BaseRequest;
  readonly error: string | undefined;
  readonly onChange: (base: BaseRequest) => void;
  readonly onRemove: () => void;
}

export function BasePanel({ base, error, onChange, onRemove }: BasePanelProps) {
  const facts = useMemo(() => factsOf(base), [base]);
  return (
    <section
      aria-label="Stored request"
      className="flex min-w-0 flex-col gap-2 rounded-md border border-line bg-sunken p-3"
    >
      <header className="flex items-center gap-2">
        <Link
          to="/app/logs/{-$request}"
          names={{ request: base.requestId }}
          className="min-w-0 flex-1 truncate font-mono text-accent underline underline-offset-2"
        >
          {base.requestId}
        </Link>
        <IconButton label="Remove stored request" onClick={onRemove}>
          <X size={14} />
        </IconButton>
      </header>
      <p className="text-ink-2">{facts}</p>
      <Fold title="Edit JSON" opens={false} mustShow={error !== undefined}>
        <TextAreaField
          label="Request body (JSON)"
          rows={14}
          spellCheck={false}
          value={base.text}
          error={error}
          hint="Sent as it is, with the chosen model and streamed."
          onChange={(event) => onChange({ ...base, text: event.target.value })}
        />
      </Fold>
    </section>
  );
}

/** `Messages · 12 messages · 8 tools`. */
function factsOf(base: BaseRequest): string {
  const members = readBase(base);
  if (typeof members === 'string') return members;
  const turns = members[base.protocol === 'responses' ? 'input' : 'messages'];
  const tools = Array.isArray(members.tools) ? members.tools.length : 0;
  return [
    PROTOCOL_TITLES[base.protocol],
    counted(Array.isArray(turns) ? turns.length : 1, base.protocol === 'responses' ? 'input item' : 'message'),
    ...(tools === 0 ? [] : [counted(tools, 'tool')]),
  ].join(' · ');
}

interface TurnsProps {
  readonly exchanges: readonly Exchange[];
  readonly onUndo: () => void;
  readonly onReset: () => void;
}

export function Turns({ exchanges, onUndo, onReset }: TurnsProps) {
  if (exchanges.length === 0) return null;
  return (
    <section aria-label="Conversation" className="flex min-w-0 flex-col gap-2">
      <ol className="flex max-h-96 min-w-0 flex-col gap-2 overflow-y-auto">
        {exchanges.map(({ user, images, answer, model }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: turns are identified by position
          <li key={at} className="flex min-w-0 flex-col gap-2">
            {(user !== '' || images.length > 0) && (
              <p className="rounded-md bg-sunken px-3 py-2 break-words whitespace-pre-wrap">
                {user}
                {images.length > 0 && <span className="text-ink-2"> ({counted(images.length, 'image')})</span>}
              </p>
            )}
            <div className="border-l-2 border-line pl-3">
              <p className="text-sm text-ink-2">{model}</p>
              <p className="line-clamp-6 break-words whitespace-pre-wrap" title={answer.slice(0, 2_000)}>
                {answer}
              </p>
            </div>
          </li>
        ))}
      </ol>
      <div className="flex flex-wrap gap-2">
        <Button kind="quiet" icon={<Undo2 size={14} aria-hidden="true" />} onClick={onUndo}>
          Undo last turn
        </Button>
        <Button kind="quiet" icon={<MessageSquarePlus size={14} aria-hidden="true" />} onClick={onReset}>
          New conversation
        </Button>
      </div>
    </section>
  );
}

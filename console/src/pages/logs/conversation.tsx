/**
 * Renders a conversation: turns with their roles, collapsed reasoning, tool calls as JSON. Content is always shown as
 * text.
 */

import { Brain, Image as ImageIcon, Reply, Wrench } from 'lucide-react';
import { sentenceCase } from '../../lib/format.ts';
import { classNames } from '../../ui/class-names.ts';
import type { CallDetail } from './call-cost.tsx';
import { readableText } from './json-text.ts';

type Turn = NonNullable<CallDetail['conversation']>[number];
type Part = Turn['parts'][number];

export function Conversation({ turns }: { readonly turns: readonly Turn[] }) {
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

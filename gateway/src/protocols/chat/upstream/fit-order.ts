/** Fits the order of messages to hosts and chat templates that refuse some orders. */
import type { WritableJson } from '../../../wire/json-writer.ts';
import type { Draft } from '../../openai/render-context.ts';
import type { ChatTraits } from '../../upstream-traits.ts';

/** What the assistant says to results where the user spoke before it did. */
const NOTED = 'OK.';

/** The same messages where the host takes any order. */
export function fitOrder(messages: Draft[], { strictTurns, answersResults }: ChatTraits): Draft[] {
  const joined = strictTurns ? joinTurns(messages) : messages;
  return answersResults ? joined.flatMap((message, index) => afterResults(message, joined[index - 1])) : joined;
}

function afterResults(message: Draft, before: Draft | undefined): Draft[] {
  const isAnswered = before?.role !== 'tool' || message.role === 'tool' || message.role === 'assistant';
  return isAnswered ? [message] : [{ role: 'assistant', content: NOTED }, message];
}

/** Instructions before the conversation are one message, those within it are the user's, and so are messages in a row. */
function joinTurns(messages: readonly Draft[]): Draft[] {
  const joined: Draft[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    const isLate = instructs(message) && last !== undefined && !instructs(last);
    const next = isLate ? { role: 'user', content: wrapped(message.content) } : message;
    const goesOn = last?.role === next.role && last?.name === next.name && (next.role === 'user' || instructs(next));
    if (last !== undefined && goesOn) {
      joined[joined.length - 1] = { ...last, content: together(last.content, next.content) };
    } else joined.push(next);
  }
  return joined;
}

function instructs({ role }: Draft): boolean {
  return role === 'system' || role === 'developer';
}

type Content = WritableJson | undefined;

/** As in other formats, whose conversations have no instructions either. */
function wrapped(content: Content): WritableJson {
  if (typeof content === 'string') return `<system>${content}</system>`;
  return partsOf(content).map((part) => ({ ...part, text: `<system>${part.text}</system>` }));
}

function together(before: Content, after: Content): WritableJson {
  if (typeof before === 'string' && typeof after === 'string') return `${before}\n\n${after}`;
  const parts = partsOf(before);
  for (const part of partsOf(after)) parts.push(part);
  return parts;
}

function partsOf(content: Content): Draft[] {
  return Array.isArray(content) ? (content as Draft[]) : [{ type: 'text', text: content }];
}

/**
 * Renders turns as messages of the two roles that the format has: joins turns, orders tool results, and places
 * instructions. Source: wire reference C.1.
 */
import type { GenerationRequest, Turn } from '../../../generation/request.ts';
import { RawJson } from '../../../wire/json-writer.ts';
import { type MatchedTurn, orderResults } from '../../request/match-results.ts';
import { refuseMember, type TranslationNotes } from '../../request/translation-notes.ts';
import type { WrittenBlock } from './cache-control.ts';
import { type PartContext, plainText, renderPart, renderParts } from './render-part.ts';

export interface Conversation {
  readonly system: readonly WrittenBlock[];
  readonly messages: ReadonlyArray<{ readonly role: Message['role']; readonly content: readonly WrittenBlock[] }>;
  /** The last assistant turn called tools and does not begin with its thinking. */
  readonly lacksThinking: boolean;
}

/** Inserted before a conversation that does not begin with the user, as Anthropic requires. */
const OPENING = '(continued)';

/**
 * Throws CallFailure `invalid_request` for calls without results, results without calls, and parts that cannot be
 * rendered.
 */
export function renderConversation(request: GenerationRequest, context: PartContext): Conversation {
  const { turns } = request;
  const bodyStart = turns.findIndex((turn) => !instructs(turn));
  const leading = bodyStart === -1 ? turns : turns.slice(0, bodyStart);
  const system = leading.flatMap((turn) => renderParts(turn.parts, turn.path, context));
  const messages: Message[] = [];
  for (const turn of turns.slice(leading.length)) addTurn(messages, turn, context);
  requireLastWord(turns, messages);
  trimPrefill(messages.at(-1), context.notes);
  const last = messages.findLast(({ role }) => role === 'assistant');
  const ordered: Ordered[] = messages.map(({ role, blocks }, index) => {
    return { role, content: [...orderResults(messages, index), ...blocks] };
  });
  if (ordered[0]?.role !== 'user') ordered.unshift({ role: 'user', content: [{ type: 'text', text: OPENING }] });
  return { system, messages: ordered, lacksThinking: last !== undefined && last.calls.length > 0 && !last.thinks };
}

function instructs({ role }: Turn): boolean {
  return role === 'system' || role === 'developer';
}

function addTurn(messages: Message[], turn: Turn, context: PartContext): void {
  dropName(turn, context.notes);
  const spoken = renderTurn(turn, roleOf(turn, messages, context), context);
  if (spoken.blocks.length === 0 && spoken.results.length === 0) return;
  const last = messages.at(-1);
  if (last?.role !== spoken.role || spoken.role === 'system') {
    messages.push(spoken);
    return;
  }
  last.blocks.push(...spoken.blocks);
  last.results.push(...spoken.results);
  last.calls.push(...spoken.calls);
}

function dropName({ name, role }: Turn, notes: TranslationNotes): void {
  if (name !== null) notes.drop('messages.name', `the messages format has no name of a ${role}`);
}

/** Nothing may come between calls and their results, so an instruction there is sent as the user's. */
function roleOf(turn: Turn, messages: readonly Message[], { traits }: PartContext): Message['role'] {
  if (!instructs(turn)) return turn.role === 'assistant' ? 'assistant' : 'user';
  return traits.messages.systemTurns && !awaitsResults(messages) ? 'system' : 'user';
}

function awaitsResults(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  if (last?.role === 'assistant') return last.calls.length > 0;
  return last !== undefined && last.results.length < (messages.at(-2)?.calls.length ?? 0);
}

function renderTurn(turn: Turn, role: Message['role'], context: PartContext): Message {
  const message: Message = { role, path: turn.path, blocks: [], calls: [], results: [], thinks: false };
  const wrapped = instructs(turn) && role === 'user';
  for (const [index, part] of turn.parts.entries()) {
    const callPath = `${turn.path}.tool_calls.${message.calls.length}`;
    const path = part.kind === 'tool_call' ? `${callPath}.function.arguments` : `${turn.path}.content.${index}`;
    const block = wrapped && part.kind === 'text' ? wrap(part.text) : renderPart(part, path, context);
    if (block === null) continue;
    if (part.kind === 'tool_result') message.results.push({ id: part.call_id, path: turn.path, block });
    else {
      if (message.blocks.length === 0) message.thinks = part.kind === 'reasoning';
      message.blocks.push(block);
    }
    if (part.kind === 'tool_call') message.calls.push({ id: part.id, path: callPath });
  }
  return message;
}

function wrap(text: string): WrittenBlock | null {
  return plainText(text) === null ? null : plainText(`<system>${text}</system>`);
}

/** Anthropic refuses a prefill that ends with white space. */
function trimPrefill(last: Message | undefined, notes: TranslationNotes): void {
  const block = last?.blocks.at(-1);
  if (last?.role !== 'assistant' || block === undefined || block instanceof RawJson || block.type !== 'text') return;
  const text = String(block.text);
  if (text === text.trimEnd()) return;
  notes.drop('messages[].content', 'the beginning of the answer may not end with white space; it was sent without');
  last.blocks[last.blocks.length - 1] = { ...block, text: text.trimEnd() };
}

/**
 * If the last user turn were empty, the response would continue the assistant's text before it, which is a different
 * request.
 */
function requireLastWord(turns: readonly Turn[], messages: readonly Message[]): void {
  const last = turns.at(-1);
  if (last === undefined || last.role !== 'user' || messages.at(-1)?.role === 'user') return;
  throw refuseMember(`${last.path}.content`, 'found nothing that can be read; expected what the user says');
}

/** A message under construction. */
interface Message extends MatchedTurn<WrittenBlock> {
  readonly role: 'user' | 'assistant' | 'system';
  readonly path: string;
  readonly blocks: WrittenBlock[];
  thinks: boolean;
}

interface Ordered {
  readonly role: Message['role'];
  readonly content: readonly WrittenBlock[];
}

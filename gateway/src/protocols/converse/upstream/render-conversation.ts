/**
 * Renders turns as messages of the two roles that all models have: joins turns, orders tool results, and places
 * instructions. Source: provider reference C.3.
 */
import type { GenerationRequest, Turn } from '../../../generation/request.ts';
import { type MatchedTurn, orderResults } from '../../request/match-results.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import { type Block, type PartContext, plainText, renderCachePoint, renderPart } from './render-part.ts';

export interface Conversation {
  readonly system: Block[];
  readonly messages: ReadonlyArray<{ readonly role: Message['role']; readonly content: Block[] }>;
  /** The last assistant turn called tools and does not begin with its thinking. */
  readonly lacksThinking: boolean;
}

/** Inserted before a conversation that does not begin with the user. */
const OPENING = '(continued)';
/** Inserted beside documents, which must not be alone. */
const ABOUT_DOCUMENTS = 'See the document.';

/**
 * Throws CallFailure `invalid_request` for calls without results, results without calls, and parts that cannot be
 * rendered.
 */
export function renderConversation(request: GenerationRequest, context: PartContext): Conversation {
  const { turns } = request;
  const bodyStart = turns.findIndex((turn) => !instructs(turn));
  const leading = bodyStart === -1 ? turns : turns.slice(0, bodyStart);
  const system = leading.flatMap(({ parts, path }) => parts.flatMap((part) => renderPart(part, path, context)));
  const messages: Message[] = [];
  for (const turn of turns.slice(leading.length)) addTurn(messages, turn, context);
  requireLastWord(turns, messages);
  trimPrefill(messages.at(-1), context);
  const ordered = messages.map(({ role, blocks }, index) => ({
    role,
    content: besideText([...orderResults(messages, index).flat(), ...blocks]),
  }));
  if (ordered[0]?.role !== 'user') ordered.unshift({ role: 'user', content: [{ text: OPENING }] });
  const whole = renderCachePoint(request.cache_mark, context);
  const lastContent = ordered.at(-1)?.role === 'user' ? ordered.at(-1)?.content : undefined;
  if (whole !== null && lastContent?.at(-1)?.cachePoint === undefined) lastContent?.push(whole);
  const last = messages.findLast(({ role }) => role === 'assistant');
  return { system, messages: ordered, lacksThinking: last !== undefined && last.calls.length > 0 && !last.thinks };
}

/** A message under construction. A result is its block and perhaps a cache point. */
interface Message extends MatchedTurn<readonly Block[]> {
  readonly role: 'user' | 'assistant' | 'system';
  readonly blocks: Block[];
  thinks: boolean;
}

function instructs({ role }: Turn): boolean {
  return role === 'system' || role === 'developer';
}

function addTurn(messages: Message[], turn: Turn, context: PartContext): void {
  if (turn.name !== null) context.notes.drop('messages.name', `Bedrock has no name of a ${turn.role}`);
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

/** Nothing may come between calls and their results, so an instruction there is sent as the user's. */
function roleOf(turn: Turn, messages: readonly Message[], { traits, vendor }: PartContext): Message['role'] {
  if (!instructs(turn)) return turn.role === 'assistant' ? 'assistant' : 'user';
  const takesSystem = traits.messages.systemTurns && vendor.reasoning === 'thinking';
  return takesSystem && !awaitsResults(messages) ? 'system' : 'user';
}

function awaitsResults(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  if (last?.role === 'assistant') return last.calls.length > 0;
  return last !== undefined && last.results.length < (messages.at(-2)?.calls.length ?? 0);
}

function renderTurn(turn: Turn, role: Message['role'], context: PartContext): Message {
  const message: Message = { role, blocks: [], calls: [], results: [], thinks: false };
  const wrapped = instructs(turn) && role === 'user';
  for (const [index, part] of turn.parts.entries()) {
    const callPath = `${turn.path}.tool_calls.${message.calls.length}`;
    const path = part.kind === 'tool_call' ? `${callPath}.function.arguments` : `${turn.path}.content.${index}`;
    const marked = wrapped && part.kind === 'text' && plainText(part.text) !== null;
    const shown = marked ? { ...part, text: `<system>${part.text}</system>` } : part;
    const blocks = renderPart(shown, path, context);
    if (blocks.length === 0) continue;
    if (part.kind === 'tool_result') message.results.push({ id: part.call_id, path: turn.path, block: blocks });
    else {
      if (message.blocks.length === 0) message.thinks = part.kind === 'reasoning';
      message.blocks.push(...blocks);
    }
    if (part.kind === 'tool_call') message.calls.push({ id: part.id, path: callPath });
  }
  return message;
}

/** Bedrock refuses documents without a text in the same message. */
function besideText(content: Block[]): Block[] {
  const isAlone =
    content.some(({ document }) => document !== undefined) && !content.some(({ text }) => text !== undefined);
  return isAlone ? [...content, { text: ABOUT_DOCUMENTS }] : content;
}

/** The beginning of an answer may not end with white space. */
function trimPrefill(last: Message | undefined, { notes }: PartContext): void {
  const block = last?.blocks.at(-1);
  if (last?.role !== 'assistant' || typeof block?.text !== 'string' || block.text === block.text.trimEnd()) return;
  notes.drop('messages[].content', 'the beginning of the answer may not end with white space; it was sent without');
  last.blocks[last.blocks.length - 1] = { text: block.text.trimEnd() };
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

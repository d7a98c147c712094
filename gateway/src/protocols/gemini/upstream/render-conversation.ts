/**
 * Renders turns as contents of the two roles that Gemini has: joins turns, keeps the calls of a turn in one content, and
 * places results, instructions and the stand-in for lost signatures.
 */
import type { GenerationRequest, Turn } from '../../../generation/request.ts';
import { RawJson } from '../../../wire/json-writer.ts';
import { LOST_SIGNATURE } from '../../host-data.ts';
import { isAttribution } from '../../request/join-turns.ts';
import { type MatchedTurn, orderResults } from '../../request/match-results.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import { type PartContext, plainText, renderPart, renderResult, type WrittenPart } from './render-part.ts';

export interface Conversation {
  readonly system: readonly WrittenPart[];
  readonly contents: ReadonlyArray<{ readonly role: 'user' | 'model'; readonly parts: readonly WrittenPart[] }>;
}

/** A content under construction. */
interface Content extends MatchedTurn<WrittenPart> {
  readonly role: 'user' | 'model';
  readonly parts: WrittenPart[];
  /** Media of results, for models that take none inside of a result. */
  readonly media: WrittenPart[];
}

/** Inserted before a conversation that does not begin with the user. */
const OPENING = '(continued)';

/**
 * Throws CallFailure `invalid_request` for calls without results, results without calls, and parts that cannot be
 * rendered. `instruction`: what the gateway adds to the system's.
 */
export function renderConversation(
  { turns }: GenerationRequest,
  instruction: string | null,
  context: PartContext,
): Conversation {
  const bodyStart = turns.findIndex((turn) => !instructs(turn));
  const leading = bodyStart === -1 ? turns : turns.slice(0, bodyStart);
  const system = [
    ...leading.flatMap(({ parts, path }) =>
      parts.flatMap((part) => (isAttribution(part) ? [] : renderPart(part, path, context))),
    ),
    ...(instruction === null ? [] : plainText(instruction)),
  ];
  const contents: Content[] = [];
  for (const turn of turns.slice(leading.length)) addTurn(contents, turn, context);
  requireLastWord(turns.at(-1), contents.at(-1));
  const ordered = contents.map(({ role, parts, media }, index) => ({
    role,
    parts: [...orderResults(contents, index), ...media, ...parts],
  }));
  if (ordered[0]?.role !== 'user') ordered.unshift({ role: 'user', parts: plainText(OPENING) });
  if (!context.model.isGemma) return { system, contents: ordered };
  ordered[0]?.parts.unshift(...system);
  return { system: [], contents: ordered };
}

function instructs({ role }: Turn): boolean {
  return role === 'system' || role === 'developer';
}

function addTurn(contents: Content[], turn: Turn, context: PartContext): void {
  if (turn.name !== null) context.notes.drop('messages.name', `Gemini has no name of a ${turn.role}`);
  const content = renderTurn(turn, context);
  if (content.parts.length === 0 && content.results.length === 0) return;
  const last = contents.at(-1);
  if (last?.role !== content.role) {
    contents.push(content);
    return;
  }
  last.parts.push(...content.parts);
  last.results.push(...content.results);
  last.calls.push(...content.calls);
  last.media.push(...content.media);
}

function renderTurn(turn: Turn, context: PartContext): Content {
  const role = turn.role === 'assistant' ? 'model' : 'user';
  const content: Content = { role, parts: [], calls: [], results: [], media: [] };
  for (const [index, part] of turn.parts.entries()) {
    const callPath = `${turn.path}.tool_calls.${content.calls.length}`;
    const path = part.kind === 'tool_call' ? `${callPath}.function.arguments` : `${turn.path}.content.${index}`;
    if (part.kind === 'tool_result') {
      const { result, media } = renderResult(part, path, context);
      content.results.push({ id: part.call_id, path: turn.path, block: result });
      content.media.push(...media);
      continue;
    }
    // Nothing but the user's words may come between others.
    if (instructs(turn) && part.kind === 'text') {
      content.parts.push(...(part.text === '' ? [] : plainText(`<system>${part.text}</system>`)));
      continue;
    }
    content.parts.push(...renderPart(part, path, context));
    if (part.kind === 'tool_call') content.calls.push({ id: part.id, path: callPath });
  }
  return content;
}

/** If the last user turn were empty, the answer would continue the model's text before it. */
function requireLastWord(turn: Turn | undefined, last: Content | undefined): void {
  if (turn === undefined || turn.role !== 'user' || last?.role === 'user') return;
  throw refuseMember(`${turn.path}.content`, 'found nothing that can be read; expected what the user says');
}

/**
 * The contents with Google's stand-in on the first call of each turn that has lost its signature: models from Gemini 3 on
 * refuse a step that begins without one.
 */
export function signCalls(contents: Conversation['contents']): Conversation['contents'] {
  return contents.map((content) => {
    const first = content.parts.findIndex((part) => !(part instanceof RawJson) && part.functionCall !== undefined);
    const call = content.parts[first];
    if (call === undefined || call instanceof RawJson || call.thoughtSignature !== undefined) return content;
    return { ...content, parts: content.parts.with(first, { ...call, thoughtSignature: LOST_SIGNATURE }) };
  });
}

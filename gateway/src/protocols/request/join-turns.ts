/**
 * Joins turns into messages of alternating roles, for formats other than chat completions: results of calls come first,
 * in the order of the calls, and instructions in their midst become the user's. Source: wire reference C.1.
 */
import type { Part } from '../../generation/part.ts';
import type { GenerationRequest, Turn } from '../../generation/request.ts';
import { refuseMember, type TranslationNotes } from './translation-notes.ts';

/** How a format writes the parts of turns. */
interface PartWriter<Block> {
  readonly notes: TranslationNotes;
  /** The format in messages to callers: `the messages format`. */
  readonly format: string;
  /** The model takes messages of the role `system` between others. */
  readonly takesSystemTurns: boolean;
  /** Instructions keep Claude Code's attribution. */
  readonly keepsAttribution: boolean;
  /** The blocks of a part; none if the format cannot express it. `path` is the part's place, for refusals. */
  renderPart(part: Part, path: string): readonly Block[];
  renderText(text: string): Block;
  /** A block of text without the white space at its end; null: it is another block, or ends otherwise. */
  trimEnd(block: Block): Block | null;
}

export interface JoinedTurns<Block> {
  /** The instructions before the conversation. */
  readonly system: Block[];
  readonly messages: ReadonlyArray<{ readonly role: Role; readonly content: Block[] }>;
  /** The last assistant turn called tools and does not begin with its thinking. */
  readonly lacksThinking: boolean;
}

const ATTRIBUTION = 'x-anthropic-billing-header:';

/**
 * Whether an instruction is Claude Code's attribution. It changes with each request and would defeat prompt caching, so it
 * is not translated. Wire reference C.2.
 */
export function isAttribution(part: Part): boolean {
  return part.kind === 'text' && part.text.startsWith(ATTRIBUTION);
}

type Role = 'user' | 'assistant' | 'system';

/** A message under construction. A result is its blocks. */
interface Message<Block> extends MatchedTurn<readonly Block[]> {
  readonly role: Role;
  readonly blocks: Block[];
  thinks: boolean;
}

/** Inserted before a conversation that does not begin with the user. */
const OPENING = '(continued)';

/**
 * Throws CallFailure `invalid_request` for calls without results, results without calls, and parts that cannot be
 * rendered.
 */
export function joinTurns<Block>(request: GenerationRequest, writer: PartWriter<Block>): JoinedTurns<Block> {
  const turns = withOwnCallIds(request.turns);
  const bodyStart = turns.findIndex((turn) => !instructs(turn));
  const leading = bodyStart === -1 ? turns : turns.slice(0, bodyStart);
  const system = leading.flatMap(({ parts, path }) =>
    parts.flatMap((part) => (isAttribution(part) && !writer.keepsAttribution ? [] : writer.renderPart(part, path))),
  );
  const messages: Message<Block>[] = [];
  for (const turn of turns.slice(leading.length)) addTurn(messages, turn, writer);
  requireLastWord(turns.at(-1), messages.at(-1)?.role);
  trimPrefill(messages.at(-1), writer);
  const last = messages.findLast(({ role }) => role === 'assistant');
  const ordered = messages.map(({ role, blocks }, index) => {
    return { role, content: [...orderResults(messages, index).flat(), ...blocks] };
  });
  if (ordered[0]?.role !== 'user') ordered.unshift({ role: 'user', content: [writer.renderText(OPENING)] });
  return { system, messages: ordered, lacksThinking: last !== undefined && last.calls.length > 0 && !last.thinks };
}

/**
 * The turns with an id of its own for each call: some hosts number them from `call_0` on in each answer, and Anthropic and
 * OpenAI's Responses API refuse an id that an earlier turn has. Ids depend on earlier turns alone, so that caches of the
 * prompt hold. Two calls of one turn keep theirs: their results could not be told apart.
 */
export function withOwnCallIds(turns: readonly Turn[]): readonly Turn[] {
  /** Each id, with the last number that was tried to make another one of it. */
  const taken = new Map<string, number>();
  /** The new ids of the calls of the last assistant turn. */
  let renamed = new Map<string, string>();
  let isChanged = false;
  const owned = turns.map((turn, index) => {
    if (turn.role === 'assistant' && turns[index - 1]?.role !== 'assistant') renamed = new Map();
    const parts = turn.parts.map((part): Part => {
      if (part.kind === 'tool_result') {
        const call_id = renamed.get(part.call_id) ?? part.call_id;
        return call_id === part.call_id ? part : { ...part, call_id };
      }
      if (part.kind !== 'tool_call') return part;
      const id = renamed.get(part.id) ?? takeId(part.id, taken);
      renamed.set(part.id, id);
      isChanged ||= id !== part.id;
      return id === part.id ? part : { ...part, id };
    });
    return isChanged ? { ...turn, parts } : turn;
  });
  return isChanged ? owned : turns;
}

function takeId(id: string, taken: Map<string, number>): string {
  let count = taken.get(id) ?? 0;
  let own = id;
  if (count > 0) {
    do own = `${id}_${++count}`;
    while (taken.has(own));
  }
  taken.set(id, Math.max(count, 1));
  if (own !== id) taken.set(own, 1);
  return own;
}

function instructs({ role }: Turn): boolean {
  return role === 'system' || role === 'developer';
}

function addTurn<Block>(messages: Message<Block>[], turn: Turn, writer: PartWriter<Block>): void {
  const { name, role } = turn;
  if (name !== null) writer.notes.drop('messages.name', `${writer.format} has no name of a ${role}`);
  const spoken = renderTurn(turn, roleOf(turn, messages, writer.takesSystemTurns), writer);
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
function roleOf(turn: Turn, messages: readonly Message<unknown>[], takesSystemTurns: boolean): Role {
  if (!instructs(turn)) return turn.role === 'assistant' ? 'assistant' : 'user';
  return takesSystemTurns && !awaitsResults(messages) ? 'system' : 'user';
}

function awaitsResults(messages: readonly Message<unknown>[]): boolean {
  const last = messages.at(-1);
  if (last?.role === 'assistant') return last.calls.length > 0;
  return last !== undefined && last.results.length < (messages.at(-2)?.calls.length ?? 0);
}

function renderTurn<Block>(turn: Turn, role: Role, writer: PartWriter<Block>): Message<Block> {
  const message: Message<Block> = { role, blocks: [], calls: [], results: [], thinks: false };
  const wraps = instructs(turn) && role === 'user';
  for (const [index, part] of turn.parts.entries()) {
    const callPath = part.path ?? `${turn.path}.tool_calls.${message.calls.length}`;
    const path =
      part.path ?? (part.kind === 'tool_call' ? `${callPath}.function.arguments` : `${turn.path}.content.${index}`);
    const blocks = writer.renderPart(wraps ? wrap(part) : part, path);
    if (blocks.length === 0) continue;
    if (part.kind === 'tool_result')
      message.results.push({ id: part.call_id, path: part.path ?? turn.path, block: blocks });
    else {
      if (message.blocks.length === 0) message.thinks = part.kind === 'reasoning';
      message.blocks.push(...blocks);
    }
    if (part.kind === 'tool_call') message.calls.push({ id: part.id, path: callPath });
  }
  return message;
}

function wrap(part: Part): Part {
  const isSpoken = part.kind === 'text' && /\S/.test(part.text);
  return isSpoken ? { ...part, text: `<system>${part.text}</system>` } : part;
}

/** The beginning of an answer may not end with white space. */
function trimPrefill<Block>(last: Message<Block> | undefined, writer: PartWriter<Block>): void {
  const block = last?.blocks.at(-1);
  const trimmed = last?.role !== 'assistant' || block === undefined ? null : writer.trimEnd(block);
  if (last === undefined || trimmed === null) return;
  const why = 'the beginning of the answer may not end with white space; it was sent without';
  writer.notes.drop('messages[].content', why);
  last.blocks[last.blocks.length - 1] = trimmed;
}

/**
 * If the last user turn were empty, the response would continue the assistant's text before it, which is a different
 * request.
 */
function requireLastWord(turn: Turn | undefined, lastRole: Role | undefined): void {
  if (turn === undefined || turn.role !== 'user' || lastRole === 'user') return;
  const path = turn.parts[0]?.path ?? `${turn.path}.content`;
  throw refuseMember(path, 'found nothing that can be read; expected what the user says');
}

/** The calls and results of one turn, with the client's ids and the path of each, for refusals. */
interface MatchedTurn<Block> {
  readonly calls: { readonly id: string; readonly path: string }[];
  readonly results: { readonly id: string; readonly path: string; readonly block: Block }[];
}

/**
 * The results of a turn in the order of the calls before it. Throws CallFailure `invalid_request` if they do not match,
 * or if a call of the turn has no result in the next.
 */
function orderResults<Block>(turns: readonly MatchedTurn<Block>[], index: number): Block[] {
  const turn = turns[index];
  if (turn === undefined) return [];
  requireResults(turn, turns[index + 1]);
  if (turn.results.length === 0) return [];
  const places = new Map(turns[index - 1]?.calls.map(({ id }, place) => [id, place]));
  requireCalls(turn, places);
  const ordered = turn.results.toSorted((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
  return ordered.map(({ block }) => block);
}

function requireResults({ calls }: MatchedTurn<unknown>, next: MatchedTurn<unknown> | undefined): void {
  const answered = new Set(next?.results.map(({ id }) => id));
  const called = new Set<string>();
  for (const { id, path } of calls) {
    if (called.has(id)) throw refuseMember(path, `${quote(id)} is the id of a call before it; give each call its own`);
    called.add(id);
    if (!answered.has(id)) {
      throw refuseMember(
        path,
        `the call ${quote(id)} has no result in the next turn; send its result, or leave the call out`,
      );
    }
  }
}

function requireCalls({ results }: MatchedTurn<unknown>, places: ReadonlyMap<string, number>): void {
  const given = new Set<string>();
  for (const { id, path } of results) {
    if (!places.has(id)) {
      const expected = 'expected the id of a call in the assistant turn right before it';
      throw refuseMember(
        path,
        `found a result of the call ${quote(id)}; ${expected}. Send that call too, or leave the result out`,
      );
    }
    if (given.has(id)) throw refuseMember(path, `found a second result of the call ${quote(id)}; send one per call`);
    given.add(id);
  }
}

function quote(id: string): string {
  return JSON.stringify(id.length <= 64 ? id : `${id.slice(0, 64)}…`);
}

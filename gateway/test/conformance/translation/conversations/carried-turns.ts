/**
 * Puts the turns of a request into the order that every format on its path can express: results first, turns of one
 * role joined where messages joins them. `carried-parts.ts` handles their parts. Wire reference C.1 and C.2.
 */
import type { Turn } from '../../../../src/generation/request.ts';
import {
  type CarriedPart,
  carriedInstructions,
  carriedResult,
  carriedSaid,
  carriedSpeech,
  type Way,
} from './carried-parts.ts';

export interface CarriedTurn {
  readonly role: string;
  readonly name: string | null;
  readonly parts: readonly CarriedPart[];
}

const OPENING = '(continued)';

/** `instruction`: text that the translation appends to the request's own system turns, or null. */
export function carriedTurns(turns: readonly Turn[], instruction: string | null, way: Way): readonly CarriedTurn[] {
  const ids = numberIds();
  const read = turns.map((turn, index) => {
    // Messages has an id once: a later turn's call with it gets another one.
    const begins = turn.role === 'assistant' && turns[index - 1]?.role !== 'assistant';
    if (begins && way.through.has('messages')) ids.forget();
    return carriedTurn(turn, way, ids.idOf);
  });
  return way.through.has('messages') ? inMessagesOrder(read, instruction, way) : inChatOrder(read);
}

/** Compares ids by their order: the two formats allow different characters. */
function numberIds(): { readonly idOf: (id: string) => string; readonly forget: () => void } {
  const numbers = new Map<string, string>();
  let count = 0;
  return {
    idOf(id) {
      const known = numbers.get(id) ?? `call ${count++}`;
      numbers.set(id, known);
      return known;
    },
    forget: () => numbers.clear(),
  };
}

function carriedTurn({ role, name, parts }: Turn, way: Way, idOf: (id: string) => string): CarriedTurn {
  const named = way.through.has('messages') ? null : name;
  if (role === 'assistant') return { role, name: named, parts: carriedSpeech(parts, way, idOf) };
  if (role === 'user') {
    const visible = parts.flatMap((part) =>
      part.kind === 'tool_result' ? [carriedResult(part, way, idOf)] : carriedSaid(part, way),
    );
    return { role, name: named, parts: visible };
  }
  return { role: 'system', name: named, parts: carriedInstructions(parts, way) };
}

const isResult = ({ kind }: CarriedPart) => kind === 'tool_result';
const calls = (turn: CarriedTurn | undefined) => turn?.parts.some(({ kind }) => kind === 'tool_call') ?? false;

/** Results in a run of user turns come first, each separately; other content keeps its turns. */
function inChatOrder(turns: readonly CarriedTurn[]): CarriedTurn[] {
  const ordered: CarriedTurn[] = [];
  let visible: CarriedTurn[] = [];
  const close = () => {
    ordered.push(...visible);
    visible = [];
  };
  for (const turn of turns) {
    const last = ordered.at(-1);
    if (turn.role !== 'user') close();
    if (turn.role === 'assistant' && last?.role === 'assistant' && calls(last)) {
      ordered[ordered.length - 1] = { ...last, parts: [...last.parts, ...turn.parts] };
    } else if (turn.role !== 'user') ordered.push(turn);
    else {
      ordered.push(...turn.parts.filter(isResult).map((part) => ({ role: 'user', name: null, parts: [part] })));
      const others = turn.parts.filter((part) => !isResult(part));
      if (others.length > 0 || turn.parts.length === 0) visible.push({ ...turn, parts: others });
    }
  }
  close();
  return ordered;
}

/**
 * Leading instructions form one turn, adjacent turns of one role are joined, results follow the order of their calls.
 */
function inMessagesOrder(turns: readonly CarriedTurn[], instruction: string | null, way: Way): CarriedTurn[] {
  const first = turns.findIndex(({ role }) => role !== 'system');
  const start = first === -1 ? turns.length : first;
  const own = turns.slice(0, start).flatMap(({ parts }) => parts);
  const system = instruction === null ? own : [...own, saying(instruction, way)];
  const merged: CarriedTurn[] = [];
  for (const turn of turns.slice(start)) {
    const last = merged.at(-1);
    if (turn.parts.length === 0) continue;
    if (last?.role !== turn.role || turn.role === 'system') merged.push(turn);
    else merged[merged.length - 1] = { ...last, parts: [...last.parts, ...turn.parts] };
  }
  const ordered = merged.map((turn, index) => orderTurn(turn, merged[index - 1], way));
  if (ordered[0]?.role !== 'user') ordered.unshift({ role: 'user', name: null, parts: [saying(OPENING, way)] });
  return system.length === 0 ? ordered : [{ role: 'system', name: null, parts: instructing(system, way) }, ...ordered];
}

function saying(text: string, { through }: Way): CarriedPart {
  return { kind: 'text', text, mark: null, ...(through.has('chat') ? {} : { citations: [] }) };
}

function orderTurn(turn: CarriedTurn, before: CarriedTurn | undefined, way: Way): CarriedTurn {
  if (turn.role === 'assistant') return way.through.has('chat') ? { ...turn, parts: callsLast(turn.parts) } : turn;
  const places = before?.parts.filter(({ kind }) => kind === 'tool_call').map(({ id }) => id) ?? [];
  const results = turn.parts.filter(isResult);
  const inOrder = results.toSorted((one, other) => places.indexOf(one.id) - places.indexOf(other.id));
  return { ...turn, parts: [...inOrder, ...turn.parts.filter((part) => !isResult(part))] };
}

/** Joined assistant turns: chat has one text for them, followed by the calls. */
function callsLast(parts: readonly CarriedPart[]): readonly CarriedPart[] {
  const visible = parts.filter(({ kind }) => kind !== 'tool_call');
  return [...joinedTexts(visible, ''), ...parts.filter(({ kind }) => kind === 'tool_call')];
}

function instructing(parts: readonly CarriedPart[], way: Way): readonly CarriedPart[] {
  return way.through.has('chat')
    ? joinedTexts(parts, '\n\n')
    : parts.map(({ kind, text, mark }) => ({ kind, text: text ?? '', mark }));
}

/** Joins adjacent texts up to each cache mark. */
function joinedTexts(parts: readonly CarriedPart[], gap: string): readonly CarriedPart[] {
  const texts: CarriedPart[] = [];
  for (const part of parts) {
    const last = texts.at(-1);
    const joins = part.kind === 'text' && last?.kind === 'text' && last.mark === null;
    if (joins) texts[texts.length - 1] = { ...part, text: `${last.text}${gap}${part.text}` };
    else texts.push(part);
  }
  return texts;
}

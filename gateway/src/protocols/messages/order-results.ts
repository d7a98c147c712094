/**
 * Owns joining calls with their results: each call has exactly one, at the start of the next turn, in the order of the
 * calls. Source: wire reference C.1.
 */
import { refuseMember } from '../translation-notes.ts';
import type { WrittenBlock } from './cache-control.ts';

/** A turn in the making. `results` and `calls` carry the client's ids and the place of each, for refusals. */
export interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  readonly path: string;
  readonly blocks: WrittenBlock[];
  readonly calls: { readonly id: string; readonly path: string }[];
  readonly results: { readonly id: string; readonly path: string; readonly block: WrittenBlock }[];
  thinks: boolean;
}

interface Ordered {
  readonly role: Message['role'];
  readonly content: readonly WrittenBlock[];
}

/** The turns with their results first. Throws CallFailure `invalid_request` where calls and results do not match. */
export function orderResults(messages: readonly Message[]): Ordered[] {
  return messages.map((message, index) => {
    const { role, blocks } = message;
    requireResults(message, messages[index + 1]);
    if (message.results.length === 0) return { role, content: blocks };
    const places = new Map(messages[index - 1]?.calls.map(({ id }, place) => [id, place]));
    requireCalls(message, places);
    const ordered = message.results.toSorted((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
    return { role, content: [...ordered.map(({ block }) => block), ...blocks] };
  });
}

function requireResults({ calls }: Message, next: Message | undefined): void {
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

function requireCalls({ results }: Message, places: ReadonlyMap<string, number>): void {
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

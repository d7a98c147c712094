/**
 * Orders the results of tool calls as their calls, for formats whose turns alternate: all results of a turn's calls come
 * in the next turn. Refuses calls without results, results without calls, and ids that occur twice.
 */
import { refuseMember } from './translation-notes.ts';

/** The calls and results of one turn, with the client's ids and the path of each, for refusals. */
export interface MatchedTurn<Block> {
  readonly calls: { readonly id: string; readonly path: string }[];
  readonly results: { readonly id: string; readonly path: string; readonly block: Block }[];
}

/**
 * The results of a turn in the order of the calls before it. Throws CallFailure `invalid_request` if they do not match,
 * or if a call of the turn has no result in the next.
 */
export function orderResults<Block>(turns: readonly MatchedTurn<Block>[], index: number): Block[] {
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

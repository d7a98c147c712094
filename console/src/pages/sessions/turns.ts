/** Puts the requests of a session in order, with their number and the cost up to each, and words the breaks of its cache. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { counted, duration, wholeNumber } from '../../lib/format.ts';

export type TurnsReply = Reply<'GET /accounts/{account}/session-turns'>;
type Turn = TurnsReply['turns'][number];
export type CacheBreak = NonNullable<Turn['cache_break']>;
export type Comparison = Reply<'GET /accounts/{account}/cache-break'>;

export interface ShownTurn extends Turn {
  /** From 1, in the whole session. */
  readonly number: number;
  /** Cost of the session up to and including this request, in nano-USD as text. */
  readonly total: string;
}

/** `pages`: the newest first. The sums of the session tell what came before the oldest request shown. */
export function inOrder(pages: readonly TurnsReply[]): ShownTurn[] {
  const turns = pages.toReversed().flatMap((page) => page.turns);
  const session = pages[0]?.session;
  const shown = turns.reduce((sum, { cost_nano_usd: cost }) => sum + BigInt(cost ?? 0), 0n);
  let total = BigInt(session?.cost_nano_usd ?? 0) - shown;
  const before = (session?.requests ?? turns.length) - turns.length;
  return turns.map((turn, at) => {
    total += BigInt(turn.cost_nano_usd ?? 0);
    return { ...turn, number: before + at + 1, total: total.toString() };
  });
}

/** Why less was read from the cache than the request before had left there, as far as records tell. */
export function causeText({ cause, gap_ms, kept_ms }: CacheBreak, turn: Turn, previous: Turn | undefined): string {
  switch (cause) {
    case 'model':
      return `Another model answered: ${turn.served_model ?? turn.model ?? 'unknown'}${previous === undefined ? '' : ` instead of ${previous.served_model ?? previous.model ?? 'unknown'}`}. Models do not share a cache.`;
    case 'provider':
      return `Another provider answered: ${turn.provider ?? 'unknown'}${previous === undefined ? '' : ` instead of ${previous.provider ?? 'unknown'}`}. Providers do not share a cache.`;
    case 'credential':
      return 'Another credential or region of the provider was used. They do not share a cache.';
    case 'expired':
      return `${duration(gap_ms)} passed since the request before; the cache keeps a prompt for ${duration(kept_ms).replace(' 0 s', '')}.`;
    case 'short':
      return 'The prompt is shorter than 1,024 tokens, which caches do not take.';
    case 'prompt':
      return 'The same model was asked in time, so the start of the prompt changed, or the provider dropped it.';
  }
}

/** What the comparison of both prompts adds; positions count from 1. */
export function comparisonText({ outcome, block, index }: Comparison): string {
  const at = wholeNumber((index ?? 0) + 1);
  switch (outcome) {
    case 'differs':
      if (block === 'tools') return `The tools changed, from tool ${at} on.`;
      if (block === 'system') return `The instructions changed, from block ${at} on.`;
      if (block === 'settings') return 'The choice of tools or the setting for thinking changed.';
      return index === 0
        ? 'The first message changed: another conversation of this session, or a history that was cut or summarized.'
        : `The history changed, from message ${at} on.`;
    case 'same':
      return 'The prompt starts as before: the provider dropped it, or its cache marks moved.';
    case 'not_stored':
      return 'The prompts of both requests are not stored, so what changed is unknown. A workspace’s policy can store them.';
    case 'hidden':
      return 'The prompts are stored, but your role can’t view them, so what changed is not shown.';
    case 'unreadable':
      return 'A stored prompt can’t be read. The operator’s log says why.';
    case 'incomparable':
      return 'The prompts can’t be compared: one is too long to be stored whole, in another format, or the provider keeps its history.';
  }
}

/** Whether any of these requests read from a prompt cache or wrote to one. */
export function usesCache(turns: readonly Turn[]): boolean {
  return turns.some(({ cache_read, cache_write }) => cache_read + cache_write > 0);
}

/** Text alternative of the line of costs. */
export function costLineText(turns: readonly ShownTurn[], usd: (nanoUsd: string) => string): string {
  const last = turns.at(-1);
  const broken = turns.filter(({ cache_break }) => cache_break !== null).map(({ number }) => number);
  const cost = `Cumulative cost: ${usd(last?.total ?? '0')} after ${counted(last?.number ?? 0, 'request')}`;
  return broken.length === 0 ? `${cost}.` : `${cost}. The prompt cache broke at request ${broken.join(', ')}.`;
}

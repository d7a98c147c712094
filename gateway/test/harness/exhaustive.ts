/**
 * Selects what only the exhaustive run tests (TOLLGATE_EXHAUSTIVE=1): the remaining cases of large suites. Otherwise
 * they are omitted, not skipped.
 */
import { test } from 'bun:test';
import { EXHAUSTIVE } from '../fault/calls.ts';

/** The seed of suites that draw their cases; `npm run prove` sets another one. */
export const SEED = Number(process.env.TOLLGATE_SEED ?? 20_261_120);

/** All cases in the exhaustive run, otherwise the first. */
export function firstOrAll<Case>(cases: readonly Case[]): readonly Case[] {
  return EXHAUSTIVE ? cases : cases.slice(0, 1);
}

/** All cases in the exhaustive run, otherwise the first of every `each`. */
export function everyOrAll<Case>(each: number, cases: readonly Case[]): readonly Case[] {
  return EXHAUSTIVE ? cases : cases.filter((_, nth) => nth % each === 0);
}

/** How often a property is tested: `all` times in the exhaustive run, otherwise a quarter of them. */
export function runsOf(all: number): number {
  return EXHAUSTIVE ? all : Math.ceil(all / 4);
}

/** Registers a test in the exhaustive run only. */
export const exhaustiveTest: (name: string, act: () => Promise<void>, timeoutMs?: number) => void = EXHAUSTIVE
  ? test
  : () => undefined;

/** Decides what only the exhaustive run tests (TOLLGATE_EXHAUSTIVE=1): the rest of a big suite's cases. They are left out, not skipped. */
import { test } from 'bun:test';
import { EXHAUSTIVE } from '../fault/calls.ts';

/** All cases in the exhaustive run, else the first. */
export function firstOrAll<Case>(cases: readonly Case[]): readonly Case[] {
  return EXHAUSTIVE ? cases : cases.slice(0, 1);
}

/** Registers a test in the exhaustive run alone. */
export const exhaustiveTest: (name: string, act: () => Promise<void>, timeoutMs?: number) => void = EXHAUSTIVE
  ? test
  : () => undefined;

/**
 * Defines the usage counters of one call; they are disjoint except those documented as parts of others. Knows no wire
 * format and no price.
 */
import type { TierWords } from './tier-words.ts';

/**
 * Tokens of one call. `input` excludes cache reads and writes; `reasoning` is part of `output`. All are integers ≥ 0.
 */
export interface Usage {
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly reasoning: number;
  /** Counters that few calls have; absent if there are none. */
  readonly extras?: MediaAndToolUsage;
}

/**
 * Source of a record's counters: `upstream` its final numbers; `partial` its numbers up to where the stream ended;
 * `counted` our own estimate; `void` nothing was used; `checkpoint` and `cache` belong to recovery and replay.
 */
export type UsageSource = 'upstream' | 'partial' | 'counted' | 'checkpoint' | 'void' | 'cache';

/**
 * Anomalies in upstream's numbers, which count nevertheless. `sum`: the parts do not add up to the total; `cached`:
 * more cached tokens than the total that includes them; `reasoning`: more than the whole output; `far_input`,
 * `far_output`: far from our own estimate.
 */
export type UsageFlag = 'sum' | 'cached' | 'reasoning' | 'far_input' | 'far_output';

/** Counters as upstream reported them, with their anomalies. */
export interface ReportedUsage {
  readonly usage: Usage;
  readonly flags: readonly UsageFlag[];
}

export const NO_FLAGS: readonly UsageFlag[] = [];

export const ZERO_USAGE: Usage = {
  input: 0,
  cache_read: 0,
  cache_write_5m: 0,
  cache_write_1h: 0,
  output: 0,
  reasoning: 0,
};

/** Maps each audio or image counter to the `Usage` counter that includes it. */
export const MEDIA_PARTS = {
  audio_input: 'input',
  audio_cache_read: 'cache_read',
  audio_output: 'output',
  image_input: 'input',
  image_output: 'output',
} as const;

export type MediaCounter = keyof typeof MEDIA_PARTS;

export const MEDIA_COUNTERS = Object.keys(MEDIA_PARTS) as readonly MediaCounter[];

/** Requests by kind, as upstream names them: `web_search`, `web_fetch`; each > 0. */
export type ServerTools = { readonly [kind: string]: number };

/**
 * A member is present only if it is above 0. `audio_output` and `image_output` are parts of `output` that do not
 * overlap each other or `reasoning`; `audio_input` and `image_input` are parts of `input` that do not overlap.
 */
export type MediaAndToolUsage = { readonly [Counter in MediaCounter]?: number } & {
  readonly server_tools?: ServerTools;
  /** The tier that the response states, if its price differs from the list price. */
  readonly tier?: TierWords;
  /** Usage of each model run, if the response took several or named another model; the runs add up to the counters. */
  readonly parts?: readonly UsagePart[];
};

/** The tokens of one run of a model. */
export interface UsagePart {
  /** As upstream names it; absent: the requested model. */
  readonly model?: string;
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly reasoning: number;
  /** The price version that was charged, if parts were charged at several; absent: they were charged as one. */
  readonly price_version?: string;
}

/** Valid name of a server tool kind; other reported names are ignored. */
export const TOOL_KIND = /^[a-z][a-z0-9_]{0,39}$/;

/** More kinds than any provider has (three in 2026); the rest of a malformed list is ignored. */
const KINDS_MAX = 16;

/** Omits the members that are 0; undefined if none remain. */
export function extrasOf(
  media: { readonly [Counter in MediaCounter]?: number },
  tools: Iterable<readonly [kind: string, requests: number]> = [],
): MediaAndToolUsage | undefined {
  const extras: { [Counter in MediaCounter]?: number } & { server_tools?: ServerTools } = {};
  for (const counter of MEDIA_COUNTERS) {
    const count = media[counter];
    if (count !== undefined && count > 0) extras[counter] = count;
  }
  const kinds = [...tools].filter(([kind, requests]) => requests > 0 && TOOL_KIND.test(kind)).slice(0, KINDS_MAX);
  if (kinds.length > 0) extras.server_tools = Object.fromEntries(kinds);
  return Object.keys(extras).length === 0 ? undefined : extras;
}

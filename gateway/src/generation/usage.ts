/** Owns the counters of one call: disjoint, save those that are parts of others. Knows no wire format and no price. */
import type { TierWords } from './tier-words.ts';

/** Tokens of one call. `input` excludes cache reads and writes; `reasoning` is a part of `output`. All are integers ≥ 0. */
export interface Usage {
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly reasoning: number;
  /** What few calls have; absent where there is none of it. */
  readonly apart?: UsageApart;
}

/**
 * Where a record's counters come from: `upstream` its final numbers; `partial` its numbers up to where the stream
 * ended; `counted` our own estimate; `void` nothing was used; `checkpoint` and `cache` belong to recovery and replay.
 */
export type UsageSource = 'upstream' | 'partial' | 'counted' | 'checkpoint' | 'void' | 'cache';

/**
 * What is odd about upstream's numbers, which count all the same. `sum`: the parts do not come to the whole; `cached`: more
 * was cached than there was; `reasoning`: more than all output; `far_input`, `far_output`: far from our own estimate.
 */
export type UsageFlag = 'sum' | 'cached' | 'reasoning' | 'far_input' | 'far_output';

/** Counters as upstream told them, and what is odd about them. */
export interface ToldUsage {
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

/** Each counter of sound or images, and the counter of `Usage` that it is a part of. */
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
 * A member is there only where it is above 0. `audio_output` and `image_output` are parts of `output` that share no token
 * with each other or with `reasoning`; `audio_input` and `image_input` share none of `input`.
 */
export type UsageApart = { readonly [Counter in MediaCounter]?: number } & {
  readonly server_tools?: ServerTools;
  /** The tier that the answer states, where its price is not that of the list. */
  readonly tier?: TierWords;
  /** What each run of a model used, where the answer took several or named another model; together they are the counters. */
  readonly parts?: readonly UsagePart[];
};

/** The tokens of one run of a model. */
export interface UsagePart {
  /** As upstream names it; absent: the model that was asked for. */
  readonly model?: string;
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly reasoning: number;
  /** At which price it was charged, where parts were charged at several; absent: they were charged as one. */
  readonly price_version?: string;
}

/** What a kind of server tool may be called; anything else that a host reports is no kind. */
export const TOOL_KIND = /^[a-z][a-z0-9_]{0,39}$/;

/** More kinds than any host has (three in 2026): the rest of an odd list is not read. */
const KINDS_MAX = 16;

/** Without the members that are 0; undefined where nothing is left. */
export function apartOf(
  media: { readonly [Counter in MediaCounter]?: number },
  tools: Iterable<readonly [kind: string, requests: number]> = [],
): UsageApart | undefined {
  const apart: { [Counter in MediaCounter]?: number } & { server_tools?: ServerTools } = {};
  for (const counter of MEDIA_COUNTERS) {
    const count = media[counter];
    if (count !== undefined && count > 0) apart[counter] = count;
  }
  const kinds = [...tools].filter(([kind, requests]) => requests > 0 && TOOL_KIND.test(kind)).slice(0, KINDS_MAX);
  if (kinds.length > 0) apart.server_tools = Object.fromEntries(kinds);
  return Object.keys(apart).length === 0 ? undefined : apart;
}

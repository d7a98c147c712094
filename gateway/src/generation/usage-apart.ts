/**
 * Owns what few calls use beside plain tokens: tokens of sound and images, which are parts of other counters, requests of
 * tools that run upstream, the tier of the answer, and what each of several models used. Knows no wire format and no price.
 */

import type { TierWords } from './tier-words.ts';

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

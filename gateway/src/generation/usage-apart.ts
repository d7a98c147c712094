/**
 * Owns what few calls use beside plain tokens: tokens of sound and images, which are parts of other counters, and requests
 * of tools that run upstream. Knows no wire format and no price.
 */

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
export type UsageApart = { readonly [Counter in MediaCounter]?: number } & { readonly server_tools?: ServerTools };

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

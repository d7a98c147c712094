/** Owns reading wishes that the prompt be cached up to a place: the official `prompt_cache_breakpoint` and the common `cache_control`. */
import type { CacheMark } from '../../generation/part.ts';
import type { JsonNode } from '../../wire/json-node.ts';
import { refuse } from '../check-member.ts';
import { dropUnknown, given, type RequestReading, readObject, readOptionalText } from './read-member.ts';

export const MARK_MEMBERS = ['cache_control', 'prompt_cache_breakpoint'] as const;

const KNOWN = new Set(['type', 'mode', 'ttl']);

const TTL_MINUTES: ReadonlyMap<string, number> = new Map([
  ['5m', 5],
  ['30m', 30],
  ['1h', 60],
  ['12h', 720],
]);

/** The mark on a part, message, tool or whole request; null: none. Wire reference A.3 and C.7. */
export function parseCacheMark(holder: JsonNode, path: string, reading: RequestReading): CacheMark | null {
  for (const name of MARK_MEMBERS) {
    const found = given(holder, name);
    if (found === undefined) continue;
    const at = path === '' ? name : `${path}.${name}`;
    const mark = readObject(found, at, 'an object such as {"type":"ephemeral"}');
    dropUnknown(mark, KNOWN, name, reading);
    reading.named.cache_marks ??= name;
    return { ttlMinutes: parseTtl(mark, `${at}.ttl`) };
  }
  return null;
}

function parseTtl(mark: JsonNode, path: string): number | null {
  const ttl = readOptionalText(mark, 'ttl', path);
  if (ttl === null) return null;
  const minutes = TTL_MINUTES.get(ttl);
  if (minutes === undefined)
    throw refuse(path, given(mark, 'ttl') ?? null, `one of ${[...TTL_MINUTES.keys()].join(', ')}`);
  return minutes;
}

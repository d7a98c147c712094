/** Owns reading `cache_control`. Source: wire reference B.2 and C.7. */
import type { CacheMark } from '../../generation/part.ts';
import type { JsonNode } from '../../wire/json-node.ts';
import { memberPath } from '../../wire/json-problem.ts';
import { refuse } from '../check-member.ts';
import type { TranslationNotes } from '../translation-notes.ts';
import { dropOthers, optionalObject, optionalWord } from './member-values.ts';

const KNOWN = new Set(['type', 'ttl']);
const TTL_MINUTES = { '5m': 5, '1h': 60 } as const;

/** The mark on a block, a tool or (`path` empty) the request; null where there is none. */
export function parseCacheMark(node: JsonNode, path: string, notes: TranslationNotes): CacheMark | null {
  const mark = optionalObject(node, 'cache_control', path, 'an object {"type": "ephemeral"}');
  if (mark === null) return null;
  const at = memberPath(path, 'cache_control');
  if (optionalWord(mark, 'type', at, ['ephemeral']) === null) throw refuse(`${at}.type`, null, '"ephemeral"');
  const ttl = optionalWord(mark, 'ttl', at, ['5m', '1h']);
  dropOthers(mark, KNOWN, 'cache_control', notes);
  return { ttlMinutes: ttl === null ? null : TTL_MINUTES[ttl] };
}

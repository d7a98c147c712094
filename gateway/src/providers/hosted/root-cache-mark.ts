/**
 * Moves the cache mark of a whole messages request to its last block that can have one, as Anthropic's own API does, for
 * hosts that take marks on blocks only ("cache_control: Extra inputs are not permitted"). Sources:
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching (edge cases),
 * https://github.com/UKGovernmentBEIS/inspect_ai/pull/3851, https://github.com/vercel/ai/pull/13986, read 2026-11-28.
 */
import { children, elements, type JsonNode, jsonText, member, stringValue } from '../../wire/json-node.ts';
import { scanJson } from '../../wire/json-scan.ts';
import { type JsonPatch, patchJson } from '../../wire/json-splice.ts';
import { listIn, MARK_SCAN_LIMITS, markHoldersIn } from './cache-scope.ts';
import { editBody } from './edit-body.ts';

/** The member, and the name for what is dropped. */
export const CACHE_MARK = 'cache_control';
const MARKS_MAX = 4;
const UNMARKABLE: ReadonlySet<string | undefined> = new Set(['thinking', 'redacted_thinking']);
const SHORT_TTL = '5m';

export interface PlacedMark {
  readonly body: Uint8Array;
  /** No block could have the mark. */
  readonly isDropped: boolean;
}

/** The same bytes if the root has no mark. */
export function placeRootMark(body: Uint8Array): PlacedMark {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (!bytes.includes(`"${CACHE_MARK}"`)) return { body, isDropped: false };
  const outline = scanJson(body, { outlineDepth: 1 });
  const mark = outline.ok ? member(outline.root, CACHE_MARK) : undefined;
  if (mark === undefined) return { body, isDropped: false };
  const patches = mark.kind === 'null' ? [] : patchesFor(body, mark);
  return { body: editBody(patchJson(body, patches ?? []), [{ remove: [CACHE_MARK] }]), isDropped: patches === null };
}

/** Null: the request has no place for the mark. */
function patchesFor(body: Uint8Array, mark: JsonNode): readonly JsonPatch[] | null {
  const outline = scanJson(body, MARK_SCAN_LIMITS);
  if (!outline.ok) return null;
  const place = findPlace(outline.root);
  if (place === null) return null;
  const own = member(place, CACHE_MARK);
  if (own !== undefined && own.kind !== 'null') return ttlOf(own) === ttlOf(mark) ? [] : null;
  if (markHoldersIn(outline.root).filter(hasMark).length >= MARKS_MAX) return null;
  const json = jsonText(mark);
  if (own !== undefined) return [{ start: own.start, end: own.end, text: Buffer.from(json) }];
  const added = `,"${CACHE_MARK}":${json}`;
  if (place.kind === 'string') return [insert(place.start, '[{"type":"text","text":'), insert(place.end, `${added}}]`)];
  return [insert(children(place).at(-1)?.end ?? place.end, added)];
}

/** The last block of a message that can have a mark, or the text that is all of a message. */
function findPlace(root: JsonNode): JsonNode | null {
  for (const message of listIn(root, 'messages').toReversed()) {
    const content = member(message, 'content');
    if (content === undefined) continue;
    if (hasText(content)) return content;
    const block = elements(content).findLast(isMarkable);
    if (block !== undefined) return block;
  }
  return null;
}

function isMarkable(block: JsonNode): boolean {
  const type = textIn(block, 'type');
  if (type === 'text') return hasText(member(block, 'text'));
  return type !== undefined && !UNMARKABLE.has(type);
}

/** Anthropic refuses marks on empty texts. */
function hasText(node: JsonNode | undefined): boolean {
  return node !== undefined && /\S/.test(stringValue(node) ?? '');
}

function hasMark(holder: JsonNode): boolean {
  return (member(holder, CACHE_MARK)?.kind ?? 'null') !== 'null';
}

function ttlOf(mark: JsonNode): string {
  return textIn(mark, 'ttl') ?? SHORT_TTL;
}

function textIn(node: JsonNode, name: string): string | undefined {
  const found = member(node, name);
  return found === undefined ? undefined : stringValue(found);
}

function insert(at: number, text: string): JsonPatch {
  return { start: at, end: at, text: Buffer.from(text) };
}

/** Owns finding what a request brings or asks for beside text, so that its hold covers what that costs. Judges no member. */
import { TOOL_KIND } from '../../generation/usage.ts';
import { children, type JsonNode, member, numberValue, stringValue } from '../../wire/json-node.ts';
import type { RequestApart } from './request-facts.ts';

/** Tools that run upstream carry the date of their version: `web_search_20250305`. */
const DATED = /^(.+)_20[0-9]{6}$/;

/** Requests of a tool whose caller sets no `max_uses`: the most that one answer was seen to make (recorded traffic, 2025). */
const REQUESTS_ASSUMED = 10;

/** More are not held for: it keeps a caller's absurd number from holding a whole balance. */
const REQUESTS_MAX = 1_000;

/** In every such type; one search of the bytes spares most requests, which have tools of their own only, a look at each. */
const DATE_MARK = '_20';

const NO_REQUESTS: ReadonlyMap<string, number> = new Map();

export interface ApartNodes {
  /** Images, sounds and documents that were found in the turns. */
  readonly mediaParts: number;
  /** What the answer may be made of: `modalities`. */
  readonly modalities?: JsonNode | undefined;
  readonly tools?: JsonNode | undefined;
}

/** Undefined for a request of text alone. */
export function findApart({ mediaParts, modalities, tools }: ApartNodes): RequestApart | undefined {
  const mediaOutput = modalities?.kind === 'array' && children(modalities).some((word) => stringValue(word) !== 'text');
  const toolRequests = tools?.kind === 'array' ? countRequests(tools) : NO_REQUESTS;
  if (mediaParts === 0 && !mediaOutput && toolRequests.size === 0) return undefined;
  // A turn of the assistant's own sound is named by its id and has no part.
  return { mediaInput: mediaParts > 0 || mediaOutput, mediaOutput, toolRequests };
}

/** By kind; a kind that is declared twice may be used as often as both say. */
function countRequests(tools: JsonNode): ReadonlyMap<string, number> {
  const { outline, start, end } = tools;
  const { bytes } = outline;
  if (!Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).includes(DATE_MARK)) return NO_REQUESTS;
  let requests: Map<string, number> | null = null;
  for (const tool of children(tools)) {
    const type = tool.kind === 'object' ? member(tool, 'type') : undefined;
    const kind = DATED.exec((type === undefined ? undefined : stringValue(type)) ?? '')?.[1];
    if (kind === undefined || !TOOL_KIND.test(kind)) continue;
    requests ??= new Map();
    requests.set(kind, Math.min(REQUESTS_MAX, (requests.get(kind) ?? 0) + usesOf(tool)));
  }
  return requests ?? NO_REQUESTS;
}

function usesOf(tool: JsonNode): number {
  const node = member(tool, 'max_uses');
  const uses = node === undefined ? undefined : numberValue(node);
  return uses === undefined || !Number.isSafeInteger(uses) || uses < 0 ? REQUESTS_ASSUMED : uses;
}

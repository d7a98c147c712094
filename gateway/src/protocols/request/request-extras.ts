/** Finds the media and server-side tools of a request, so that its hold covers their cost. Validates nothing. */
import { TOOL_KIND } from '../../generation/usage.ts';
import { children, type JsonNode, member, numberValue, stringValue } from '../../wire/json-node.ts';
import type { RequestExtras } from './request-facts.ts';

/** Server-side tools carry the date of their version: `web_search_20250305`. */
const DATED = /^(.+)_20[0-9]{6}$/;

/** Requests of a tool without `max_uses`: the most seen in one answer (recorded traffic, 2025). */
const REQUESTS_ASSUMED = 10;

/** Caps the requests that a hold covers, so that a caller's absurd number does not hold a whole balance. */
const REQUESTS_MAX = 1_000;

/** Part of every such type; one byte search saves most requests, with only their own tools, a look at each tool. */
const DATE_MARK = '_20';

const NO_REQUESTS: ReadonlyMap<string, number> = new Map();

export interface ExtraNodes {
  /** The number of images, audio parts and documents in the turns. */
  readonly mediaParts: number;
  /** The output types: `modalities`. */
  readonly modalities?: JsonNode | undefined;
  readonly tools?: JsonNode | undefined;
}

/** Undefined for a text-only request. */
export function findExtras({ mediaParts, modalities, tools }: ExtraNodes): RequestExtras | undefined {
  const mediaOutput = modalities?.kind === 'array' && children(modalities).some((word) => stringValue(word) !== 'text');
  const toolRequests = tools?.kind === 'array' ? countRequests(tools) : NO_REQUESTS;
  if (mediaParts === 0 && !mediaOutput && toolRequests.size === 0) return undefined;
  // Earlier assistant audio is referenced by id and has no part, so audio output implies possible media input.
  return { mediaInput: mediaParts > 0 || mediaOutput, mediaOutput, toolRequests };
}

/** By kind; the counts of a kind that is declared twice add up. */
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

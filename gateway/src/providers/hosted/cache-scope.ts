/**
 * Removes the scopes of cache marks from messages requests to hosts that do not take their beta: Claude Code sets them in
 * each request, and such a host refuses the whole of it ("cache_control.ephemeral.scope: Extra inputs are not permitted").
 * The marks stay. https://github.com/BerriAI/litellm/pull/22867, read 2026-11-28.
 */
import { children, elements, type JsonNode, jsonText, member, memberName } from '../../wire/json-node.ts';
import { scanJson } from '../../wire/json-scan.ts';
import { type JsonPatch, patchJson } from '../../wire/json-splice.ts';

/** The name for what is dropped. */
export const CACHE_SCOPE = 'cache_control.scope';
const BETA = 'prompt-caching-scope-';
const REFUSED = /cache_control\.\w+\.scope\b.{0,20}extra inputs/i;

const MANY = 1_000_000;
/** Deep enough for the marks of blocks in the results of tools. */
export const MARK_SCAN_LIMITS = { depthMax: 512, keysPerObjectMax: MANY, outlineDepth: 8, outlineNodesMax: MANY };

export function isScopeBeta(beta: string): boolean {
  return beta.startsWith(BETA);
}

export function refusesScope(body: Buffer): boolean {
  return REFUSED.test(body.toString('latin1'));
}

/** The same bytes if no mark has a scope. */
export function withoutCacheScopes(body: Uint8Array): Uint8Array {
  if (!Buffer.from(body.buffer, body.byteOffset, body.length).includes('"scope"')) return body;
  const outline = scanJson(body, MARK_SCAN_LIMITS);
  if (!outline.ok) return body;
  const holders = [outline.root, ...markHoldersIn(outline.root)];
  const patches = holders.flatMap(patchMark);
  return patches.length === 0 ? body : patchJson(body, patches);
}

/** The tools, the blocks of the system and of messages, and those in results of tools: all that can have a mark. */
export function markHoldersIn(root: JsonNode): readonly JsonNode[] {
  const blocks = listIn(root, 'messages').flatMap((message) => listIn(message, 'content'));
  const inner = blocks.flatMap((block) => listIn(block, 'content'));
  return [...listIn(root, 'system'), ...listIn(root, 'tools'), ...blocks, ...inner];
}

export function listIn(node: JsonNode, name: string): readonly JsonNode[] {
  const found = member(node, name);
  return found?.kind === 'array' ? elements(found) : [];
}

function patchMark(holder: JsonNode): readonly JsonPatch[] {
  const mark = member(holder, 'cache_control');
  if (mark === undefined || member(mark, 'scope') === undefined) return [];
  const kept = children(mark).filter((one) => memberName(one) !== 'scope');
  const json = `{${kept.map((one) => `${JSON.stringify(memberName(one))}:${jsonText(one)}`).join(',')}}`;
  return [{ start: mark.start, end: mark.end, text: Buffer.from(json) }];
}

/**
 * Removes reasoning from the history of a messages body and leaves all other bytes unchanged, because upstream refuses
 * a signature that its issuer did not make. The caller decides which signatures those are. Wire reference C.5.
 */
import { elements, type JsonNode, type JsonOutline, member, stringValue } from '../../../wire/json-node.ts';
import { scanJson } from '../../../wire/json-scan.ts';
import { spliceJson } from '../../../wire/json-splice.ts';

/** Depth of the blocks of a turn and their members. */
const OUTLINE_DEPTH = 5;
const SCAN_LIMITS = { depthMax: 512, keysPerObjectMax: 1_000_000, outlineDepth: OUTLINE_DEPTH };

/**
 * The body without the thinking blocks whose signature `strips` matches (for a redacted block: its data); the same
 * bytes without such blocks. A turn without other content is removed too. If the last assistant turn has tool calls and
 * lost its thinking, thinking with a budget is turned off for this call, because upstream would miss it.
 */
export function stripThinking(body: Uint8Array, strips: (signature: string) => boolean): Uint8Array {
  const outline = scanJson(body, SCAN_LIMITS);
  const turns = outline.ok ? member(outline.root, 'messages') : undefined;
  if (!outline.ok || turns === undefined) return body;
  const cuts: Span[] = [];
  const emptied = new Set<JsonNode>();
  let lastAssistantLost = false;
  const all = elements(turns);
  for (const turn of all) {
    const content = member(turn, 'content');
    const blocks = content === undefined ? [] : elements(content);
    const lost = new Set(blocks.filter((block) => isStripped(block, strips)));
    if (nameOf(turn, 'role') === 'assistant') {
      lastAssistantLost = lost.size > 0 && blocks.some((block) => nameOf(block, 'type') === 'tool_use');
    }
    if (lost.size > 0 && lost.size === blocks.length) emptied.add(turn);
    else cuts.push(...cutsOf(blocks, lost));
  }
  if (cuts.length + emptied.size === 0) return body;
  const stripped = applyCuts(body, [...cuts, ...cutsOf(all, emptied)]);
  return lastAssistantLost && hasBudget(outline) ? turnThinkingOff(stripped) : stripped;
}

function isStripped(block: JsonNode, strips: (signature: string) => boolean): boolean {
  const type = nameOf(block, 'type');
  if (type === 'thinking') return strips(nameOf(block, 'signature') ?? '');
  return type === 'redacted_thinking' && strips(nameOf(block, 'data') ?? '');
}

function nameOf(node: JsonNode, name: string): string | undefined {
  const value = member(node, name);
  return value === undefined ? undefined : stringValue(value);
}

function hasBudget({ root }: JsonOutline): boolean {
  const thinking = member(root, 'thinking');
  return thinking !== undefined && nameOf(thinking, 'type') === 'enabled';
}

function turnThinkingOff(body: Uint8Array): Uint8Array {
  const outline = scanJson(body, { ...SCAN_LIMITS, outlineDepth: 1 });
  return outline.ok ? spliceJson(outline, [{ set: ['thinking'], json: '{"type":"disabled"}' }]) : body;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** The spans to cut to remove some elements of an array: each run of them with the comma before or after it. */
function cutsOf(siblings: readonly JsonNode[], removed: ReadonlySet<JsonNode>): Span[] {
  const cuts: Span[] = [];
  for (let first = 0; first < siblings.length; first++) {
    if (!isRemoved(siblings[first], removed)) continue;
    let last = first;
    while (isRemoved(siblings[last + 1], removed)) last += 1;
    const next = siblings[last + 1];
    const before = siblings[first - 1];
    const start = next === undefined && before !== undefined ? before.end : (siblings[first]?.start ?? 0);
    cuts.push({ start, end: next?.start ?? siblings[last]?.end ?? start });
    first = last;
  }
  return cuts;
}

function isRemoved(node: JsonNode | undefined, removed: ReadonlySet<JsonNode>): boolean {
  return node !== undefined && removed.has(node);
}

function applyCuts(bytes: Uint8Array, cuts: readonly Span[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { start, end } of cuts.toSorted((one, other) => one.start - other.start)) {
    pieces.push(bytes.subarray(from, start));
    from = end;
  }
  pieces.push(bytes.subarray(from));
  return Buffer.concat(pieces);
}

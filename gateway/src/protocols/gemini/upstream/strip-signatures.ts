/**
 * Replaces signatures in the contents of a Gemini body that Google did not make: by nothing, and on the first call of a
 * content by Google's stand-in, because models from Gemini 3 on refuse a step of calls without one. The caller decides
 * which signatures that are. Wire reference C.5 and D.1.
 */
import { elements, type JsonNode, member, stringValue } from '../../../wire/json-node.ts';
import { scanJson } from '../../../wire/json-scan.ts';
import { LOST_SIGNATURE } from '../../host-data.ts';
import { readSeal } from '../shared/seals.ts';

const MANY = 1_000_000;
/** Deep enough for the members of a part. */
const SCAN_LIMITS = { depthMax: 512, keysPerObjectMax: MANY, outlineDepth: 6, outlineNodesMax: MANY };

/** Replaces `[start, end)` of the body. */
interface Patch {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The body without the signatures that `strips` matches (of ours: the seal); the same bytes without such signatures. */
export function stripSignatures(body: Uint8Array, strips: (signature: string) => boolean): Uint8Array {
  const outline = scanJson(body, SCAN_LIMITS);
  const contents = outline.ok ? member(outline.root, 'contents') : undefined;
  const patches = (contents === undefined ? [] : elements(contents)).flatMap((content) =>
    patchContent(content, strips),
  );
  return patches.length === 0 ? body : applyPatches(body, patches);
}

function patchContent(content: JsonNode, strips: (signature: string) => boolean): readonly Patch[] {
  const parts = member(content, 'parts');
  let isFirst = true;
  return (parts === undefined ? [] : elements(parts)).flatMap((part): readonly Patch[] => {
    const isCall = find(part, 'functionCall', 'function_call') !== undefined;
    const signs = isCall && isFirst;
    if (isCall) isFirst = false;
    const node = find(part, 'thoughtSignature', 'thought_signature');
    const signature = (node === undefined ? undefined : stringValue(node)) ?? '';
    if (!strips(readSeal(signature) ?? signature)) return [];
    const text = JSON.stringify(signs ? LOST_SIGNATURE : '');
    if (node !== undefined) return [{ start: node.start, end: node.end, text }];
    // A part that is a call has a member, so a comma goes before another one.
    return signs ? [{ start: part.end - 1, end: part.end - 1, text: `,"thoughtSignature":${text}` }] : [];
  });
}

/** A member in either of its spellings. */
function find(node: JsonNode, camel: string, snake: string): JsonNode | undefined {
  return member(node, camel) ?? member(node, snake);
}

function applyPatches(body: Uint8Array, patches: readonly Patch[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { start, end, text } of patches) {
    pieces.push(body.subarray(from, start), Buffer.from(text));
    from = end;
  }
  return Buffer.concat([...pieces, body.subarray(from)]);
}

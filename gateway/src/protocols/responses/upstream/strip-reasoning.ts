/**
 * Removes sealed reasoning from the input of a Responses body, because another organization cannot read it, and the ids of
 * the assistant's items after it, which refer to that reasoning. `strips` chooses the reasoning. Replaces the gateway's own
 * compactions by their text. Source: specification of the Responses API, 0.9 and E.5.
 */
import { elements, type JsonNode, jsonText, member, stringValue } from '../../../wire/json-node.ts';
import { scanJson } from '../../../wire/json-scan.ts';
import { spliceJson } from '../../../wire/json-splice.ts';
import { SEAL_PREFIX } from '../../own-marks.ts';

const SCAN_LIMITS = { depthMax: 512, keysPerObjectMax: 1_000_000, outlineDepth: 3 };

/**
 * The body without the reasoning items whose `encrypted_content` `strips` matches; the same bytes without such items. The
 * items that stay keep their text, except those ids.
 */
export function stripReasoning(body: Uint8Array, strips: (sealed: string) => boolean): Uint8Array {
  const outline = scanJson(body, SCAN_LIMITS);
  const input = outline.ok ? member(outline.root, 'input') : undefined;
  if (!outline.ok || input?.kind !== 'array') return body;
  const left: string[] = [];
  let isStripped = false;
  let follows = false;
  for (const item of elements(input)) {
    if (textOf(item, 'type') === 'reasoning' && strips(textOf(item, 'encrypted_content') ?? '')) {
      isStripped = true;
      follows = true;
      continue;
    }
    follows &&= isAssistants(item);
    left.push(follows ? withoutId(item) : jsonText(item));
  }
  return isStripped ? spliceJson(outline, [{ set: ['input'], json: `[${left.join(',')}]` }]) : body;
}

/**
 * The body with compactions that the gateway made as messages of the developer; the same bytes without them. `open` gives
 * the text of one by its sealed content and its place; what it throws is thrown.
 */
export function expandSummaries(body: Uint8Array, open: (sealed: string, path: string) => string): Uint8Array {
  const outline = scanJson(body, SCAN_LIMITS);
  const input = outline.ok ? member(outline.root, 'input') : undefined;
  if (!outline.ok || input?.kind !== 'array') return body;
  let isExpanded = false;
  const items = elements(input).map((item, index) => {
    const sealed = textOf(item, 'type') === 'compaction' ? textOf(item, 'encrypted_content') : undefined;
    if (!sealed?.startsWith(SEAL_PREFIX)) return jsonText(item);
    isExpanded = true;
    const content = [{ type: 'input_text', text: open(sealed, `input.${index}`) }];
    return JSON.stringify({ type: 'message', role: 'developer', content });
  });
  return isExpanded ? spliceJson(outline, [{ set: ['input'], json: `[${items.join(',')}]` }]) : body;
}

function textOf(node: JsonNode, name: string): string | undefined {
  const value = node.kind === 'object' ? member(node, name) : undefined;
  return value === undefined ? undefined : stringValue(value);
}

/** Whether the item is part of the assistant's turn. */
function isAssistants(item: JsonNode): boolean {
  const type = textOf(item, 'type');
  if (type === undefined || type === 'message') return textOf(item, 'role') === 'assistant';
  return type === 'reasoning' || type.endsWith('_call');
}

function withoutId(item: JsonNode): string {
  const json = jsonText(item);
  const outline = scanJson(Buffer.from(json), { ...SCAN_LIMITS, outlineDepth: 1 });
  return outline.ok ? Buffer.from(spliceJson(outline, [{ remove: ['id'] }])).toString() : json;
}

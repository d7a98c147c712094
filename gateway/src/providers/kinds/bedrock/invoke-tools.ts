/**
 * Changes the tools of a messages request to those that InvokeModel takes: it refuses `eager_input_streaming`, for which it
 * has a beta, and the first versions of the computer-use tools. Sources: provider reference C.2, AI SDK 5.0.101.
 */
import { elements, jsonText, member, stringValue } from '../../../wire/json-node.ts';
import { scanJson } from '../../../wire/json-scan.ts';
import type { JsonEdit } from '../../../wire/json-splice.ts';
import { editBody } from '../../hosted/edit-body.ts';

const EAGER = 'eager_input_streaming';
const EAGER_BETA = 'fine-grained-tool-streaming-2025-05-14';

/** The next version of each type with the same name and the same input, so that the client can still run the calls. */
const UPGRADES: ReadonlyMap<string, string> = new Map([
  ['bash_20241022', 'bash_20250124'],
  ['computer_20241022', 'computer_20250124'],
  ['text_editor_20241022', 'text_editor_20250124'],
]);
const UPGRADED_BETA = 'computer-use-2025-01-24';

export interface AdaptedTools {
  readonly body: Uint8Array;
  /** The betas that the tools need now, each with the members that are not honored without it. */
  readonly betas: ReadonlyMap<string, readonly string[]>;
  /** The members that have another value now. */
  readonly changed: readonly string[];
}

/** The same body if its tools need no change. Throws for a body that is no JSON. */
export function adaptTools(body: Uint8Array): AdaptedTools {
  const betas = new Map<string, readonly string[]>();
  const changed: string[] = [];
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (!bytes.includes(EAGER) && !bytes.includes('_20241022')) return { body, betas, changed };
  const outline = scanJson(body, { outlineDepth: 1 });
  if (!outline.ok) throw new Error(`a body with tools is no JSON: ${outline.message}`);
  const given = member(outline.root, 'tools');
  if (given === undefined) return { body, betas, changed };
  const tools = elements(given).map((tool, index) => {
    const edits: JsonEdit[] = [];
    const eager = member(tool, EAGER);
    if (eager !== undefined) edits.push({ remove: [EAGER] });
    if (eager?.kind === 'true') betas.set(EAGER_BETA, [...(betas.get(EAGER_BETA) ?? []), `tools.${index}.${EAGER}`]);
    const type = member(tool, 'type');
    const upgrade = type === undefined ? undefined : UPGRADES.get(stringValue(type) ?? '');
    if (upgrade !== undefined) {
      edits.push({ set: ['type'], json: JSON.stringify(upgrade) });
      betas.set(UPGRADED_BETA, []);
      changed.push(`tools.${index}.type`);
    }
    const text = jsonText(tool);
    return edits.length === 0 ? text : Buffer.from(editBody(Buffer.from(text), edits)).toString();
  });
  return { body: editBody(body, [{ set: ['tools'], json: `[${tools.join(',')}]` }]), betas, changed };
}

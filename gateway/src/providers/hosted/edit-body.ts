/** Edits members of a request's body for kinds whose form of a format differs from the vendor's. */
import { scanJson } from '../../wire/json-scan.ts';
import { type JsonEdit, spliceJson } from '../../wire/json-splice.ts';

/** Only the members of the root are looked at; they are few. */
const ROOT_ONLY = { outlineDepth: 1 };

/** The body with the edits of its members; every other byte is the same. Throws for a body that is no JSON. */
export function editBody(body: Uint8Array, edits: readonly JsonEdit[]): Uint8Array {
  const outline = scanJson(body, ROOT_ONLY);
  if (!outline.ok) throw new Error(`a body to edit is no JSON: ${outline.message}`);
  return spliceJson(outline, edits);
}

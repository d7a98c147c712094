/** Reads the end user of a request from the members that may name one. */
import { normalizeEndUser } from '../../lib/end-user-id.ts';
import { type JsonNode, member, stringValue } from '../../wire/json-node.ts';

/** The first top-level member that names an end user, else `metadata.user_id`; null: none does. */
export function readEndUser(root: JsonNode, names: readonly string[]): string | null {
  for (const name of names) {
    const id = idOf(member(root, name));
    if (id !== null) return id;
  }
  const metadata = member(root, 'metadata');
  return metadata?.kind === 'object' ? idOf(member(metadata, 'user_id')) : null;
}

function idOf(node: JsonNode | undefined): string | null {
  const id = node?.kind === 'string' ? stringValue(node) : undefined;
  return id === undefined ? null : normalizeEndUser(id);
}

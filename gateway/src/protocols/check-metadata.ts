/** Owns the check of a request's `metadata`: how many characters its keys and values have. */
import type { Limits } from '../config/limits.ts';
import { children, type JsonNode, memberName, stringValue } from '../wire/json-node.ts';
import { checkKind, checkText, isLonger, refuse } from './check-member.ts';

/** Null counts as absent; values that are no strings pass (they are for upstream to judge). */
export function checkMetadata(node: JsonNode, limits: Limits): void {
  if (node.kind === 'null') return;
  checkKind(node, 'metadata', ['object'], 'an object');
  for (const value of children(node)) {
    const name = memberName(value);
    if (isLonger(name, limits.metadataKeyMax)) {
      throw refuse('metadata', node, `keys of at most ${limits.metadataKeyMax} characters`);
    }
    if (stringValue(value) !== undefined) checkText(value, `metadata.${name}`, limits.metadataValueMax);
  }
}

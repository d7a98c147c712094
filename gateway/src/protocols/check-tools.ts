/** Owns the check of a request's `tools`: how many there are, each an object. What a tool says is for upstream to judge. */
import type { Limits } from '../config/limits.ts';
import type { JsonNode } from '../wire/json-node.ts';
import { checkArray, checkKind } from './check-member.ts';

/** Null counts as absent. */
export function checkTools(node: JsonNode, limits: Limits): void {
  if (node.kind === 'null') return;
  checkArray(node, 'tools', 0, limits.toolsMax).forEach((tool, index) => {
    checkKind(tool, `tools.${index}`, ['object'], 'a tool definition (an object)');
  });
}

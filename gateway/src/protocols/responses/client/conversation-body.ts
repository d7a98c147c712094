/** Finds what the body of a request about a conversation names. Source: OpenAI's reference of conversations (2026-11-23). */

import type { JsonOutline } from '../../../wire/json-node.ts';
import { children, elements, memberName } from '../../../wire/json-node.ts';
import { bodyOf } from '../../check-members.ts';
import { noteUnknownMember, type StoredReference, startReferences } from '../../stored/stored-references.ts';
import { noteItem } from './state-members.ts';

/** The references of its items, which are those of a response's input. Throws CallFailure `invalid_request`. */
export function findConversationReferences(outline: JsonOutline): readonly StoredReference[] {
  const found = startReferences();
  for (const node of children(bodyOf(outline))) {
    const name = memberName(node);
    if (name !== 'items') noteUnknownMember(node, name, found);
    else if (node.kind === 'array') {
      for (const [index, item] of elements(node).entries()) noteItem(item, `items.${index}`, found);
    }
  }
  return found.slice();
}

/** Reads a request to rank documents, in the union of Cohere's, Jina's and Voyage's members. */
import { elements, type JsonNode, type JsonOutline, member, stringValue } from '../../../wire/json-node.ts';
import type { JsonEdit } from '../../../wire/json-splice.ts';
import { refuse } from '../../request/request-facts.ts';

const DOCUMENTS = 'an array of at least one text or object with text';

/** The documents. Throws CallFailure `invalid_request` without one. */
export function documentsOf({ root }: JsonOutline): readonly JsonNode[] {
  const documents = member(root, 'documents');
  if (documents === undefined || documents.kind !== 'array') throw refuse('documents', documents ?? null, DOCUMENTS);
  const found = elements(documents);
  if (found.length === 0) throw refuse('documents', documents, DOCUMENTS);
  return found;
}

/** The texts of the documents. Throws CallFailure `invalid_request` for one without text. */
export function textsOf(documents: readonly JsonNode[]): readonly string[] {
  return documents.map((document, index) => {
    const node = document.kind === 'object' ? member(document, 'text') : document;
    const text = node === undefined ? undefined : stringValue(node);
    if (text === undefined) throw refuse(`documents.${index}`, document, 'a text: this model takes text only');
    return text;
  });
}

/** The edits that give the limit of results, under either name, the name that upstream knows. */
export function limitEdits({ root }: JsonOutline, known: 'top_n' | 'top_k'): readonly JsonEdit[] {
  const other = known === 'top_n' ? 'top_k' : 'top_n';
  const given = member(root, other);
  if (given === undefined) return [];
  const { outline, start, end } = given;
  const json = Buffer.from(outline.bytes.subarray(start, end)).toString();
  // The name that upstream knows applies where both were sent.
  const set: readonly JsonEdit[] = member(root, known) === undefined ? [{ set: [known], json }] : [];
  return [...set, { remove: [other] }];
}

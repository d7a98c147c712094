/**
 * Finds what a Gemini request names that Google keeps under the operator's account: caches, files, stores of documents,
 * buckets. Contract, 10.12 and 10.17.
 */
import { children, type JsonNode, jsonText } from '../../../wire/json-node.ts';
import { findReferences, mayHoldReference, noteIds, type StoredReference } from '../../stored/stored-references.ts';
import { given, listOf, nameOf } from './members.ts';

/** The bytes that the name of a member with an address has, in either spelling. */
const ADDRESS_MARKS = ['ileUri', 'ile_uri'];

/** Adds the file that a part names, or those of its result. `value`: a member of a part. */
export function noteFiles(value: JsonNode, path: string, found: StoredReference[]): void {
  if (nameOf(value) === 'fileData') findReferences(value, path, found);
  if (nameOf(value) !== 'functionResponse' || !mayHoldReference(value, ADDRESS_MARKS)) return;
  const parts = given(value, 'parts');
  if (parts !== undefined) findReferences(parts, `${path}.parts`, found);
}

/** Adds the cache that a request names. */
export function noteCache(root: JsonNode, found: StoredReference[]): void {
  const cache = given(root, 'cachedContent');
  if (cache !== undefined) noteIds(cache, 'cache', 'cachedContent', found);
}

/** Tools that search what is stored, and the members that name it. */
const STORED_TOOLS: ReadonlySet<string> = new Set(['fileSearch', 'retrieval']);
const STORE_MEMBERS: ReadonlySet<string> = new Set([
  ...['fileSearchStoreNames', 'datastore', 'dataStore', 'engine', 'ragCorpora', 'ragCorpus'],
]);

/** Adds the stores that tools search; a tool that names them in an unknown way is one by itself. */
export function noteStores(tools: JsonNode | undefined, found: StoredReference[]): void {
  for (const [index, tool] of tools === undefined ? [] : listOf(tools).entries()) {
    for (const kind of children(tool)) {
      if (kind.kind === 'null' || !STORED_TOOLS.has(nameOf(kind))) continue;
      const path = `tools.${index}.${nameOf(kind)}`;
      const before = found.length;
      noteStoresIn(kind, path, found);
      if (found.length === before) found.push({ path, kind: 'vector_store', id: jsonText(kind) });
    }
  }
}

function noteStoresIn(node: JsonNode, path: string, found: StoredReference[]): void {
  for (const [index, value] of children(node).entries()) {
    const name = node.kind === 'array' ? String(index) : nameOf(value);
    if (STORE_MEMBERS.has(name)) noteIds(value, 'vector_store', `${path}.${name}`, found);
    else noteStoresIn(value, `${path}.${name}`, found);
  }
}

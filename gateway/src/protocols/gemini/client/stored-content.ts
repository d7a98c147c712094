/**
 * Refuses what names content that the provider keeps under the operator's account: caches, files, stores, buckets. Nothing
 * ties it to a workspace, so any of it may be another caller's. Contract, 10.12 and 10.17.
 */
import { CallFailure, invalidRequest } from '../../../errors/call-failure.ts';
import { children, type JsonNode, stringValue } from '../../../wire/json-node.ts';
import { isPublicUrl } from '../shared/public-url.ts';
import { given, listOf, nameOf } from './members.ts';

/** Tools that search what is stored there. */
const STORED_TOOLS: ReadonlySet<string> = new Set(['fileSearch', 'retrieval']);

export function notStored(path: string): CallFailure {
  return new CallFailure(
    'not_found',
    `${path}: found the name of something stored at the provider, and none is stored for this workspace; send the content itself`,
    { param: path },
  );
}

/** Throws CallFailure `not_found` for a tool that names something stored. `path`: that of the list. */
export function refuseStoredTools(tools: JsonNode | undefined, path: string): void {
  if (tools === undefined) return;
  for (const [index, tool] of listOf(tools).entries()) {
    if (tool.kind !== 'object') continue;
    for (const kind of children(tool)) {
      const name = nameOf(kind);
      if (STORED_TOOLS.has(name) && kind.kind !== 'null') throw notStored(`${path}.${index}.${name}`);
    }
  }
}

/** Throws CallFailure for a file: `not_found` if the provider keeps it, `invalid_request` for an address of a bucket. */
export function refuseStoredFile(file: JsonNode, path: string): void {
  const node = given(file, 'fileUri');
  const uri = (node === undefined ? undefined : stringValue(node)) ?? '';
  if (uri === '' || isPublicUrl(uri)) return;
  const at = `${path}.fileUri`;
  if (!/^[a-z][a-z0-9+.-]*:/i.test(uri) || /^https?:/i.test(uri)) throw notStored(at);
  throw invalidRequest(
    `${at}: found an address that is read with the operator's credential; send the bytes as inlineData, or a public https URL`,
    at,
  );
}

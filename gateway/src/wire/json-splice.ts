/** Changes single members of a JSON text and leaves every other byte unchanged. The caller chooses the edits. */
import { children, isNamed, type JsonNode, type JsonOutline } from './json-node.ts';

/** An edit, addressed by member names from the root: `{ set: ['stream_options', 'include_usage'], json: 'true' }`. */
export type JsonEdit =
  | {
      readonly set: readonly string[];
      /** The new value as JSON text. Not validated: render it with `JSON.stringify`. */
      readonly json: string;
    }
  | { readonly remove: readonly string[] };

/** The edits of one object by member: `null` removes, a string is the new value, a map descends. */
type EditTree = Map<string, EditTree | string | null>;

/** Replaces `[start, end)` with `text`. */
export interface JsonPatch {
  readonly start: number;
  readonly end: number;
  readonly text: Buffer;
}

const NOTHING = Buffer.alloc(0);

/**
 * Applies the edits and returns the new text in new memory, or the same bytes if the edits change nothing. `set`
 * replaces the value of a member or appends the member after the others; absent or `null` objects on the path are
 * created. `remove` deletes the member with its comma, and does nothing if it is absent. Every parent must be within
 * the outline. Throws a TypeError for contradictory edits, and if a value on the path of a `set` is not an object.
 */
export function spliceJson(outline: JsonOutline, edits: readonly JsonEdit[]): Uint8Array {
  const patches: JsonPatch[] = [];
  patchObject(outline.root, growTree(edits), [], patches);
  return patchJson(outline.bytes, patches);
}

/** Applies patches that do not overlap: new memory, or the same bytes if they change nothing. */
export function patchJson(bytes: Uint8Array, patches: readonly JsonPatch[]): Uint8Array {
  const changes = patches.filter((patch) => !isSame(bytes, patch));
  return changes.length === 0 ? bytes : applyPatches(bytes, changes);
}

function growTree(edits: readonly JsonEdit[]): EditTree {
  const root: EditTree = new Map();
  for (const edit of edits) {
    const path = 'set' in edit ? edit.set : edit.remove;
    const last = path.at(-1);
    if (last === undefined) throw new TypeError('an edit of JSON has an empty path: name at least one member');
    let branch = root;
    for (const name of path.slice(0, -1)) {
      const next = branch.get(name) ?? new Map();
      if (!(next instanceof Map) || branch.get(name) === null) throw contradiction(path);
      branch.set(name, next);
      branch = next;
    }
    if (branch.has(last)) throw contradiction(path);
    branch.set(last, 'set' in edit ? edit.json : null);
  }
  return root;
}

function patchObject(node: JsonNode, tree: EditTree, path: readonly string[], patches: JsonPatch[]): void {
  if (node.kind !== 'object') {
    if (![...tree.values()].some(sets)) return;
    const where = path.length === 0 ? 'the root' : `"${path.join('.')}"`;
    throw new TypeError(`cannot set a member of ${where}: found ${node.kind}, expected an object`);
  }
  const members = children(node);
  const missing = new Map(tree);
  const names = [...tree.keys()];
  /** The end of the last member that is kept. */
  let stayedTo = -1;
  members.forEach((value, index) => {
    const name = names.find((candidate) => isNamed(value, candidate));
    const edit = name === undefined ? undefined : missing.get(name);
    if (name !== undefined) missing.delete(name);
    if (edit === null) {
      const next = members[index + 1];
      if (stayedTo !== -1) patches.push({ start: (members[index - 1] as JsonNode).end, end: value.end, text: NOTHING });
      else patches.push({ start: value.keyStart, end: next === undefined ? value.end : next.keyStart, text: NOTHING });
      return;
    }
    if (typeof edit === 'string') patches.push({ start: value.start, end: value.end, text: Buffer.from(edit) });
    else if (edit !== undefined && value.kind === 'null') {
      const text = renderTree(edit);
      if (text !== '{}') patches.push({ start: value.start, end: value.end, text: Buffer.from(text) });
    } else if (name !== undefined && edit !== undefined) patchObject(value, edit, [...path, name], patches);
    stayedTo = value.end;
  });
  const added = renderMembers(missing);
  if (added === '') return;
  const at = stayedTo === -1 ? node.start + 1 : stayedTo;
  patches.push({ start: at, end: at, text: Buffer.from(stayedTo === -1 ? added : `,${added}`) });
}

/** The members that a tree sets, as text between braces; members that it removes are already absent. */
function renderMembers(tree: EditTree): string {
  const rendered: string[] = [];
  for (const [name, edit] of tree) {
    if (sets(edit)) rendered.push(`${JSON.stringify(name)}:${typeof edit === 'string' ? edit : renderTree(edit)}`);
  }
  return rendered.join(',');
}

function renderTree(tree: EditTree): string {
  return `{${renderMembers(tree)}}`;
}

function sets(edit: EditTree | string | null): edit is EditTree | string {
  return typeof edit === 'string' || (edit !== null && [...edit.values()].some(sets));
}

function contradiction(path: readonly string[]): TypeError {
  return new TypeError(`two edits of JSON touch "${path.join('.')}": make one of them`);
}

function isSame(bytes: Uint8Array, patch: JsonPatch): boolean {
  const { start, end, text } = patch;
  return text.length === end - start && text.every((byte, index) => byte === bytes[start + index]);
}

function applyPatches(bytes: Uint8Array, patches: readonly JsonPatch[]): Uint8Array {
  const ordered = patches.toSorted((a, b) => a.start - b.start || a.end - b.end);
  let resultBytes = bytes.length;
  for (const { start, end, text } of ordered) resultBytes += text.length - (end - start);
  const result = Buffer.allocUnsafe(resultBytes);
  let from = 0;
  let to = 0;
  for (const { start, end, text } of ordered) {
    result.set(bytes.subarray(from, start), to);
    result.set(text, to + start - from);
    to += start - from + text.length;
    from = end;
  }
  result.set(bytes.subarray(from), to);
  return result;
}

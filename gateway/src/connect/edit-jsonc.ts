/** Sets one member of a JSON file that people edit too: comments, order and spacing of everything else stay as they are. */
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';

/**
 * Returns the text with the member at `path` set to `value` (as JSON); missing objects on the way are added. An empty
 * text is an empty object. Throws an Error with the position if the text is not JSON (with comments), or with the name
 * of a member on the way that is not an object. The library's own `modify` is not used: it also formats the lines
 * around the change.
 */
export function setJsonMember(text: string, path: readonly string[], value: unknown): string {
  const whole = text.trim() === '' ? '{}\n' : text;
  let node = parseObject(whole);
  for (const [depth, name] of path.entries()) {
    if (node.type !== 'object') throw new Error(`${path.slice(0, depth).join('.')} is not an object`);
    // If a name occurs twice, readers use the last member.
    const member = node.children?.findLast(({ children }) => children?.[0]?.value === name)?.children?.[1];
    if (member === undefined) {
      const added = path.slice(depth + 1).reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
      return addMember(whole, node, depth, `${JSON.stringify(name)}: ${render(added, depth + 1)}`);
    }
    node = member;
  }
  return splice(whole, node.offset, node.length, render(value, path.length));
}

/** Adds a member on its own line after the last one; a trailing comma stays where it is. */
function addMember(text: string, object: Node, depth: number, added: string): string {
  const line = `\n${'  '.repeat(depth + 1)}${added}`;
  const last = object.children?.at(-1);
  if (last !== undefined) return splice(text, last.offset + last.length, 0, `,${line}`);
  const [start, length] = [object.offset + 1, object.length - 2];
  const isBlank = text.slice(start, start + length).trim() === '';
  return splice(text, start, isBlank ? length : 0, `${line}\n${'  '.repeat(depth)}`);
}

function render(value: unknown, depth: number): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${'  '.repeat(depth)}`);
}

function splice(text: string, at: number, length: number, by: string): string {
  return text.slice(0, at) + by + text.slice(at + length);
}

function parseObject(text: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (root?.type === 'object' && error === undefined) return root;
  const at = error?.offset ?? root?.offset ?? 0;
  const line = text.slice(0, at).split('\n').length;
  const found = at >= text.length ? 'the end of the file' : JSON.stringify(text.slice(at, at + 10));
  const fault = error === undefined ? 'ObjectExpected' : printParseErrorCode(error.error);
  throw new Error(`line ${line}: found ${found}, ${wordsOf(fault)}`);
}

/** `CloseBraceExpected` becomes `expected close brace`, `InvalidSymbol` becomes `invalid symbol`. */
function wordsOf(code: string): string {
  const words = code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return words.replace(/^(.*) expected$/, 'expected $1');
}

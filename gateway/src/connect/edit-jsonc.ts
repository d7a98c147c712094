/** Owns setting one member of a JSON text that people keep: comments, order and spacing of all else stay as they are. */

interface Value {
  readonly start: number;
  readonly end: number;
}
interface Member extends Value {
  readonly name: string;
}
interface ObjectSpan extends Value {
  readonly members: readonly Member[];
}

const SPACE = /(?:\s|\/\/[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/y;
const STRING = /"(?:[^"\\\n]|\\.)*"/y;
const SCALAR = /true|false|null|-?\d[\d.eE+-]*/y;

/**
 * The text with the member at `path` set to `value` (as JSON); objects on the way are made where they are missing. An empty
 * text is an empty object. Throws an Error that says where the text is not JSON (with comments), or that a member on the way
 * is no object.
 */
export function setJsonMember(text: string, path: readonly string[], value: unknown): string {
  const whole = text.trim() === '' ? '{}\n' : text;
  let object = readWhole(whole);
  for (const [depth, name] of path.entries()) {
    const member = object.members.findLast((each) => each.name === name);
    const rest = path.slice(depth + 1);
    if (member === undefined) return addMember(whole, object, depth, name, wrap(rest, value));
    if (rest.length === 0) return splice(whole, member, render(value, depth + 1));
    if (whole[member.start] !== '{') throw new Error(`${path.slice(0, depth + 1).join('.')} is not an object`);
    object = readObject(whole, member.start);
  }
  return whole;
}

function wrap(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
}

function render(value: unknown, depth: number): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${'  '.repeat(depth)}`);
}

function splice(text: string, { start, end }: Value, by: string): string {
  return text.slice(0, start) + by + text.slice(end);
}

/** Behind the last member, on a line of its own; a comma behind the last one stays where it is. */
function addMember(text: string, object: ObjectSpan, depth: number, name: string, value: unknown): string {
  const indent = '  '.repeat(depth + 1);
  const added = `${JSON.stringify(name)}: ${render(value, depth + 1)}`;
  const last = object.members.at(-1);
  if (last === undefined) return splice(text, object, `{\n${indent}${added}\n${'  '.repeat(depth)}}`);
  const behind = skipSpace(text, last.end);
  return text[behind] === ','
    ? splice(text, { start: behind + 1, end: behind + 1 }, `\n${indent}${added},`)
    : splice(text, { start: last.end, end: last.end }, `,\n${indent}${added}`);
}

function readWhole(text: string): ObjectSpan {
  const start = skipSpace(text, 0);
  if (text[start] !== '{') throw fault(text, start, 'an object');
  const object = readObject(text, start);
  const end = skipSpace(text, object.end);
  if (end < text.length) throw fault(text, end, 'the end of the file');
  return object;
}

function readObject(text: string, start: number): ObjectSpan {
  const members: Member[] = [];
  let at = skipSpace(text, start + 1);
  while (text[at] !== '}') {
    const nameEnd = match(STRING, text, at, 'a member’s name');
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    const colon = skipSpace(text, nameEnd);
    if (text[colon] !== ':') throw fault(text, colon, 'a colon');
    const valueStart = skipSpace(text, colon + 1);
    const end = valueEnd(text, valueStart);
    members.push({ name, start: valueStart, end });
    at = behindItem(text, end, '}');
  }
  return { members, start, end: at + 1 };
}

function valueEnd(text: string, start: number): number {
  if (text[start] === '{') return readObject(text, start).end;
  if (text[start] === '"') return match(STRING, text, start, 'a text');
  if (text[start] !== '[') return match(SCALAR, text, start, 'a value');
  let at = skipSpace(text, start + 1);
  while (text[at] !== ']') at = behindItem(text, valueEnd(text, at), ']');
  return at + 1;
}

/** Behind the comma that follows an item, or at what closes the list. */
function behindItem(text: string, end: number, closing: string): number {
  const at = skipSpace(text, end);
  if (text[at] === ',') return skipSpace(text, at + 1);
  if (text[at] !== closing) throw fault(text, at, `a comma or ${closing}`);
  return at;
}

function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at;
  SPACE.test(text);
  return SPACE.lastIndex;
}

function match(pattern: RegExp, text: string, at: number, expected: string): number {
  pattern.lastIndex = at;
  if (!pattern.test(text)) throw fault(text, at, expected);
  return pattern.lastIndex;
}

function fault(text: string, at: number, expected: string): Error {
  const line = text.slice(0, at).split('\n').length;
  const found = at >= text.length ? 'the end of the file' : JSON.stringify(text.slice(at, at + 10));
  return new Error(`line ${line}: found ${found}, expected ${expected}`);
}
